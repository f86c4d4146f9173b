"""Evaluations per second, compared with nginx and uvicorn returning the same bytes, in turns on one core."""

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
from bench.machine import Cores, cpu_seconds, resident_mib
from bench.report import print_table
from bench.servers import FlagstaffServer, NginxServer, Server, Switches, UvicornServer
from bench.wrk import Load, put_load

CONNECTIONS = 8
PATH, OFREP_PATH = "/sdk/v1/evaluate", "/ofrep/v1/evaluate/flags"


@dataclass(frozen=True)
class Effort:
    """The amount of measuring: the number of rounds, and the seconds for each server in a round."""

    rounds: int
    seconds: int


@dataclass(frozen=True)
class Turn:
    """The measurement of one server in a round."""

    load: Load
    cpu_microseconds: int


@dataclass(frozen=True)
class Round:
    """The turns to compare: the server's, the server's with all switches on, and those of nginx and uvicorn."""

    own: Turn
    everything_on: Turn
    nginx: Turn
    uvicorn: Turn


def measure_evaluations(
    folder: Path, sets: Sequence[FlagSet], every_switch: Sequence[Switches], cores: Cores, effort: Effort
) -> list[dict[str, Any]]:
    """Measure each set of flags with each choice of switches, compare all with the first choice, and print a table."""
    answers = folder / "answers"
    answers.mkdir()
    data = [folder / "data", *(folder / f"data-{place}" for place in range(1, len(every_switch)))]
    for other in data[1:]:
        shutil.copytree(data[0], other)  # each server needs a separate one
    results: list[dict[str, Any]] = []
    with ExitStack() as stack:
        servers = [
            stack.enter_context(FlagstaffServer(cores.server, each, switches))
            for each, switches in zip(data, every_switch, strict=True)
        ]
        for server in servers:
            server.wait_until_it_is_loaded()
        for each in sets:
            _save_answer(servers[0], each, answers / f"{each.name.replace(' ', '-')}.json")
        nginx = stack.enter_context(NginxServer(cores.server, answers))
        static = stack.enter_context(UvicornServer(cores.server, answers))  # it reads the files when it starts
        for each in sets:
            measured = _measure_set(servers, nginx, static, each, cores, effort)
            results += (
                {"switches": str(switches), **one} for switches, one in zip(every_switch, measured, strict=True)
            )
            print(".", end="", flush=True)
    print()
    _print(results)
    return results


def _measure_set(
    servers: Sequence[Server], nginx: Server, static: Server, flags: FlagSet, cores: Cores, effort: Effort
) -> list[dict[str, Any]]:
    file = f"/{flags.name.replace(' ', '-')}.json"
    nginx.wait_until_it_answers(file)
    static.wait_until_it_answers(file)
    kind = "ofrep" if flags.key else "attributes" if flags.asks_attributes else ""
    users = itertools.count(step=10**6)

    def turn(server: Server, path: str, method: str = "POST") -> Turn:
        before = cpu_seconds(server.pid)
        load = put_load(
            server.url + path,
            core=cores.load,
            seconds=effort.seconds,
            connections=CONNECTIONS,
            sdk_key=flags.sdk_key,
            method=method,
            user=next(users),
            kind=kind,
        )
        return Turn(load, (cpu_seconds(server.pid) - before) / max(load.requests, 1) * 1e6)

    # nginx does not serve files for POST requests, so it gets the same request as a GET.
    rounds: list[list[Round]] = [[] for _ in servers]
    for _ in range(effort.rounds):
        own = [turn(server, OFREP_PATH if flags.key else PATH) for server in servers]
        floors = turn(nginx, file, "GET"), turn(static, file)
        for place, each in enumerate(own):
            rounds[place].append(Round(each, own[0], *floors))
    return [
        {"flags": flags.name, "peak_mib": resident_mib(server.pid, peak=True), **_sum_up(those)}
        for server, those in zip(servers, rounds, strict=True)
    ]


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
        "requests_per_second": median(lambda each: each.own.load.requests_per_second),
        "p50_ms": median(lambda each: each.own.load.p50_ms),
        "p99_ms": median(lambda each: each.own.load.p99_ms),
        "cpu_microseconds": median(lambda each: each.own.cpu_microseconds),
        "cpu_to_everything_on": cpu_to("everything_on"),
        "of_nginx": rate_to("nginx"),
        "of_uvicorn": rate_to("uvicorn"),
        "of_nginx_by_cpu": 1 / cpu_to("nginx"),
        "of_uvicorn_by_cpu": 1 / cpu_to("uvicorn"),
        "nginx_requests_per_second": median(lambda each: each.nginx.load.requests_per_second),
        "uvicorn_requests_per_second": median(lambda each: each.uvicorn.load.requests_per_second),
        "rounds": [asdict(each) for each in rounds],
    }


def _save_answer(flagstaff: Server, flags: FlagSet, file: Path) -> None:
    context: dict[str, object] = {"user_id": "user-00000001"}
    if flags.asks_attributes:
        context["custom_attributes"] = {"country": "country-1", "plan": "plan-1", "app_version": "1.10.0"}
    body = json.dumps({"environment": "production", "context": context}).encode()
    headers = {"X-SDK-Key": flags.sdk_key, "X-API-Key": flags.key, "Content-Type": "application/json"}
    request = urllib.request.Request(flagstaff.url + (OFREP_PATH if flags.key else PATH), body, headers)
    with urllib.request.urlopen(request, timeout=30) as response:
        file.write_bytes(response.read())


def _print(results: Sequence[dict[str, Any]]) -> None:
    print_table(
        (
            "flags",
            "",
            "requests/s",
            "p50 ms",
            "p99 ms",
            "CPU µs",
            "to all on",
            "of nginx",
            "by CPU",
            "of uvicorn",
            "by CPU",
            "peak MiB",
        ),
        [
            (
                each["flags"],
                each["switches"],
                f"{each['requests_per_second']:,.0f}",
                f"{each['p50_ms']:.2f}",
                f"{each['p99_ms']:.2f}",
                f"{each['cpu_microseconds']:.1f}",
                f"{each['cpu_to_everything_on']:.2f}",
                f"{each['of_nginx']:.2f}",
                f"{each['of_nginx_by_cpu']:.2f}",
                f"{each['of_uvicorn']:.2f}",
                f"{each['of_uvicorn_by_cpu']:.2f}",
                f"{each['peak_mib']:.0f}",
            )
            for each in results
        ],
    )
