"""Events of metrics: which are accepted, and which of their fields are stored."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.history.store.event_segments import StoredEvent
from flagstaff.projects.sdk_keys import KeyKind
from tests.support.api import Caller, Json, field_errors, project_path
from tests.support.releases import create_metric, list_stored, send_events, until_stored
from tests.support.sdk_keys import KeyMaker, create_key
from tests.web.conftest import Call

PATH = "/sdk/v1/events"
ERROR: Json = {"metric": "errors", "user_id": "ada"}


@pytest.fixture
async def sdk_key(ada: Caller, project: Json) -> str:
    """The SDK key of a project with a metric of each kind."""
    await create_metric(ada, project)
    await create_metric(ada, project, key="clicks", kind="count", better="up")
    await create_metric(ada, project, key="latency", kind="value")
    key: str = project["sdk_key"]
    return key


async def stored(flagstaff: Flagstaff) -> list[StoredEvent]:
    """The events in the history, in the order in which they were stored."""
    await until_stored(flagstaff)
    return await list_stored(flagstaff.database)


async def post(caller: Caller, sdk_key: str, body: Any, **headers: str) -> Any:
    return await caller.post(PATH, json=body, headers={"x-sdk-key": sdk_key, **headers})


async def test_without_a_valid_key_nothing_is_accepted(client: Caller, sdk_key: str) -> None:
    body = {"environment": "production", "events": [ERROR]}
    for key in ("", "x", sdk_key[:-1]):
        assert (await post(client, key, body)).status_code == 401
    assert (await client.post(PATH, json=body)).status_code == 401


async def test_the_key_of_another_environment_is_refused(
    client: Caller, ada: Caller, keys: KeyMaker, project: Json, sdk_key: str
) -> None:
    assert sdk_key
    staging = await keys.create(await ada.get_environment(project, "staging"))
    answer = await post(client, staging, {"environment": "production", "events": [ERROR]})
    assert (answer.status_code, "is for the environment staging" in answer.json()["detail"]) == (403, True)
    assert (await send_events(client, staging, ERROR, environment="staging"))["accepted"] == 1


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"environment": "production"},
        {"events": []},
        {"environment": 1, "events": []},
        {"environment": "production", "events": {}},
        {"environment": "production", "events": [{}]},
        {"environment": "production", "events": [None]},
        {"environment": "production", "events": [{**ERROR, "colour": "red"}]},
        {"environment": "production", "events": [{**ERROR, "value": "1"}]},
        {"environment": "production", "events": [{**ERROR, "user_id": 7}]},
        {"environment": "production", "events": [{**ERROR, "at": "yesterday"}]},
        {"environment": "production", "events": [{**ERROR, "at": "2026-11-20T10:00:00"}]},
        {"environment": "production", "events": [{**ERROR, "attributes": {"plan": ["gold"]}}]},
        {"environment": "production", "events": [ERROR] * 1_001},
        {"environment": "production", "events": [ERROR], "more": 1},
    ],
)
async def test_a_body_of_another_form_is_refused_as_a_whole(
    flagstaff: Flagstaff, client: Caller, sdk_key: str, body: Any
) -> None:
    assert list(field_errors(await post(client, sdk_key, body))) == ["body"]
    assert await stored(flagstaff) == []


async def test_a_key_in_the_body_serves_pages_that_can_send_no_headers(client: Caller, sdk_key: str) -> None:
    body: Json = {"environment": "production", "events": [ERROR]}
    for key, status in (("x", 401), ("", 401), (None, 401), (7, 401), (sdk_key, 202)):
        content = json.dumps({**body, "sdk_key": key}).encode()
        answer = await client.post(PATH, content=content, headers={"content-type": "text/plain;charset=UTF-8"})
        assert answer.status_code == status, key
    wrong = {**body, "sdk_key": sdk_key, "events": [{**ERROR, "value": "1"}]}
    assert list(field_errors(await client.post(PATH, json=wrong))) == ["body"]
    deep = json.dumps({**body, "sdk_key": sdk_key})[:-1] + f', "x": {"[" * 5_000}{"]" * 5_000}}}'
    assert list(field_errors(await client.post(PATH, content=deep))) == ["body"]


async def test_two_different_keys_are_refused(client: Caller, keys: KeyMaker, environment: Json, sdk_key: str) -> None:
    body = {"environment": "production", "events": [ERROR], "sdk_key": sdk_key}
    assert (await post(client, sdk_key, body)).status_code == 202
    refused = await post(client, await keys.create(environment), body)
    assert field_errors(refused) == {"sdk_key": "differs from the key in the X-SDK-Key header; send the key once"}


async def test_a_body_beyond_the_bound_is_refused(client: Caller, sdk_key: str) -> None:
    answer = await client.post(PATH, content=b" " * (256 * 1024 + 1), headers={"x-sdk-key": sdk_key})
    assert answer.status_code == 413


async def test_only_posts_are_answered(client: Caller) -> None:
    assert (await client.get(PATH)).status_code == 405
    assert (await client.post(f"{PATH}/x", json={})).status_code == 404


async def test_an_environment_that_does_not_exist_is_not_found(client: Caller, sdk_key: str) -> None:
    assert (await post(client, sdk_key, {"environment": "moon", "events": []})).status_code == 404


@pytest.mark.both_databases
@pytest.mark.parametrize(
    ("event", "reason"),
    [
        ({"metric": "unknown", "user_id": "ada"}, "the project has no metric 'unknown'"),
        ({"metric": "", "user_id": "ada"}, "the project has no metric ''"),
        ({"metric": "errors"}, "it names no user"),
        ({"metric": "errors", "user_id": "", "user_email": ""}, "it names no user"),
        ({"metric": "errors", "user_id": "x" * 1025}, "the user's identifier has more than 1024 characters"),
        ({"metric": "errors", "user_id": "a\0b"}, "the user's identifier must not contain the NUL character"),
        ({**ERROR, "value": 1}, "the metric errors is binary, and has no value"),
        ({**ERROR, "metric": "latency"}, "the metric latency needs a value"),
        ({**ERROR, "metric": "latency", "value": 1e16}, "value is out of range"),
        ({**ERROR, "metric": "clicks", "value": -1}, "value is out of range"),
        ({**ERROR, "id": "x" * 256}, "id has more than 255 characters"),
        ({**ERROR, "at": "2020-01-01T00:00:00Z"}, "at is more than a day ago"),
        ({**ERROR, "at": "2999-01-01T00:00:00Z"}, "at is more than a minute ahead of the server's clock"),
    ],
)
async def test_an_event_that_cannot_count_is_named_and_the_others_count(
    flagstaff: Flagstaff, client: Caller, sdk_key: str, event: Json, reason: str
) -> None:
    answer = await send_events(client, sdk_key, ERROR, event, {**ERROR, "user_id": "grace"})
    assert answer["accepted"] == 2
    ((index, said),) = ((each["index"], each["reason"]) for each in answer["ignored"])
    assert (index, said.startswith(reason)) == (1, True), said
    assert [unit for _, unit, *_ in await stored(flagstaff)] == ["ada", "grace"]


@pytest.mark.both_databases
async def test_events_are_stored_in_their_order_with_their_time_and_value(
    flagstaff: Flagstaff, client: Caller, sdk_key: str
) -> None:
    at = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=23)
    before = tables.microseconds(datetime.now(UTC))
    answer = await send_events(
        client,
        sdk_key,
        {"metric": "latency", "user_id": "ada", "value": 12.5, "at": at.isoformat()},
        {"metric": "clicks", "user_email": "Ada@Example.com", "value": 3},
        {"metric": "clicks", "user_id": "ada", "user_email": "ada@example.com"},
        {"metric": "errors", "user_id": "Zoë 😀"},
    )
    assert answer == {"accepted": 4, "ignored": []}
    first, *others = await stored(flagstaff)
    assert first[:5] == ("latency", "ada", tables.microseconds(at), 12.5, KeyKind.SERVER)
    assert [(metric, unit, value) for metric, unit, _, value, *_ in others] == [
        ("clicks", "ada@example.com", 3.0),
        ("clicks", "ada", None),
        ("errors", "Zoë 😀", None),
    ]
    assert all(before <= time <= tables.microseconds(datetime.now(UTC)) for _, _, time, *_ in others)


@pytest.mark.both_databases
async def test_the_id_of_a_pages_event_makes_no_servers_event_a_repetition(
    flagstaff: Flagstaff, ada: Caller, project: Json, sdk_key: str
) -> None:
    browser_key = (await create_key(ada, project, kind="browser"))["key"]
    once = {**ERROR, "id": "order-1"}
    for key in (browser_key, sdk_key, browser_key, sdk_key):
        await send_events(ada, key, once)
        await until_stored(flagstaff)
    assert [each.key_kind for each in await stored(flagstaff)] == [KeyKind.BROWSER, KeyKind.SERVER]


@pytest.mark.both_databases
async def test_an_event_with_an_id_counts_once_however_often_it_is_sent(
    flagstaff: Flagstaff, client: Caller, sdk_key: str
) -> None:
    once = {**ERROR, "id": "e-1"}
    await send_events(client, sdk_key, once, once, {**once, "metric": "clicks"})
    await until_stored(flagstaff)
    await send_events(client, sdk_key, once, {**ERROR, "id": "e-2"}, ERROR, ERROR)
    assert [metric for metric, *_ in await stored(flagstaff)] == ["errors", "clicks", "errors", "errors", "errors"]


async def test_an_event_counts_for_the_attribute_that_a_flag_is_sticky_by(
    flagstaff: Flagstaff, ada: Caller, environment: Json, client: Caller, sdk_key: str
) -> None:
    await ada.create_flag(environment, stickiness="company", rollout_percentage=50)
    await send_events(
        client,
        sdk_key,
        {**ERROR, "attributes": {"company": "acme", "plan": "gold"}},
        {"metric": "errors", "attributes": {"company": 7}},
        {**ERROR, "attributes": {"company": None}},
    )
    assert [unit for _, unit, *_ in await stored(flagstaff)] == [
        "ada",
        "\x1fcompany\x1facme",
        "\x1fcompany\x1f7",
        "ada",
    ]


@pytest.mark.both_databases
async def test_unknown_metrics_are_counted_where_people_see_them(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json, sdk_key: str
) -> None:
    path = f"{project_path(project)}/unknown-metrics"
    assert (await eve.get(path)).status_code == 404
    assert (await ada.get(path)).json() == []
    signup = {"metric": "signups", "user_id": "ada"}
    await send_events(ada, sdk_key, ERROR, signup, {"metric": "Not a key", "user_id": "ada"})
    await until_stored(flagstaff)
    await send_events(ada, sdk_key, ERROR, signup, signup)
    await until_stored(flagstaff)
    (found,) = (await ada.get(path)).json()
    assert found == {
        "environment_id": environment["id"],
        "metric": "signups",
        "events": 3,
        "last_at": found["last_at"],
    }


@pytest.mark.both_databases
async def test_of_an_environment_so_many_unknown_metrics_are_counted(
    flagstaff: Flagstaff, ada: Caller, project: Json, sdk_key: str
) -> None:
    path = f"{project_path(project)}/unknown-metrics"
    for start in (0, 90):
        await send_events(ada, sdk_key, ERROR, *({"metric": f"m{start + n}", "user_id": "ada"} for n in range(90)))
        await until_stored(flagstaff)
    assert len((await ada.get(path)).json()) == 100


@pytest.mark.both_databases
async def test_a_metric_is_known_at_once_and_unknown_after_its_end(ada: Caller, project: Json, sdk_key: str) -> None:
    event = {"metric": "signups", "user_id": "ada"}
    assert (await send_events(ada, sdk_key, event))["accepted"] == 0
    metric = await create_metric(ada, project, key="signups")
    assert (await send_events(ada, sdk_key, event))["accepted"] == 1
    await ada.delete(f"{project_path(project)}/metrics/{metric['id']}")
    assert (await send_events(ada, sdk_key, event))["accepted"] == 0


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "2/minute"}])
async def test_the_limit_is_that_of_evaluations_and_counts_for_itself(client: Caller, sdk_key: str) -> None:
    body = {"environment": "production", "events": [ERROR]}
    statuses = [(await post(client, sdk_key, body)).status_code for _ in range(3)]
    assert statuses == [202, 202, 429]
    assert (await client.evaluate(sdk_key)).status_code == 200


async def test_an_address_may_send_20_000_events_a_minute_in_whole_requests(call_from: Call, sdk_key: str) -> None:
    server, other = call_from("192.0.2.7"), call_from("198.51.100.1")
    body = {"environment": "production", "events": [ERROR] * 1_000}
    assert (await post(server, sdk_key, {**body, "events": [ERROR]})).status_code == 202
    assert [(await post(server, sdk_key, body)).status_code for _ in range(21)] == [202] * 20 + [429]
    assert (await post(server, sdk_key, {**body, "events": []})).status_code == 202
    assert (await post(other, sdk_key, body)).status_code == 202
