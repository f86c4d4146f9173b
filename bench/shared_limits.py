"""Measures how far a client exceeds a limit of 200 a minute on several servers: `python -m bench.shared_limits`.

Starts servers that share the limits through a separate Valkey, and sends a client's evaluations to them: evenly and
unevenly, at a steady rate and as fast as they are answered. Prints the number of allowed evaluations, as the median and
the maximum of several clients. The limit is checked before the SDK key, so no key is needed.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

from bench.machine import NotReadyError
from bench.raw_http import Connection
from tests.support.server import ServerProcess
from tests.support.stores import Store
from tests.support.valkey import ValkeyServer

LIMIT = 200
_SENT = 600
_ENVIRON = {"FLAGSTAFF_SECRET_KEY": "k" * 32, "FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1", "FLAGSTAFF_ACCESS_LOG": "off"}
_JOIN_SECONDS = 3.0
_addresses = (f"192.0.{number // 250}.{number % 250 + 1}" for number in count())


async def _send(ports: Sequence[int], parts: Sequence[int], per_second: float | None) -> int:
    """Return how many of a new client's requests are allowed."""
    connections = [await Connection.open(port) for port in ports]
    try:
        return await _send_over(connections, parts, per_second)
    finally:
        for connection in connections:
            connection.close()


async def _send_over(connections: Sequence[Connection], parts: Sequence[int], per_second: float | None) -> int:
    request = (
        "POST /sdk/v1/evaluate HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\n"
        f"X-Forwarded-For: {next(_addresses)}\r\nX-SDK-Key: sdk_{'x' * 40}\r\n\r\n"
    ).encode()
    turns = [number for number, part in enumerate(parts) for _ in range(part)]
    sent = [turns[number % len(turns)] for number in range(_SENT)]
    if per_second is None:  # each server as fast as it answers, all at the same time
        answers = await asyncio.gather(
            *(_one_after_the_other(each, request, sent.count(number)) for number, each in enumerate(connections))
        )
        return sum(answers)
    allowed, began = 0, time.monotonic()
    for number, server in enumerate(sent):
        await asyncio.sleep(max(0.0, began + number / per_second - time.monotonic()))
        allowed += await _is_allowed(connections[server], request)
    return allowed


async def _one_after_the_other(connection: Connection, request: bytes, times: int) -> int:
    return sum([await _is_allowed(connection, request) for _ in range(times)])


async def _is_allowed(connection: Connection, request: bytes) -> bool:
    status = await connection.exchange(request)
    if status not in {401, 429}:
        raise NotReadyError(f"a server has answered {status}")
    return status == 401


async def _measure(servers: int, clients: int) -> None:
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        valkey = stack.enter_context(ValkeyServer())
        environ = {**_ENVIRON, "FLAGSTAFF_VALKEY_URL": valkey.url}
        ports = []
        for number in range(servers):
            store = Store(None, folder / str(number))
            server = await stack.enter_async_context(ServerProcess(store, environ))
            ports.append(server.port)
        await asyncio.sleep(_JOIN_SECONDS)
        for name, parts in (("evenly", [1] * servers), ("unevenly", [8] + [1] * (servers - 1))):
            for rate in (100, 500, None):
                allowed = [await _send(ports, parts, rate) for _ in range(clients)]
                median, worst = statistics.median(allowed), max(allowed)
                speed = f"{rate}/s" if rate else "burst"
                sys.stdout.write(
                    f"{servers} servers, {name}, {speed}: {median:g} allowed ({median / LIMIT - 1:+.1%}), "
                    f"worst of {clients} clients {worst} ({worst / LIMIT - 1:+.1%}), fewest {min(allowed)}\n"
                )
                sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--servers", type=int, default=3)
    parser.add_argument("--clients", type=int, default=9)
    asked = parser.parse_args()
    asyncio.run(_measure(asked.servers, asked.clients))


if __name__ == "__main__":
    main()
