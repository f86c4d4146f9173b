"""A real server under steady load for a while: `python -m bench.soak --minutes 15`.

Applications evaluate, a person changes a flag several times a second, and a dashboard requests summaries. It prints a
line for each minute and finally compares the last minute with the first. The exit status is 1 if evaluations have
become slower, or memory has grown, by more than is allowed.
"""

import argparse
import asyncio
import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from bench.machine import NotReadyError, choose_cores, resident_mib
from bench.servers import FlagstaffServer, Switches

EVALUATE_CONNECTIONS = 8
P99_GROWTH, MEMORY_GROWTH = 1.5, 1.1
ACCOUNT = {"email": "soak@example.com", "password": "a password for the soak"}

Call = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Rates:
    """The load on the server, per second."""

    evaluations: float
    changes: float
    summaries: float


@dataclass
class Minute:
    """The durations of all requests in a minute, in seconds, and the memory at its end."""

    evaluations: list[float] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    summaries: list[float] = field(default_factory=list)
    mib: float = 0


@dataclass(frozen=True)
class Place:
    """The target of the load: a project's key, a person's header, and the paths of an environment and its flags."""

    sdk_key: str
    authorization: dict[str, str]
    path: str
    flags: list[str]


class Connection:
    """A connection to the server with a minimal HTTP client, so that the client hardly adds to the measured time."""

    def __init__(self, url: str, headers: dict[str, str]) -> None:
        self._address = urlsplit(url)
        self._head = "".join(f"{name}: {value}\r\n" for name, value in {"Host": "soak", **headers}.items())
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def call(self, method: str, path: str, body: Any = None) -> bytes:
        """Return the body of the answer. Raises RuntimeError unless it is a success."""
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._address.hostname, self._address.port)
        reader, writer = self._streams
        content = b"" if body is None else json.dumps(body).encode()
        kind = "Content-Type: application/json\r\n" if content else ""
        head = f"{method} {path} HTTP/1.1\r\n{self._head}{kind}Content-Length: {len(content)}\r\n\r\n"
        writer.write(head.encode() + content)
        status, *lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        headers = dict(line.split(": ", 1) for line in lines if line)
        answer = await _read_body(reader, headers)
        if status.split()[1][0] != "2":
            raise RuntimeError(f"{method} {path}: {status} {answer[:500].decode()}")
        return answer

    def close(self) -> None:
        """Close it."""
        if self._streams:
            self._streams[1].close()


