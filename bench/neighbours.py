"""`python -m bench.neighbours [TEXT]`: the latency of evaluations while another client keeps the server busy.

With a text, only the neighbours whose names contain it are measured.

The server runs on one core. Evaluations arrive at a steady, modest rate whether or not earlier ones are answered, and
each is timed from its scheduled start. One noisy neighbour at a time runs beside them.
"""

import asyncio
import multiprocessing
import os
import random
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.machine import Cores, NotReadyError, choose_cores
from bench.places import PASSWORD, Place, make_key, make_place
from bench.raw_http import Connection, request
from bench.report import print_table
from bench.servers import FlagstaffServer, Switches
from bench.steady import RATE, beside, percentile, time_evaluations, yield_core
from tests.support.stores import Store

QUIET_SECONDS, NOISY_SECONDS = 4, 8
LIST_FLAGS, CHANGED_FLAGS = 1_500, 1_000
WANTED_RATIO = 3
_UNKNOWN_KEYS = {f"x{number}": 0 for number in range(20_000)}  # 228 KiB


@dataclass(frozen=True)
class Noise:
    """A neighbour: each of `clients` sends its request repeatedly, or at most `per_second` times."""

    name: str
    requests: Sequence[bytes]
    clients: int
    per_second: float = 1_000


def main() -> None:
    """Measure each neighbour and print a table."""
    try:
        cores = choose_cores()
    except NotReadyError as error:
        sys.exit(f"bench: {error}")
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
        data = Path(folder) / "data"
        data.mkdir(mode=0o700)
        limits = {f"FLAGSTAFF_{name}_RATE_LIMIT": "off" for name in ("REGISTER", "LOGIN", "LOGIN_FAILURE")}
        limits["FLAGSTAFF_API_RATE_LIMIT"] = "1200/minute"  # the default
        with FlagstaffServer(cores.server, data, Switches(), limits) as server:
            server.wait_until_it_is_loaded()
            _measure(server, Store(None, data), cores)


def _measure(server: FlagstaffServer, store: Store, cores: Cores) -> None:
    os.sched_setaffinity(0, {cores.load})
    port = int(server.url.rpartition(":")[2])
    with httpx.Client(base_url=server.url, timeout=60) as client:
        victim = make_place(client, store, "victim", 20)
        neighbours = _neighbours(client, store)
    evaluate = request(
        "POST", "/sdk/v1/evaluate", {"environment": "production", "context": {"user_id": "ada"}}, sdk_key=victim.sdk_key
    )
    asyncio.run(time_evaluations(port, evaluate, 1))  # loads the project
    rows, wanted = [], " ".join(sys.argv[1:])
    for noise in (each for each in neighbours if wanted in each.name):
        quiet = asyncio.run(time_evaluations(port, evaluate, QUIET_SECONDS))
        with _noise(port, noise) as answered:
            noisy = asyncio.run(time_evaluations(port, evaluate, NOISY_SECONDS))
            count = answered.value
        ratio = percentile(noisy, 0.99) / percentile(quiet, 0.99)
        figures = (percentile(times, part) * 1000 for times in (quiet, noisy) for part in (0.5, 0.99))
        verdict = "" if ratio <= WANTED_RATIO else f"above {WANTED_RATIO}"
        rows.append((noise.name, verdict, *(f"{each:.2f}" for each in figures), f"{ratio:.1f}", str(count)))
    print(f"{RATE} evaluations a second beside one neighbour at a time; milliseconds")
    heads = ("neighbour", "", "quiet p50", "p99", "noisy p50", "p99", "ratio of p99", "answers to the neighbour")
    print_table(heads, rows)


def _neighbours(client: httpx.Client, store: Store) -> list[Noise]:
    lists = make_place(client, store, "lists", LIST_FLAGS, description="й" * 10_000)
    writes = make_place(client, store, "writes", CHANGED_FLAGS)
    unknown = make_place(client, store, "unknown", 1)
    summaries = make_place(client, store, "summaries", 100)
    headers = {"authorization": f"Bearer {writes.token}"}
    flags = client.get(f"{writes.path}/flags", headers=headers).json()
    toggles = [request("POST", f"{writes.path}/flags/{each['id']}/toggle", token=writes.token) for each in flags]
    # A short run evaluates for one minute only, which shows the cost of a request.
    for _ in range(200):
        body = {"environment": "production", "context": {"user_id": "ada"}}
        client.post("/sdk/v1/evaluate", json=body, headers={"x-sdk-key": summaries.sdk_key})
    login = request("POST", "/auth/login", {"email": "lists@example.com", "password": PASSWORD})
    summary = f"{summaries.path}/evaluations/summary?interval=1h"
    client.post("/sdk/v1/evaluate", json={"environment": "production"}, headers={"x-sdk-key": writes.sdk_key})
    return [
        Noise("GET /openapi.json, 50 a second", [request("GET", "/openapi.json")], 10, 5),
        Noise("GET /metrics, 50 a second", [request("GET", "/metrics")], 10, 5),
        Noise("GET /api without a token, 100 a second", [request("GET", "/api/projects", token="x")], 10, 10),
        Noise(
            "228 KiB of unknown keys, 20 a second",
            [request("PUT", unknown.path, _UNKNOWN_KEYS, token=unknown.token)],
            4,
            5,
        ),
        Noise(
            f"8 parallel lists of {LIST_FLAGS:,} long flags",
            [request("GET", f"{lists.path}/flags", token=lists.token)],
            8,
        ),
        Noise(f"changes in an environment of {CHANGED_FLAGS:,} flags", toggles, 4),
        Noise("50 parallel logins", [login], 50),
        Noise("summaries, 20 a second", [request("GET", summary, token=summaries.token)], 4, 5),
        *_bounded(client, lists, unknown),
        *_at_the_budget(client, store),
    ]


