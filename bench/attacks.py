"""What ten hostile accounts, or one stranger, do to a server: each attack prepares its accounts and then runs clients.

A client of an attack is a coroutine that sends requests until it is cancelled. It runs in a process of its own.
"""

import asyncio
import json
import random
import sys
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle

import httpx

from bench.places import Place, make_key, make_place
from bench.raw_http import Connection, request
from tests.support.receiver import Receiver
from tests.support.stores import Store

ACCOUNTS = 10
CLONED_FLAGS = 1_250
"""Each has three rules: as many flags and rules together as 2,500 flags with a rule each."""
_LONG = "й" * 10_000
_SOCKETS = 900


@dataclass(frozen=True)
class Stage:
    """The server under attack, and what an attack was prepared with."""

    port: int
    places: Sequence[Place] = ()
    requests: Sequence[bytes] = ()
    keys: Sequence[str] = field(default=())


Count = Callable[[int], None]
"""Called with the status of each answer."""
Prepare = Callable[[httpx.Client, Store, int], Stage]
Run = Callable[[Stage, Count], Awaitable[None]]


@dataclass(frozen=True)
class Attack:
    """An attack: what it is called, how its accounts are made, and what its clients do."""

    name: str
    prepare: Prepare
    run: Run


def _accounts(client: httpx.Client, store: Store, name: str, size: int, description: str | None = None) -> list[Place]:
    return [make_place(client, store, f"{name}-{number}", size, description=description) for number in range(ACCOUNTS)]


def _prepare_clones(client: httpx.Client, store: Store, port: int) -> Stage:
    return Stage(port, _accounts(client, store, "clones", CLONED_FLAGS))


async def _clone(stage: Stage, count: Count) -> None:
    """Copy a large environment and delete the copy, again and again, in each account."""

    async def loop(place: Place) -> None:
        connection = await Connection.open(stage.port)
        at = f"/api/projects/{place.project_id}/environments"
        for number in range(sys.maxsize):
            body = {"name": f"Copy {number}", "key": f"copy-{number}", "copy_from": str(place.environment_id)}
            status, made = await connection.fetch(request("POST", at, body, token=place.token))
            count(status)
            if status == 201:
                made_id = json.loads(made)["id"]
                count(await connection.exchange(request("DELETE", f"{at}/{made_id}", token=place.token)))

    await asyncio.gather(*(loop(place) for place in stage.places))


def _prepare_tags(client: httpx.Client, store: Store, port: int) -> Stage:
    requests = []
    for place in _accounts(client, store, "tags", 200, _LONG):
        flags = [each["id"] for each in client.get(f"{place.path}/flags", headers=place.headers).json()]
        requests += [
            request("POST", f"{place.path}/bulk-actions", {**body, "flags": flags}, token=place.token)
            for body in ({"action": "add_tags", "tags": ["x"]}, {"action": "remove_tags", "tags": ["x"]})
        ]
    return Stage(port, requests=requests)


async def _alternate(stage: Stage, count: Count) -> None:
    """Send each account's pair of requests in turns."""
    pairs = [stage.requests[place : place + 2] for place in range(0, len(stage.requests), 2)]
    await asyncio.gather(*(_repeat(stage.port, pair, count) for pair in pairs))


async def _repeat(port: int, requests: Sequence[bytes], count: Count) -> None:
    connection = await Connection.open(port)
    for each in cycle(requests):
        status = await connection.exchange(each)
        count(status)
        if status == 0:
            connection = await Connection.open(port)
        if status in {0, 429, 503}:
            await asyncio.sleep(0.1)


def _prepare_releases(client: httpx.Client, store: Store, port: int) -> Stage:
    """A hundred running releases with ten guards in each of ten projects, or as many as the server allows."""
    stage = Stage(port, _accounts(client, store, "releases", 100))
    steps = [{"after_seconds": 0, "changes": {"enabled": True, "rollout_percentage": 50}}]
    steps.append({"after_seconds": 86_400, "changes": {"rollout_percentage": 100}})
    guards = [{"metric": f"m-{number}", "action": "notify"} for number in range(10)]
    for place in stage.places:
        for guard in guards:
            body = {"key": guard["metric"], "name": guard["metric"], "kind": "binary", "better": "down"}
            client.post(f"/api/projects/{place.project_id}/metrics", json=body, headers=place.headers)
        for flag in client.get(f"{place.path}/flags", headers=place.headers).json():
            path = f"{place.path}/flags/{flag['id']}/releases"
            client.post(path, json={"steps": steps, "guards": guards}, headers=place.headers)
    return stage


