"""Evaluations per second, beside nginx and uvicorn handing out the same bytes, in turns on one core."""

import json
import statistics
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from bench.flag_sets import FlagSet
from bench.machine import Cores, cpu_seconds, resident_mib
from bench.report import print_table
from bench.servers import FlagstaffServer, NginxServer, Server, Switches, UvicornServer
from bench.wrk import Load, put_load

CONNECTIONS = 8
PATH = "/sdk/v1/evaluate"


@dataclass(frozen=True)
class Effort:
    """How much is measured: rounds of so many seconds for each server."""

    rounds: int
    seconds: int


@dataclass(frozen=True)
class Turn:
    """One server's turn in a round."""

    load: Load
    cpu_microseconds: int


def measure_evaluations(
    folder: Path, sets: Sequence[FlagSet], every_switch: Sequence[Switches], cores: Cores, effort: Effort
) -> list[dict[str, Any]]:
    """Load each set under each choice of switches, and print a table."""
    answers = folder / "answers"
    answers.mkdir()
    results = []
    with NginxServer(cores.server, answers) as nginx:
        for switches in every_switch:
            with FlagstaffServer(cores.server, folder / "data", switches) as flagstaff:
                flagstaff.wait_until_it_answers("/ready")
                for each in sets:
                    _save_answer(flagstaff, each, answers / f"{each.name.replace(' ', '-')}.json")
                with UvicornServer(cores.server, answers) as static:  # it reads the files when it starts
                    for each in sets:
                        result = _measure_set(flagstaff, nginx, static, each, cores, effort)
                        results.append({"switches": str(switches), **result})
                        print(".", end="", flush=True)
    print()
    _print(results)
    return results


def _measure_set(
    flagstaff: Server, nginx: Server, static: Server, flags: FlagSet, cores: Cores, effort: Effort
) -> dict[str, Any]:
    file = f"/{flags.name.replace(' ', '-')}.json"
    nginx.wait_until_it_answers(file)
    static.wait_until_it_answers(file)
    key = flags.project.sdk_key
    users = iter(range(0, 10**8, 10**6))

    def turn(server: Server, path: str, method: str = "POST") -> Turn:
        before = cpu_seconds(server.pid)
        load = put_load(
            server.url + path,
            core=cores.load,
            seconds=effort.seconds,
            connections=CONNECTIONS,
            sdk_key=key,
            method=method,
            user=next(users),
        )
        return Turn(load, (cpu_seconds(server.pid) - before) / max(load.requests, 1) * 1e6)

    # nginx answers no POST from a file, so it gets the same request as a GET.
    rounds = [(turn(flagstaff, PATH), turn(nginx, file, "GET"), turn(static, file)) for _ in range(effort.rounds)]
    return {"flags": flags.name, "peak_mib": resident_mib(flagstaff.pid, peak=True), **_sum_up(rounds)}


def _sum_up(rounds: Sequence[tuple[Turn, Turn, Turn]]) -> dict[str, Any]:
    """Medians over the rounds; ratios are taken within a round, where the machine was the same for all."""

    def median(read: Callable[[Turn, Turn, Turn], float]) -> float:
        return statistics.median(read(*turns) for turns in rounds)

    return {
        "requests_per_second": median(lambda own, *_: own.load.requests_per_second),
        "p50_ms": median(lambda own, *_: own.load.p50_ms),
        "p99_ms": median(lambda own, *_: own.load.p99_ms),
        "cpu_microseconds": median(lambda own, *_: own.cpu_microseconds),
        "of_nginx": median(lambda own, nginx, _: own.load.requests_per_second / nginx.load.requests_per_second),
        "of_uvicorn": median(lambda own, _, static: own.load.requests_per_second / static.load.requests_per_second),
        "of_nginx_by_cpu": median(lambda own, nginx, _: nginx.cpu_microseconds / own.cpu_microseconds),
        "of_uvicorn_by_cpu": median(lambda own, _, static: static.cpu_microseconds / own.cpu_microseconds),
        "nginx_requests_per_second": median(lambda _, nginx, __: nginx.load.requests_per_second),
        "uvicorn_requests_per_second": median(lambda _, __, static: static.load.requests_per_second),
        "rounds": [[asdict(turn) for turn in turns] for turns in rounds],
    }


def _save_answer(flagstaff: Server, flags: FlagSet, file: Path) -> None:
    body = json.dumps({"environment": "production", "context": {"user_id": "user-00000001"}}).encode()
    headers = {"X-SDK-Key": flags.project.sdk_key, "Content-Type": "application/json"}
    request = urllib.request.Request(flagstaff.url + PATH, body, headers)
    with urllib.request.urlopen(request) as response:
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
                f"{each['of_nginx']:.2f}",
                f"{each['of_nginx_by_cpu']:.2f}",
                f"{each['of_uvicorn']:.2f}",
                f"{each['of_uvicorn_by_cpu']:.2f}",
                f"{each['peak_mib']:.0f}",
            )
            for each in results
        ],
    )