def _bounded(client: httpx.Client, lists: Place, other: Place) -> list[Noise]:
    """Return neighbours whose requests, memory and disk use are limited."""
    headers = {"authorization": f"Bearer {lists.token}"}
    flags = [each["id"] for each in client.get(f"{lists.path}/flags", headers=headers).json()[:200]]
    path, enable = f"{lists.path}/bulk-actions", {"flags": flags, "action": "enable"}
    actions = [
        request("POST", path, enable, token=lists.token, idempotency_key=f"key-{number}") for number in range(2_000)
    ]
    key = make_key(client, other, "server")
    variants = {f"{each:x}": 1 for each in range(48)}
    toggles = {f"f{number}": {"yes": 1, "variants": variants} for number in range(400)}
    reports = [
        request(
            "POST",
            "/unleash/api/client/metrics",
            {"appName": "wide", "bucket": {"start": number, "stop": number, "toggles": toggles}},
            token=key,
        )
        for number in range(50)
    ]
    public = request("POST", "/ofrep/v1/evaluate/flags", {}, token=make_key(client, other, "browser"))
    metric = {"key": "errors", "name": "Errors", "kind": "binary", "better": "down"}
    client.post(
        f"/api/projects/{other.project_id}/metrics", json=metric, headers={"authorization": f"Bearer {other.token}"}
    )
    events = [
        request(
            "POST",
            "/sdk/v1/events",
            {
                "environment": "production",
                "events": [{"metric": "errors", "user_id": f"user-{number}-{place}"} for place in range(1_000)],
            },
            sdk_key=other.sdk_key,
        )
        for number in range(20)
    ]
    guess = request("POST", "/ofrep/v1/evaluate/flags", {}, token="unknown")
    return [
        Noise("bulk actions with keys that change nothing", actions, 4),
        Noise("reports of 19,600 counts", reports, 8),
        Noise("events, 1,000 in a request", events, 4),
        Noise("events, 1,000 in each of 10 requests a second", events, 4, 2.5),
        Noise("OFREP with a browser key", [public], 8),
        Noise("OFREP with unknown keys, 600 a second", [guess], 8, 75),
    ]


def _at_the_budget(client: httpx.Client, store: Store) -> list[Noise]:
    """Return neighbours whose conditions use up the budget, with worst-case texts that differ each time.

    Each has a separate account, so that none uses up the requests of another.
    """
    asking, explaining, drafting, playing = (
        make_place(client, store, f"conditions-{number}", 1) for number in range(4)
    )
    conditions = [
        {"attribute": "x", "operator": "matches", "values": [f"[ab]*a[ab]{{20}}c{number}"], "negate": True}
        for number in range(4)
    ]
    flag = {"name": "Hard", "key": "hard", "enabled": True}
    rule = {"rule_type": "attributes", "rule_value": None, "conditions": conditions}
    for place in (asking, playing):
        headers = {"authorization": f"Bearer {place.token}"}
        made = client.post(f"{place.path}/flags", json=flag, headers=headers).raise_for_status().json()
        client.post(f"{place.path}/flags/{made['id']}/rules", json=rule, headers=headers).raise_for_status()
    texts = random.Random(1)
    users = [{"custom_attributes": {"x": "".join(texts.choices("ab", k=1024))}} for _ in range(200)]
    evaluations = [
        request("POST", "/sdk/v1/evaluate", {"environment": "production", "context": user}, sdk_key=asking.sdk_key)
        for user in users
    ]
    explanations = [
        request(
            "POST",
            f"{explaining.path}/explain",
            {"context": user, "flag": {**flag, "rules": [rule]}},
            token=explaining.token,
        )
        for user in users
    ]
    beyond = {**rule, "conditions": [{**each, "values": ["[ab]*a[ab]{200}c"]} for each in conditions] * 12}
    refused = request(
        "POST", f"{drafting.path}/explain", {"flag": {**flag, "rules": [beyond] * 10}}, token=drafting.token
    )
    playground = request(
        "POST",
        f"/api/projects/{playing.project_id}/playground",
        {"environment_ids": [str(playing.environment_id)], "users": users},
        token=playing.token,
    )
    return [
        Noise("evaluations at the budget of conditions, 100 a second", evaluations, 4, 25),
        Noise("8 parallel explanations at the budget", explanations, 8),
        Noise("drafts beyond the budget", [refused], 4),
        Noise("playgrounds at the budget with 200 users", [playground], 4),
    ]


@contextmanager
def _noise(port: int, noise: Noise) -> Iterator[Any]:
    """Run a process that generates load until the block ends; yield the number of its answers."""
    context = multiprocessing.get_context("spawn")
    answered = context.Value("i", 0)
    process = context.Process(target=_make_noise, args=(port, noise, answered), daemon=True)
    with beside(process, lambda: bool(answered.value)):
        yield answered


def _make_noise(port: int, noise: Noise, answered: Any) -> None:
    yield_core()
    asyncio.run(_work(port, noise, answered))


async def _work(port: int, noise: Noise, answered: Any) -> None:
    async def client(number: int) -> None:
        connection = await Connection.open(port)
        for turn in range(sys.maxsize):
            due = asyncio.get_running_loop().time() + 1 / noise.per_second
            if await connection.exchange(noise.requests[(number + turn * noise.clients) % len(noise.requests)]) == 0:
                connection = await Connection.open(port)
            answered.value += 1
            await asyncio.sleep(max(0, due - asyncio.get_running_loop().time()))

    await asyncio.gather(*(client(number) for number in range(noise.clients)))


if __name__ == "__main__":
    main()