async def _use(stage: Stage, count: Count) -> None:
    """Evaluate for new users, and report an event of each, five times a second in each project."""
    users = random.Random(1)

    async def loop(place: Place) -> None:
        connection = await Connection.open(stage.port)
        while True:
            user = f"user-{users.getrandbits(40)}"
            body = {"environment": "production", "context": {"user_id": user}}
            count(await connection.exchange(request("POST", "/sdk/v1/evaluate", body, sdk_key=place.sdk_key)))
            events = [{"metric": f"m-{number}", "user_id": user} for number in range(10)]
            reported = {"environment": "production", "events": events}
            count(await connection.exchange(request("POST", "/sdk/v1/events", reported, sdk_key=place.sdk_key)))
            await asyncio.sleep(0.2)

    await asyncio.gather(*(loop(place) for place in stage.places))


def _prepare_hooks(client: httpx.Client, store: Store, port: int) -> Stage:
    return Stage(port, _accounts(client, store, "hooks", 200))


async def _deliver(stage: Stage, count: Count) -> None:
    """Give each project twenty webhooks, and change 200 flags together again and again."""
    async with Receiver() as receiver, httpx.AsyncClient(base_url=f"http://127.0.0.1:{stage.port}") as client:

        async def loop(place: Place) -> None:
            for number in range(20):
                await client.post(
                    f"/api/projects/{place.project_id}/webhooks",
                    json={"description": f"{number}", "url": receiver.url},
                    headers=place.headers,
                )
            flags = [each["id"] for each in (await client.get(f"{place.path}/flags", headers=place.headers)).json()]
            changes = [
                request("POST", f"{place.path}/bulk-actions", {"flags": flags, "action": action}, token=place.token)
                for action in ("enable", "disable")
            ]
            await _repeat(stage.port, changes, count)

        await asyncio.gather(*(loop(place) for place in stage.places))


def _prepare_streams(client: httpx.Client, store: Store, port: int) -> Stage:
    place = make_place(client, store, "streams", 200)
    flag = client.get(f"{place.path}/flags", headers=place.headers).json()[0]["id"]
    key = make_key(client, place, "server")
    toggle = request("POST", f"{place.path}/flags/{flag}/toggle", token=place.token)
    return Stage(port, [place], [toggle], [key])


async def _stream(stage: Stage, count: Count) -> None:
    """Open streams with one key, and toggle a flag of theirs twice a second."""
    opened = request("GET", "/unleash/api/client/streaming", token=stage.keys[0])
    sockets = [await _open(stage.port, opened) for _ in range(_SOCKETS)]

    async def read(reader: asyncio.StreamReader) -> None:
        while await reader.read(1 << 20):
            pass

    async def toggle() -> None:
        connection = await Connection.open(stage.port)
        while True:
            count(await connection.exchange(stage.requests[0]))
            await asyncio.sleep(0.5)

    await asyncio.gather(toggle(), *(read(reader) for reader, _ in sockets))


async def _open(port: int, sent: bytes) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    return reader, writer


def _prepare_strangers(path: str) -> Prepare:
    return lambda _client, _store, port: Stage(port, requests=[request("GET", path)])


async def _crowd(stage: Stage, count: Count) -> None:
    """Repeat one request on 900 connections of a stranger."""
    await asyncio.gather(*(_repeat(stage.port, stage.requests, count) for _ in range(_SOCKETS)))


def _prepare_bodies(_client: httpx.Client, _store: Store, port: int) -> Stage:
    head = (
        f"POST /api/projects HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {1 << 18}\r\n"
    )
    return Stage(port, requests=[f"{head}\r\n".encode() + b" " * ((1 << 18) - 1)])


async def _leave_unfinished(stage: Stage, count: Count) -> None:
    """Send bodies of a stranger whose last byte never comes."""

    async def loop() -> None:
        while True:
            reader, writer = await _open(stage.port, stage.requests[0])
            head = await reader.read(1 << 16)
            count(int(head[9:12]) if head.startswith(b"HTTP/1.1 ") else 0)
            writer.close()
            await asyncio.sleep(0.1)

    await asyncio.gather(*(loop() for _ in range(_SOCKETS)))


