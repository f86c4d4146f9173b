"""The cost of traces for an evaluation: `python -m bench.traces` prints processor time per request by sampled share.

The servers take turns on one core. Spans go to a process that reads and drops them.
"""

import argparse
import asyncio
import statistics
import tempfile
import threading
from collections import defaultdict
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from bench.evaluations import CONNECTIONS, PATH
from bench.flag_sets import make_mixed_set, store_flag_sets
from bench.machine import choose_cores, cpu_seconds, resident_mib
from bench.servers import FlagstaffServer, Switches
from bench.wrk import put_load

FLAGS = 20
SHARES = (None, "0", "0.001", "0.01", "1")


class _Sink(BaseHTTPRequestHandler):
    """Accepts everything."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Read and drop the request."""
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    sink = ThreadingHTTPServer(("127.0.0.1", 0), _Sink)
    threading.Thread(target=sink.serve_forever, daemon=True).start()
    cores = choose_cores()
    flags = make_mixed_set(FLAGS)
    microseconds: dict[str | None, list[float]] = defaultdict(list)
    ratios: dict[str | None, list[float]] = defaultdict(list)
    with tempfile.TemporaryDirectory(prefix="flagstaff-traces-") as folder, ExitStack() as stack:
        servers = {}
        for place, share in enumerate(SHARES):
            data = Path(folder) / f"data-{place}"
            data.mkdir()
            asyncio.run(store_flag_sets(data, [flags]))
            settings = {} if share is None else _settings(share, sink.server_address[1])
            servers[share] = stack.enter_context(FlagstaffServer(cores.server, data, Switches(), settings))
            servers[share].wait_until_it_is_loaded()
        for turn in range(given.rounds + 1):
            measured = {}
            for share, server in servers.items():
                before = cpu_seconds(server.pid)
                load = put_load(
                    server.url + PATH,
                    core=cores.load,
                    seconds=given.seconds,
                    connections=CONNECTIONS,
                    sdk_key=flags.sdk_key,
                )
                measured[share] = (cpu_seconds(server.pid) - before) / load.requests * 1e6
            for share in SHARES if turn else ():  # the first turn is a warm-up
                microseconds[share].append(measured[share])
                ratios[share].append(measured[share] / measured[None])
        for share, server in servers.items():
            print(
                f"{'off' if share is None else f'share {share}'}: {statistics.median(microseconds[share]):.1f} µs, "
                f"{statistics.median(ratios[share]):.2f} times, {resident_mib(server.pid):.0f} MiB",
                flush=True,
            )


def _settings(share: str, port: int) -> dict[str, str]:
    return {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://127.0.0.1:{port}/v1/traces",
        "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": share,
    }


if __name__ == "__main__":
    main()
