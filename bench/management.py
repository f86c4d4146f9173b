"""`python -m bench.management [TEXT …]`: what each operation of the management API costs with thousands of flags.

It builds an environment of 5,000 flags with 200,000 evaluations and 50,000 changes, and one of 3,000 flags that each
need twenty others. Then it asks every operation that reads, and the large writes: first for the time of an answer and
the processor time, then once more with a watch on the event loop, for the longest time for which it was held.

With texts, only the rows whose names contain one of them are measured. `--postgresql` starts a server for the run,
`--keep FOLDER` keeps the data for the next run, and `--before FILE` compares with the results that an earlier run has
written with `--output FILE`.
"""

import argparse
import asyncio
import http.client
import json
import logging
import mmap
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import structlog

from bench import watched
from bench.machine import NotReadyError, choose_cores
from bench.management_data import Filled, Sizes, fill, load, save
from bench.management_requests import Request, list_others, list_reads
from bench.report import print_table
from bench.servers import SECRET_KEY, FlagstaffServer, Switches
from flagstaff.settings import Settings
from tests.support.postgres import PostgresServer
from tests.support.stores import execute

WANTED_SECONDS = 0.005
_BUSY = 503  # a change that is not served everywhere within its time, on a machine with other work
_QUIET_SHARE, _LOOK_SECONDS, _LONGEST_WAIT = 0.1, 1.0, 600


@dataclass(frozen=True)
class Figures:
    """What a request costs: the median time to the end of its answer, and of processor time; both in seconds.

    The holds are the medians of the longest ones of each repetition, of processor time and by the clock, and the
    longest of all, which may include a collection of garbage.
    """

    status: int
    bytes: int
    p50: float
    cpu: float
    held: float
    held_by_clock: float
    worst: float
    collected: float


