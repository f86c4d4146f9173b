"""The time of single operations: a start, a compilation, a toggle until it is effective, each management operation."""

import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import httpx

from bench.flag_sets import make_mixed_set
from bench.machine import Cores
from bench.report import print_table
from bench.servers import FlagstaffServer, Switches
from flagstaff.evaluation.snapshot_assembly import compile_environment

_ADDRESS = {"email": "bench@example.com", "password": "a password for the bench"}


def measure_latencies(folder: Path, cores: Cores, repeats: int) -> list[dict[str, Any]]:
    """Measure all operations and print a table."""
    data = folder / "latencies"
    timings = {"compile 1,000 flags": _compile(repeats), "start to first answer, new data": _start(data, cores, 1)}
    timings["start to first answer"] = _start(data, cores, min(repeats, 5))
    timings["start until all is loaded"] = _start(data, cores, min(repeats, 5), is_loaded=True)
    with FlagstaffServer(cores.server, data, Switches()) as server:
        server.wait_until_it_is_loaded()
        with httpx.Client(base_url=server.url) as client:
            timings |= _operations(client, repeats)
    results: list[dict[str, Any]] = [
        {"what": what, "p50_ms": statistics.median(seconds) * 1000, "p99_ms": _p99(seconds) * 1000}
        for what, seconds in timings.items()
    ]
    print_table(
        ("what", "", "p50 ms", "p99 ms"),
        [(each["what"], "", f"{each['p50_ms']:.2f}", f"{each['p99_ms']:.2f}") for each in results],
    )
    return results


def _p99(seconds: list[float]) -> float:
    return sorted(seconds)[int(len(seconds) * 0.99)]


def _compile(repeats: int) -> list[float]:
    flags = make_mixed_set(1000)
    return [_time(lambda: compile_environment(flags.environment, flags.flags)) for _ in range(repeats)]


def _start(data: Path, cores: Cores, repeats: int, *, is_loaded: bool = False) -> list[float]:
    data.mkdir(mode=0o700, exist_ok=True)
    seconds = []
    for _ in range(repeats):
        with FlagstaffServer(cores.server, data, Switches()) as server:
            wait = server.wait_until_it_is_loaded if is_loaded else partial(server.wait_until_it_answers, "/health")
            seconds.append(wait())
    return seconds


def _operations(client: httpx.Client, repeats: int) -> dict[str, list[float]]:
    """Return each operation of the management API; they are repeated in rounds, under the same conditions for all."""
    timings: dict[str, list[float]] = {}

    def call(what: str, method: str, path: str, body: object = None) -> Any:
        began = time.perf_counter()
        response = client.request(method, path, json=body)
        timings.setdefault(what, []).append(time.perf_counter() - began)
        response.raise_for_status()
        return response.json() if response.content else None

    call("register", "POST", "/auth/register", _ADDRESS)
    token = call("log in", "POST", "/auth/login", _ADDRESS)["token"]
    client.headers["Authorization"] = f"Bearer {token}"
    for number in range(repeats):
        _visit_all(call, client, timings, number)
    return timings


def _visit_all(call: Callable[..., Any], client: httpx.Client, timings: dict[str, list[float]], number: int) -> None:
    project = call("create project", "POST", "/api/projects", {"name": "Bench"})
    at = f"/api/projects/{project['id']}"
    call("get project", "GET", at)
    call("list projects", "GET", "/api/projects")
    call("update project", "PUT", at, {"name": f"Bench {number}"})
    environment = call("create environment", "POST", f"{at}/environments", {"name": "Canary", "key": "canary"})
    here = f"{at}/environments/{environment['id']}"
    call("list environments", "GET", f"{at}/environments")
    flag = call("create flag", "POST", f"{here}/flags", {"name": "Flag", "key": "flag"})
    there = f"{here}/flags/{flag['id']}"
    call("get flag", "GET", there)
    call("list flags", "GET", f"{here}/flags")
    call("update flag", "PUT", there, {"rollout_percentage": 20})
    rule = call("create rule", "POST", f"{there}/rules", {"rule_type": "user_id", "rule_value": "ada"})
    call("update rule", "PUT", f"{there}/rules/{rule['id']}", {"priority": 1})
    call("list rules", "GET", f"{there}/rules")
    call("toggle", "POST", f"{there}/toggle")
    timings.setdefault("toggle until it is served", []).append(_toggle(client, project["sdk_key"], there))
    call("delete rule", "DELETE", f"{there}/rules/{rule['id']}")
    call("delete flag", "DELETE", there)
    call("rotate key", "POST", f"{at}/regenerate-key")
    call("delete environment", "DELETE", here)
    call("delete project", "DELETE", at)


def _toggle(client: httpx.Client, sdk_key: str, flag: str) -> float:
    began = time.perf_counter()
    enabled = client.post(f"{flag}/toggle").json()["enabled"]
    while True:
        answer = client.post("/sdk/v1/evaluate", json={"environment": "canary"}, headers={"X-SDK-Key": sdk_key})
        if answer.json()["flags"]["flag"]["enabled"] == enabled:
            return time.perf_counter() - began


def _time(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