def _prepare_loads(client: httpx.Client, store: Store, port: int) -> Stage:
    """Ten projects with four environments of 1,000 flags each, besides their own."""
    stage = Stage(port, _accounts(client, store, "loads", 1_000))
    requests = []
    for place in stage.places:
        for number in range(4):
            body = {"name": f"E{number}", "key": f"e-{number}", "copy_from": str(place.environment_id)}
            client.post(f"/api/projects/{place.project_id}/environments", json=body, headers=place.headers)
        requests += [
            request("POST", f"/api/projects/{place.project_id}/regenerate-key", token=place.token),
            request("POST", f"{place.path}/explain", {"context": {"user_id": "ada"}}, token=place.token),
        ]
    return Stage(port, stage.places, requests)


def _prepare_events(client: httpx.Client, store: Store, port: int) -> Stage:
    places, requests = _accounts(client, store, "events", 1), []
    ids = (f"event-{number}" for number in range(10**9))
    for place in places:
        metric = {"key": "errors", "name": "Errors", "kind": "binary", "better": "down"}
        client.post(f"/api/projects/{place.project_id}/metrics", json=metric, headers=place.headers)
        requests += [_events(place, ids) for _ in range(20)]
    return Stage(port, places, requests)


def _events(place: Place, ids: Iterator[str]) -> bytes:
    events = [{"metric": "errors", "user_id": f"user-{n}", "id": next(ids)} for n in range(1_000)]
    return request("POST", "/sdk/v1/events", {"environment": "production", "events": events}, sdk_key=place.sdk_key)


def _prepare_exports(client: httpx.Client, store: Store, port: int) -> Stage:
    places = _accounts(client, store, "exports", 1_000, _LONG)
    requests = []
    for place in places:
        paths = (f"{place.path}/export", f"/api/projects/{place.project_id}/changes.csv")
        requests += [request("GET", path, token=place.token) for path in paths]
    return Stage(port, places, requests)


def _prepare_features(client: httpx.Client, store: Store, port: int) -> Stage:
    """Flags that all use one segment of 10,000 values."""
    requests = []
    for place in _accounts(client, store, "features", 0):
        condition = {"attribute": "plan", "operator": "is_one_of", "values": [f"plan-{n}" for n in range(10_000)]}
        segment = {"name": "Plans", "key": "plans", "conditions": [condition]}
        client.post(f"/api/projects/{place.project_id}/segments", json=segment, headers=place.headers)
        for number in range(20):
            flag = {"name": f"F{number}", "key": f"f-{number}", "enabled": True}
            made = client.post(f"{place.path}/flags", json=flag, headers=place.headers).json()
            rule = {"rule_type": "segment", "rule_value": "plans"}
            client.post(f"{place.path}/flags/{made['id']}/rules", json=rule, headers=place.headers)
        requests.append(request("GET", "/unleash/api/client/features", token=make_key(client, place, "server")))
    return Stage(port, requests=requests)


async def _all(stage: Stage, count: Count) -> None:
    """Repeat each request on a connection of its own."""
    await asyncio.gather(*(_repeat(stage.port, [each], count) for each in stage.requests))


ATTACKS = (
    Attack("copies of an environment, and their deletion", _prepare_clones, _clone),
    Attack("1,000 releases with ten guards", _prepare_releases, _use),
    Attack("tags of 200 flags with long descriptions", _prepare_tags, _alternate),
    Attack("20 webhooks, and changes of 200 flags", _prepare_hooks, _deliver),
    Attack(f"{_SOCKETS} streams with one key", _prepare_streams, _stream),
    Attack(f"{_SOCKETS} connections on a path that does not exist", _prepare_strangers(f"/{'%7f' * 2_600}"), _crowd),
    Attack(f"{_SOCKETS} connections on /openapi.json", _prepare_strangers("/openapi.json"), _crowd),
    Attack(f"{_SOCKETS} unfinished bodies", _prepare_bodies, _leave_unfinished),
    Attack("first loads of large projects", _prepare_loads, _all),
    Attack("events with ids", _prepare_events, _all),
    Attack("exports of long descriptions and of changes", _prepare_exports, _all),
    Attack("features of Unleash with a large segment", _prepare_features, _all),
)