class Watch:
    """The watch in the server's process."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(bytes(8 * watched.PLACES))
        with path.open("r+b") as file:
            self.numbers = memoryview(mmap.mmap(file.fileno(), 8 * watched.PLACES)).cast("d")

    def begin(self) -> None:
        """Begin to watch, and wait until the loop is watched."""
        self.numbers[watched.TURNS] = 0
        self.numbers[watched.WATCHED] = 1
        while self.numbers[watched.TURNS] < 3:
            time.sleep(0.001)
        for place in (watched.HELD, watched.HELD_BY_CLOCK, watched.COLLECTED):
            self.numbers[place] = 0

    def end(self) -> tuple[float, float, float]:
        """Stop watching; return the longest holds, by the two clocks, and the longest collection."""
        found = [self.numbers[place] for place in (watched.HELD, watched.HELD_BY_CLOCK, watched.COLLECTED)]
        self.numbers[watched.WATCHED] = 0
        time.sleep(0.03)
        return found[0], found[1], found[2]


def main() -> None:
    """Measure and print a table."""
    asked = _parse()
    try:
        cores = choose_cores()
    except NotReadyError as error:
        sys.exit(f"bench: {error}")
    os.sched_setaffinity(0, {cores.load})
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder, ExitStack() as stack:
        if asked.postgresql:
            postgres = stack.enter_context(PostgresServer())
            asyncio.run(execute(postgres, "CREATE DATABASE flagstaff"))
            asked.database = postgres.url("flagstaff")
        data, filled = _fill(asked, Path(folder))
        settings = {f"FLAGSTAFF_{name}": value for name, value in _settings(asked).items()}
        watch_file = Path(folder) / "holds"
        watch = Watch(watch_file)
        settings["BENCH_HOLDS"] = str(watch_file)
        with FlagstaffServer(cores.server, data, Switches(), settings, module="bench.watched") as server:
            server.wait_until_it_is_loaded()
            figures = _measure(server, watch, filled, asked)
    before = json.loads(asked.before.read_bytes()) if asked.before is not None else {}
    _print(figures, before)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.management", description="The costs of the management API.")
    parser.add_argument("texts", nargs="*", default=[""], help="only rows whose names contain one of them")
    databases = parser.add_mutually_exclusive_group()
    databases.add_argument("--postgresql", action="store_true", help="measure with a PostgreSQL server of its own")
    databases.add_argument("--database", help="postgresql://… of an empty database (default: SQLite)")
    parser.add_argument("--keep", type=Path, help="a folder that keeps the data, or has kept it")
    parser.add_argument("--output", type=Path, help="where to write the results, as JSON")
    parser.add_argument("--before", type=Path, help="results to compare with")
    parser.add_argument("--repeat", type=int, default=7)
    parser.add_argument("--flags", type=int, default=Sizes.flags)
    parser.add_argument("--evaluations", type=int, default=Sizes.evaluations)
    parser.add_argument("--changes", type=int, default=Sizes.changes)
    asked = parser.parse_args()
    if asked.postgresql and asked.keep is not None:
        parser.error("--keep needs a database that is kept: give --database instead of --postgresql")
    return asked


def _settings(asked: argparse.Namespace) -> dict[str, str]:
    database = {"DATABASE_URL": asked.database, "SECRET_KEY": SECRET_KEY}
    return {
        **(database if asked.database else {}),
        "MAX_CONDITION_CHARACTERS": "100000000",
        "MAX_CONDITION_WORK": "100000",
        "MAX_SEGMENTS_PER_PROJECT": "1000",
    }


def _fill(asked: argparse.Namespace, folder: Path) -> tuple[Path, Filled]:
    """A copy of the data, and what it has."""
    kept = asked.keep or folder / "kept"
    if not (kept / "filled.json").exists():
        kept.mkdir(parents=True, exist_ok=True)
        (kept / "data").mkdir(mode=0o700)
        settings = {f"FLAGSTAFF_{name}": value for name, value in _settings(asked).items()}
        settings["FLAGSTAFF_DATA_DIR"] = str(kept / "data")
        sizes = Sizes(flags=asked.flags, evaluations=asked.evaluations, changes=asked.changes)
        began = time.perf_counter()
        structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
        save(asyncio.run(fill(Settings.load(settings), sizes)), kept / "filled.json")
        print(f"filled in {time.perf_counter() - began:.0f} s", flush=True)
    shutil.copytree(kept / "data", folder / "data")
    return folder / "data", load(kept / "filled.json")


def _measure(server: FlagstaffServer, watch: Watch, filled: Filled, asked: argparse.Namespace) -> dict[str, Figures]:
    client = Client(server, filled.token)
    client.evaluate(filled.sdk_key)  # so that the project is loaded, as it is where it is used
    _wait_until_quiet(client)
    results = _find_results(client, filled)
    ids = {**filled.ids, "evaluation_id": results[0]["after_evaluation_id"]} if results else filled.ids
    filled = replace(filled, results=results, ids=ids)
    figures: dict[str, Figures] = {}
    for request in (*list_reads(filled), *list_others(filled)):
        if any(text in request.name for text in asked.texts):
            figures[request.name] = found = _measure_one(client, watch, request, request.repeat or asked.repeat)
            seconds = (found.p50, found.cpu, found.held, found.held_by_clock, found.worst, found.collected)
            shown = " ".join(f"{each * 1000:8.1f}" for each in seconds)
            print(f"{request.name:50} {found.status} {shown}", file=sys.stderr, flush=True)
            if asked.output is not None:
                asked.output.write_text(json.dumps({name: asdict(each) for name, each in figures.items()}, indent=1))
    return figures


def _measure_one(client: "Client", watch: Watch, request: Request, repeat: int) -> Figures:
    times, costs, holds, holds_by_clock, collections = [], [], [], [], []
    client.ask(request, 0)  # loads what is loaded once
    for number in range(1, repeat + 1):
        began, spent = time.perf_counter(), client.cpu_seconds()
        status, length = client.ask(request, number)
        times.append(time.perf_counter() - began)
        costs.append(client.cpu_seconds() - spent)
        if status not in (*request.accepted, _BUSY):
            raise NotReadyError(f"{request.name}: {status} {client.answer[:500]!r}")
    for number in range(repeat + 1, 2 * repeat + 1):
        watch.begin()
        client.ask(request, number)
        held, held_by_clock, collected = watch.end()
        holds.append(held)
        holds_by_clock.append(held_by_clock)
        collections.append(collected)
    return Figures(
        status,
        length,
        statistics.median(times),
        statistics.median(costs),
        statistics.median(holds),
        statistics.median(holds_by_clock),
        max(holds),
        max(collections),
    )


class Client:
    """One client with one connection."""

    def __init__(self, server: FlagstaffServer, token: str) -> None:
        self._port, self._pid = int(server.url.rpartition(":")[2]), server.pid
        self._headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
        self._connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=120)
        self.answer = b""

    def ask(self, request: Request, number: int) -> tuple[int, int]:
        """The status and the length of an answer; the client keeps it."""
        body = request.bodies[number % len(request.bodies)] if request.bodies else request.body
        content = None if body is None else json.dumps(body).encode()
        self._connection.request(request.method, request.path, content, self._headers)
        response = self._connection.getresponse()
        self.answer = response.read()
        return response.status, len(self.answer)

    def evaluate(self, sdk_key: str) -> None:
        """Evaluate the flags of production."""
        body = json.dumps({"environment": "production", "context": {"user_id": "user-100"}})
        self._connection.request("POST", "/sdk/v1/evaluate", body, {"x-sdk-key": sdk_key, **self._headers})
        self._connection.getresponse().read()

    def cpu_seconds(self) -> float:
        """The processor time that all threads of the server have used."""
        return time.clock_gettime((~self._pid << 3) | 2)  # Linux's clock of another process


def _wait_until_quiet(client: Client) -> None:
    """Wait until the server has nothing more to do in the background."""
    deadline = time.monotonic() + _LONGEST_WAIT
    quiet = 0
    while quiet < 5 and time.monotonic() < deadline:
        before = client.cpu_seconds()
        time.sleep(_LOOK_SECONDS)
        quiet = quiet + 1 if client.cpu_seconds() - before < _QUIET_SHARE * _LOOK_SECONDS else 0


def _find_results(client: Client, filled: Filled) -> list[dict[str, Any]]:
    """Results of a user that have changed, whose causes can be asked for."""
    path = f"/api/projects/{filled.ids['project_id']}/environments/{filled.ids['env_id']}/evaluations/changes"
    client.ask(Request("", "GET", f"{path}?limit=100&user_id=user-100"), 0)
    return [
        {
            "flag_key": each["flag_key"],
            "before_evaluation_id": each["before"]["evaluation_id"],
            "after_evaluation_id": each["after"]["evaluation_id"],
        }
        for each in json.loads(client.answer)["items"][:50]
    ]


def _print(figures: dict[str, Figures], before: dict[str, Any]) -> None:
    heads = ["operation", "", "kB", "p50 ms", "CPU ms", "hold ms", "by clock", "longest", "collection"]
    rows: list[Sequence[str]] = []
    for name, found in figures.items():
        verdict = "" if found.held <= WANTED_SECONDS else "above 5 ms"
        row = [name, str(found.status) if found.status == _BUSY else verdict, f"{found.bytes / 1000:,.0f}"]
        for field in ("p50", "cpu", "held", "held_by_clock", "worst", "collected"):
            was = f"{before[name][field] * 1000:.1f} → " if name in before else ""
            row.append(f"{was}{getattr(found, field) * 1000:.1f}")
        rows.append(row)
    print_table(heads, rows)


if __name__ == "__main__":
    main()
