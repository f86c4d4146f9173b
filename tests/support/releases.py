"""Metrics, releases, and the evaluations and events of many users."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.store.event_segments import StoredEvent, kind_of, unpack
from tests.support.api import Caller, Json, created, flag_path, project_path

SECONDS = 30
Found = TypeVar("Found")


async def create_metric(caller: Caller, project: Json, **values: Any) -> Json:
    """A new metric, by default of errors."""
    body = {"key": "errors", "name": "Checkout errors", "kind": "binary", "better": "down", **values}
    return created(await caller.post(f"{project_path(project)}/metrics", json=body))


async def create_release(caller: Caller, flag: Json, *steps: Json, **values: Any) -> Json:
    """A new release of a flag with these steps."""
    return created(await caller.post(f"{flag_path(flag)}/releases", json={"steps": list(steps), **values}))


def release_path(release: Json) -> str:
    """The path of a release."""
    return f"{flag_path({**release, 'id': release['flag_id']})}/releases/{release['id']}"


async def read_release(caller: Caller, release: Json) -> Json:
    """A release as it is now."""
    answer = await caller.get(release_path(release))
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


async def read_results(caller: Caller, release: Json) -> Json:
    """The results of a release as they are now."""
    answer = await caller.get(f"{release_path(release)}/results")
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


async def until_state(caller: Caller, release: Json, state: str) -> Json:
    """Wait until a release is in a state, and return it."""
    return await until(lambda: read_release(caller, release), lambda found: found["state"] == state)


async def until_step(caller: Caller, release: Json, step: int) -> Json:
    """Wait until a step was applied or skipped, and return the release."""
    return await until(
        lambda: read_release(caller, release), lambda found: any(each["step"] == step for each in found["applied"])
    )


async def until_served(caller: Caller, flag: Json) -> None:
    """Wait until evaluations see the state of a flag that a release was read to have made.

    The state can be read a moment earlier. A change that finds its value already there is answered when it is seen
    everywhere.
    """
    name = (await caller.get(flag_path(flag))).json()["name"]
    answer = await caller.put(flag_path(flag), json={"name": name})
    assert answer.status_code == 200, answer.text


async def until_results(caller: Caller, release: Json, condition: Callable[[Json], bool]) -> Json:
    """Wait until the results fulfil a condition, and return them."""
    return await until(lambda: read_results(caller, release), condition)


async def until(read: Callable[[], Awaitable[Found]], condition: Callable[[Found], bool]) -> Found:
    """Read repeatedly until the result fulfils a condition, and return it."""
    found: Found | None = None
    try:
        async with asyncio.timeout(SECONDS):
            while not condition(read_now := await read()):
                found = read_now
                await asyncio.sleep(0.02)
            return read_now
    except TimeoutError:
        raise AssertionError(f"it did not become so: {found}") from None


async def evaluate_users(caller: Caller, sdk_key: str, users: Iterable[str], flag_key: str) -> dict[str, Json]:
    """Evaluate a flag for some users, and return its answer for each.

    An evaluation within the process waits for nothing. Without a pause, hundreds of them keep the event loop from what
    else has to happen: on a busy machine for so long that the database counts as lost.
    """
    found = {}
    for user in users:
        await asyncio.sleep(0)
        answer = await caller.evaluate(sdk_key, context={"user_id": user})
        assert answer.status_code == 200, answer.text
        found[user] = answer.json()["flags"][flag_key]
    return found


async def send_events(caller: Caller, sdk_key: str, *events: Json, environment: str = "production") -> Json:
    """Send events, and return the answer."""
    answer = await caller.post(
        "/sdk/v1/events", json={"environment": environment, "events": list(events)}, headers={"x-sdk-key": sdk_key}
    )
    assert answer.status_code == 202, answer.text
    found: Json = answer.json()
    return found


async def until_stored(flagstaff: Flagstaff) -> None:
    """Wait until all evaluations and events are in the history."""
    async with asyncio.timeout(SECONDS):
        while flagstaff.history.recorder.waiting or flagstaff.history.event_recorder.waiting:
            await asyncio.sleep(0.01)


async def list_stored(database: Database) -> list[StoredEvent]:
    """The events in the history, in the order in which they were stored."""
    segments = tables.event_segments.c
    async with database.read_history() as connection:
        rows = await connection.execute(
            sa.select(segments.id, segments.content, segments.key_kind).order_by(segments.id)
        )
        return [StoredEvent(*event, kind_of(row), row.id) for row in rows for event in unpack(row.content)]
