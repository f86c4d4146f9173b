"""GET …/environments/{env_id}/events."""

import asyncio
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.assembly.cluster import instance_name
from flagstaff.database import tables
from flagstaff.history.store import followed_events
from flagstaff.history.store.events import write_events
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow, unit_of
from tests.support.api import Caller, Json, environment_path, field_errors
from tests.support.releases import create_metric, send_events, until_stored
from tests.support.sdk_keys import create_key, keys_path

AT = 1_795_168_800_000_000


async def listed(caller: Caller, environment: Json, **query: str) -> Json:
    answer = await caller.get(f"{environment_path(environment)}/events", params=query)
    assert answer.status_code == 200, answer.text
    page: Json = answer.json()
    return page


async def all_pages(caller: Caller, environment: Json, **query: str) -> list[Json]:
    found, cursor = list[Json](), ""
    while True:
        page = await listed(caller, environment, **query, **({"cursor": cursor} if cursor else {}))
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return found


async def store(flagstaff: Flagstaff, environment: Json, number: int, *rows: EventRow) -> None:
    async with flagstaff.database.write_history() as connection:
        await write_events(connection, EventBatch(number, AT, [EventGroup(UUID(environment["id"]), rows, {})]))


def event(user: str, seconds: int = 0, metric: str = "errors", value: float | None = None) -> EventRow:
    return EventRow(metric, user, AT + seconds * 10**6, value, None)


async def test_it_needs_a_token_and_the_environment(
    client: Caller, ada: Caller, eve: Caller, environment: Json
) -> None:
    path = f"{environment_path(environment)}/events"
    assert (await client.get(path)).status_code == 401
    assert (await eve.get(path)).status_code == 404
    assert (await ada.get(path.replace(environment["id"], "x"))).status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("user_id=%00", "user_id"),
        ("metric=No!", "metric"),
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("cursor=", "cursor"),
        ("cursor=" + "f" * 20, "cursor"),
        ("since=tuesday", "since"),
        ("tz=Berlin", "tz"),
        ("user=ada", "user"),
    ],
)
async def test_a_malformed_filter_is_refused_at_its_field(
    ada: Caller, environment: Json, query: str, field: str
) -> None:
    answer = await ada.get(f"{environment_path(environment)}/events?{query}")
    assert answer.status_code == 400
    assert field in field_errors(answer)


async def test_events_that_only_a_newer_version_can_read_are_a_conflict(
    ada: Caller, environment: Json, flagstaff: Flagstaff
) -> None:
    await store(flagstaff, environment, 1, event("ada"))
    async with flagstaff.database.write_history() as connection:
        await connection.execute(tables.event_segments.update().values(version=9))
    answer = await ada.get(f"{environment_path(environment)}/events")
    assert answer.status_code == 409
    assert "a newer one has written them" in answer.json()["detail"]


async def test_an_environment_without_events_has_an_empty_page(ada: Caller, environment: Json) -> None:
    assert await listed(ada, environment) == {"items": [], "next_cursor": None}


async def test_what_an_application_sends_is_listed_for_its_user(
    ada: Caller, project: Json, environment: Json, flagstaff: Flagstaff
) -> None:
    metric = {"name": "Amount", "key": "amount", "kind": "value", "better": "up"}
    created = await ada.post(f"/api/projects/{project['id']}/metrics", json=metric)
    assert created.status_code == 201, created.text
    sent: list[Json] = [{"user_id": "ada", "value": 2.5}, {"user_email": "Bob@x.y", "value": 1}]
    sent = [{"metric": "amount", **each} for each in sent]
    assert (await send_events(ada, project["sdk_key"], *sent))["accepted"] == 2
    async with asyncio.timeout(20):
        while len((await listed(ada, environment))["items"]) < 2:
            await asyncio.sleep(0.01)
    (of_ada,) = (await listed(ada, environment, user_id="ada"))["items"]
    del of_ada["id"], of_ada["occurred_at"]
    assert of_ada == {
        "metric": "amount", "identifier": "ada", "attribute": None, "key_kind": "server", "key_id": None,
        "key_name": None, "protocol": "events", "instance": instance_name(flagstaff.foundation.settings), "value": 2.5,
    }  # fmt: skip
    (of_bob,) = (await listed(ada, environment, user_email="BOB@X.Y", user_id="bob"))["items"]
    assert (of_bob["identifier"], repr(of_bob["value"])) == ("bob@x.y", "1")
    assert (await listed(ada, environment, user_id="eve"))["items"] == []


