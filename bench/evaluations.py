"""Processor time of an evaluation, and evaluations per second, compared with nginx and uvicorn, in turns on one core.

All return the same bytes. The floor is the faster of nginx's two ways: a file, asked for by GET, or the configuration,
asked for by the same POST.
"""

import itertools
import json
import shutil
import statistics
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.flag_sets import FlagSet
from bench.machine import Cores, CpuTime, cpu_time, resident_mib
from bench.report import print_table
from bench.servers import FlagstaffServer, NginxServer, Server, Switches, UvicornServer
from bench.wrk import Load, put_load

CONNECTIONS = 32
PATH, OFREP_PATH = "/sdk/v1/evaluate", "/ofrep/v1/evaluate/flags"


@dataclass(frozen=True)
class Effort:
    """The amount of measuring: the number of rounds, and the seconds for each server in a round."""

    rounds: int
    seconds: int


@dataclass(frozen=True)
class Contender:
    """Flagstaff with some switches, from this checkout or another."""

    switches: Switches
    checkout: Path | None = None

    def __str__(self) -> str:
        return str(self.switches) if self.checkout is None else f"{self.checkout.name}, {self.switches}"

    def serve(self, core: int, data: Path) -> FlagstaffServer:
        """Return its server."""
        if self.checkout is None:
            return FlagstaffServer(core, data, self.switches)
        return FlagstaffServer(core, data, self.switches, checkout=self.checkout)


@dataclass(frozen=True)
class Turn:
    """The measurement of one server in a round; processor time is that of a request, in microseconds."""

    load: Load
    user_microseconds: float
    system_microseconds: float

    @property
    def cpu_microseconds(self) -> float:
        """The processor time of a request."""
        return self.user_microseconds + self.system_microseconds


@dataclass(frozen=True)
class Round:
    """The turns to compare: the contender's, the first contender's, and those of nginx and uvicorn."""

    own: Turn
    first: Turn
    nginx: Turn
    uvicorn: Turn


def measure_evaluations(
    folder: Path,
    sets: Sequence[FlagSet],
    contenders: Sequence[Contender],
    cores: Cores,
    effort: Effort,
    connections: Sequence[int] = (CONNECTIONS,),
) -> list[dict[str, Any]]:
    """Measure each set of flags with each contender and number of connections, and print a table."""
    answers = folder / "answers"
    answers.mkdir()
    data = [folder / "data", *(folder / f"data-{place}" for place in range(1, len(contenders)))]
    for other in data[1:]:
        shutil.copytree(data[0], other)  # each server needs a separate one
    results: list[dict[str, Any]] = []
    with ExitStack() as stack:
        servers = [
            stack.enter_context(contender.serve(cores.server, each))
            for each, contender in zip(data, contenders, strict=True)
        ]
        for server in servers:
            server.wait_until_it_is_loaded()
        for each in sets:
            _save_answer(servers[0], each, answers / _file_of(each))
        nginx = stack.enter_context(
            NginxServer(cores.server, answers)
        )  # it and the next read the files when they start
        static = stack.enter_context(UvicornServer(cores.server, answers))
        for each, number in itertools.product(sets, connections):
            measured = _measure_set(servers, nginx, static, each, cores, effort, number)
            results += (
                {"flags": each.name, "connections": number, "server": str(contender), **one}
                for contender, one in zip(contenders, measured, strict=True)
            )
            print(".", end="", flush=True)
    print()
    _print(results)
    return results


def _measure_set(
    servers: Sequence[Server],
    nginx: Server,
    static: Server,
    flags: FlagSet,
    cores: Cores,
    effort: Effort,
    connections: int,
) -> list[dict[str, Any]]:
    file = _file_of(flags)
    nginx.wait_until_it_answers(f"/{file}")
    static.wait_until_it_answers(f"/{file}")
    users = itertools.count(step=10**6)

    def turn(server: Server, path: str, method: str = "POST") -> Turn:
        before = cpu_time(server.pid)
        load = put_load(
            server.url + path,
            core=cores.load,
            seconds=effort.seconds,
            connections=connections,
            sdk_key=flags.sdk_key,
            method=method,
            user=next(users),
            is_ofrep=bool(flags.key),
        )
        after = cpu_time(server.pid)
        return Turn(load, *(_microseconds(each, load) for each in _between(before, after)))

    rounds: list[list[Round]] = [[] for _ in servers]
    for _ in range(effort.rounds):
        own = [turn(server, OFREP_PATH if flags.key else PATH) for server in servers]
        of_nginx = turn(nginx, f"/{file}", "GET"), turn(nginx, f"/memory/{file}")
        floor = min(of_nginx, key=lambda each: each.cpu_microseconds)
        of_uvicorn = turn(static, f"/{file}")
        for place, each in enumerate(own):
            rounds[place].append(Round(each, own[0], floor, of_uvicorn))
    return [
        {"peak_mib": resident_mib(server.pid, peak=True), **_sum_up(those)}
        for server, those in zip(servers, rounds, strict=True)
    ]