async def _read_body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", 0)))
    body = bytearray()
    while size := int(await reader.readline(), 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return bytes(body)


class Soak:
    """The load on a server, and its results by minute."""

    def __init__(self, server: FlagstaffServer, place: Place) -> None:
        self._server, self._place = server, place
        key = place.sdk_key
        self._evaluate = [Connection(server.url, {"X-SDK-Key": key}) for _ in range(EVALUATE_CONNECTIONS)]
        self._people = [Connection(server.url, place.authorization) for _ in range(2)]
        self.minutes = [Minute()]

    async def run(self, minutes: int, rates: Rates) -> None:
        """Run the load, and print a line after each minute."""
        ends_at = time.perf_counter() + 60 * minutes
        editor, reader = self._people
        async with asyncio.TaskGroup() as group:
            for connection in self._evaluate:
                rate = rates.evaluations / len(self._evaluate)
                group.create_task(self._repeat("evaluations", rate, ends_at, partial(self._ask, connection)))
            group.create_task(self._repeat("changes", rates.changes, ends_at, lambda: self._change(editor)))
            group.create_task(self._repeat("summaries", rates.summaries, ends_at, lambda: self._summarise(reader)))
            group.create_task(self._watch(minutes))
        for each in [*self._evaluate, *self._people]:
            each.close()

    async def _repeat(self, name: str, rate: float, ends_at: float, call: Call) -> None:
        due = time.perf_counter() + random.random() / rate
        while due < ends_at:
            await asyncio.sleep(due - time.perf_counter())
            began = time.perf_counter()
            await call()
            getattr(self.minutes[-1], name).append(time.perf_counter() - began)
            due = max(due + 1 / rate, began)

    async def _ask(self, connection: Connection) -> None:
        user = f"user-{random.randrange(100_000)}"
        context = {"user_id": user, "user_email": f"{user}@example.com"}
        await connection.call("POST", "/sdk/v1/evaluate", {"environment": "production", "context": context})

    async def _change(self, connection: Connection) -> None:
        flag = random.choice(self._place.flags)
        if random.random() < 0.5:
            await connection.call("POST", f"{flag}/toggle")
        else:
            await connection.call("PUT", flag, {"rollout_percentage": random.randrange(101)})

    async def _summarise(self, connection: Connection) -> None:
        await connection.call("GET", f"{self._place.path}/evaluations/summary?interval=1h")

    async def _watch(self, minutes: int) -> None:
        began = time.perf_counter()
        for number in range(1, minutes + 1):
            await asyncio.sleep(began + 60 * number - time.perf_counter())
            self.minutes[-1].mib = resident_mib(self._server.pid)
            print(row(number, self.minutes[-1]), flush=True)
            if number < minutes:
                self.minutes.append(Minute())


def percentile(seconds: list[float], share: float) -> float:
    """Return a percentile in milliseconds."""
    return sorted(seconds)[min(int(len(seconds) * share), len(seconds) - 1)] * 1000 if seconds else float("nan")


def row(number: int, minute: Minute) -> str:
    """Return a line with the figures of a minute."""
    evaluations, changes, summaries = minute.evaluations, minute.changes, minute.summaries
    return (
        f"minute {number:2}: {len(evaluations):6,} evaluations, p50 {percentile(evaluations, 0.5):5.2f} ms, "
        f"p99 {percentile(evaluations, 0.99):6.2f} ms, worst {max(evaluations, default=0) * 1000:6.1f} ms; "
        f"{len(changes):4} changes, p50 {percentile(changes, 0.5):5.1f} ms; "
        f"{len(summaries):3} summaries, p50 {percentile(summaries, 0.5):6.1f} ms, "
        f"worst {max(summaries, default=0) * 1000:6.1f} ms; {minute.mib:6.1f} MiB"
    )


def has_held(first: Minute, last: Minute) -> bool:
    """Compare the last minute with the first; return whether the growth is within bounds."""
    slower = percentile(last.evaluations, 0.99) / percentile(first.evaluations, 0.99)
    larger = last.mib / first.mib
    summaries = statistics.median(last.summaries) / statistics.median(first.summaries)
    print(
        f"last minute to first: evaluate p99 {slower:.2f} times (at most {P99_GROWTH}), "
        f"resident memory {larger:.2f} times (at most {MEMORY_GROWTH}), summary {summaries:.2f} times"
    )
    return slower <= P99_GROWTH and larger <= MEMORY_GROWTH


async def make_place(server: FlagstaffServer, flags: int) -> Place:
    """Register, and create a project with flags in `production`: all in a rollout, with a rule each."""
    newcomer = Connection(server.url, {})
    await newcomer.call("POST", "/auth/register", ACCOUNT)
    token = json.loads(await newcomer.call("POST", "/auth/login", ACCOUNT))["token"]
    newcomer.close()
    authorization = {"Authorization": f"Bearer {token}"}
    person = Connection(server.url, authorization)

    async def create(path: str, body: Any) -> Any:
        return json.loads(await person.call("POST", path, body))

    project = await create("/api/projects", {"name": "Soak"})
    at = f"/api/projects/{project['id']}/environments"
    environments = json.loads(await person.call("GET", at))
    here = next(f"{at}/{each['id']}" for each in environments if each["key"] == "production")
    made = []
    for number in range(flags):
        values = {"name": f"Flag {number}", "key": f"flag-{number:04}", "rollout_percentage": number % 99 + 1}
        made.append(f"{here}/flags/{(await create(f'{here}/flags', {**values, 'enabled': True}))['id']}")
        await create(f"{made[-1]}/rules", {"rule_type": "user_id", "rule_value": f"user-{number}"})
    person.close()
    return Place(project["sdk_key"], authorization, here, made)


async def soak(server: FlagstaffServer, flags: int, minutes: int, rates: Rates) -> bool:
    """Create the data, run the load and compare."""
    load = Soak(server, await make_place(server, flags))
    await load.run(minutes, rates)
    return has_held(load.minutes[0], load.minutes[-1])


def main() -> None:
    """Run the soak."""
    parser = argparse.ArgumentParser(prog="bench.soak", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--minutes", type=int, default=15, help="at least 2, of which the first and the last are compared"
    )
    parser.add_argument("--flags", type=int, default=20)
    parser.add_argument("--evaluations", type=float, default=290, help="a second")
    parser.add_argument("--changes", type=float, default=7, help="a second")
    parser.add_argument("--summary-seconds", type=float, default=2, help="from one summary to the next")
    asked = parser.parse_args()
    rates = Rates(asked.evaluations, asked.changes, 1 / asked.summary_seconds)
    try:
        cores = choose_cores()
        with (
            tempfile.TemporaryDirectory(prefix="flagstaff-soak-") as folder,
            FlagstaffServer(cores.server, Path(folder) / "data", Switches()) as server,
        ):
            server.wait_until_it_is_loaded()
            has_held_out = asyncio.run(soak(server, asked.flags, asked.minutes, rates))
    except NotReadyError as error:
        sys.exit(f"soak: {error}")
    sys.exit(0 if has_held_out else 1)


if __name__ == "__main__":
    main()