@pytest.mark.both_databases
async def test_an_event_names_its_key_until_that_is_revoked(
    ada: Caller, project: Json, environment: Json, flagstaff: Flagstaff
) -> None:
    await create_metric(ada, project)
    keys = [
        await create_key(ada, project, name=name, kind=kind) for name, kind in (("Shop", "server"), ("Page", "browser"))
    ]
    for key in keys:
        await send_events(ada, key["key"], {"metric": "errors", "user_id": key["name"]})
    await until_stored(flagstaff)
    for names in (["Shop", "Page"], [None, "Page"]):
        found = {each["identifier"]: each for each in (await listed(ada, environment))["items"]}
        shown = [(found[key["name"]]["key_id"], found[key["name"]]["key_name"]) for key in keys]
        assert shown == [(key["id"], name) for key, name in zip(keys, names, strict=True)]
        assert [found[key["name"]]["key_kind"] for key in keys] == ["server", "browser"]
        await ada.delete(f"{keys_path(project)}/{keys[0]['id']}")


async def test_events_of_an_earlier_release_say_nothing_of_their_key(
    ada: Caller, environment: Json, flagstaff: Flagstaff
) -> None:
    await store(flagstaff, environment, 1, event("ada"))
    (found,) = (await listed(ada, environment))["items"]
    assert {found[name] for name in ("key_kind", "key_id", "key_name", "protocol", "instance")} == {None}


@pytest.mark.both_databases
async def test_pages_and_filters_show_each_event_once(ada: Caller, environment: Json, flagstaff: Flagstaff) -> None:
    for number in range(5):
        rows = [event(f"user-{number}-{place}", number * 10 + place) for place in range(9)]
        await store(flagstaff, environment, number + 1, *rows, event(unit_of("acme", "company"), metric="orders"))
    found = await all_pages(ada, environment, limit="4")
    names = [f"user-{number}-{place}" for number in reversed(range(5)) for place in reversed(range(9))]
    assert [each["identifier"] for each in found if each["attribute"] is None] == names
    assert len({each["id"] for each in found}) == 50
    orders = await all_pages(ada, environment, metric="orders", limit="2")
    assert [(each["identifier"], each["attribute"]) for each in orders] == [("acme", "company")] * 5
    period = await all_pages(ada, environment, since="2026-11-20T10:00:10Z", until="2026-11-20T10:00:12Z")
    assert [each["identifier"] for each in period] == ["user-1-1", "user-1-0"]


async def test_a_date_begins_in_the_time_zone(ada: Caller, environment: Json, flagstaff: Flagstaff) -> None:
    hour = 3600
    await store(flagstaff, environment, 1, event("before", -12 * hour), event("night", -11 * hour), event("day"))
    for tz, expected in (("UTC", ["day"]), ("Europe/Berlin", ["day", "night"])):
        found = await listed(ada, environment, since="2026-11-20", until="2026-11-21", tz=tz)
        assert [each["identifier"] for each in found["items"]] == expected


@pytest.mark.both_databases
async def test_one_page_finds_an_event_before_hundreds_of_small_batches(
    ada: Caller, environment: Json, flagstaff: Flagstaff
) -> None:
    for number in range(300):
        await store(flagstaff, environment, number + 1, event("first" if number == 0 else "other"))
    found = await listed(ada, environment, user_id="first")
    assert [each["identifier"] for each in found["items"]] == ["first"]


@pytest.mark.parametrize("bound", ["SEGMENTS_SEARCHED_MAX", "EVENTS_SEARCHED_MAX"])
async def test_a_page_searches_so_many_events(
    ada: Caller, environment: Json, flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(followed_events, bound, 8)
    for number in range(20):
        await store(flagstaff, environment, number + 1, event("first" if number == 0 else "other"))
    first = await listed(ada, environment, user_id="first")
    assert first["items"] == []
    assert first["next_cursor"] is not None
    assert [each["identifier"] for each in await all_pages(ada, environment, user_id="first")] == ["first"]