def _between(before: CpuTime, after: CpuTime) -> tuple[float, float]:
    return after.user - before.user, after.system - before.system


def _microseconds(seconds: float, load: Load) -> float:
    return seconds / max(load.requests, 1) * 1e6


def _sum_up(rounds: Sequence[Round]) -> dict[str, Any]:
    """Return medians over the rounds.

    Ratios are computed within a round, in which the conditions are the same for all.
    """

    def median(read: Callable[[Round], float]) -> float:
        return statistics.median(map(read, rounds))

    def rate_to(floor: str) -> float:
        return median(lambda each: each.own.load.requests_per_second / getattr(each, floor).load.requests_per_second)

    def cpu_to(floor: str) -> float:
        return median(lambda each: each.own.cpu_microseconds / getattr(each, floor).cpu_microseconds)

    return {
        "cpu_microseconds": median(lambda each: each.own.cpu_microseconds),
        "user_microseconds": median(lambda each: each.own.user_microseconds),
        "system_microseconds": median(lambda each: each.own.system_microseconds),
        "nginx_cpu_microseconds": median(lambda each: each.nginx.cpu_microseconds),
        "cpu_to_first": cpu_to("first"),
        "of_nginx_by_cpu": 1 / cpu_to("nginx"),
        "of_uvicorn_by_cpu": 1 / cpu_to("uvicorn"),
        "requests_per_second": median(lambda each: each.own.load.requests_per_second),
        "of_nginx": rate_to("nginx"),
        "of_uvicorn": rate_to("uvicorn"),
        "nginx_requests_per_second": median(lambda each: each.nginx.load.requests_per_second),
        "p50_ms": median(lambda each: each.own.load.p50_ms),
        "p99_ms": median(lambda each: each.own.load.p99_ms),
        "rounds": [asdict(each) for each in rounds],
    }


def _file_of(flags: FlagSet) -> str:
    return f"{flags.name.replace(' ', '-')}.json"


def _save_answer(flagstaff: Server, flags: FlagSet, file: Path) -> None:
    attributes = {"country": "country-1", "plan": "plan-1", "app_version": "1.10.0"}
    if flags.key:
        given: dict[str, object] = {"context": {"targetingKey": "user-00000001", **attributes}}
    else:
        context = {"user_id": "user-00000001", "custom_attributes": attributes}
        given = {"environment": "production", "context": context}
    headers = {"X-SDK-Key": flags.sdk_key, "X-API-Key": flags.key, "Content-Type": "application/json"}
    path = OFREP_PATH if flags.key else PATH
    request = urllib.request.Request(flagstaff.url + path, json.dumps(given).encode(), headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        file.write_bytes(response.read())


def _print(results: Sequence[dict[str, Any]]) -> None:
    """Print processor time first: the load generator and the network take their part of the rate."""
    columns = {
        "CPU µs": "{cpu_microseconds:.1f}",
        "user": "{user_microseconds:.1f}",
        "system": "{system_microseconds:.1f}",
        "to the first": "{cpu_to_first:.2f}",
        "nginx µs": "{nginx_cpu_microseconds:.1f}",
        "of nginx": "{of_nginx_by_cpu:.2f}",
        "of uvicorn": "{of_uvicorn_by_cpu:.2f}",
        "connections": "{connections}",
        "requests/s": "{requests_per_second:,.0f}",
        "of nginx's": "{of_nginx:.2f}",
        "of uvicorn's": "{of_uvicorn:.2f}",
        "p50 ms": "{p50_ms:.2f}",
        "p99 ms": "{p99_ms:.2f}",
        "peak MiB": "{peak_mib:.0f}",
    }
    rows = [(each["flags"], each["server"], *(form.format(**each) for form in columns.values())) for each in results]
    print_table(("flags", "", *columns), rows)
