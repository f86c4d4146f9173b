"""GET …/environments/{env_id}/callers."""

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from flagstaff.applications.callers_service import KEPT
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.history.callers import Caller as Asking
from flagstaff.history.callers import SdkProtocol
from flagstaff.history.store.callers import CALLERS_MAX, CALLERS_OF_KEY_MAX, list_called_environments
from flagstaff.values.moments import format_moment
from tests.support.api import Caller, Json, environment_path, field_errors
from tests.support.clock import Clock
from tests.support.sdk_keys import create_key
from tests.support.sessions import PASSWORD, log_in
from tests.web.conftest import Call

BODY = {"environment": "production", "context": {"user_id": "user-1"}}


def callers_path(environment: Json) -> str:
    return f"{environment_path(environment)}/callers"


async def stored(flagstaff: Flagstaff, caller: Caller, environment: Json, **query: Any) -> list[Json]:
    """Return the callers, after storing those that wait."""
    await flagstaff.applications.write_callers()
    answer = await caller.get(callers_path(environment), params=query)
    assert answer.status_code == 200, answer.text
    found: list[Json] = answer.json()
    return found


async def log_in_again(flagstaff: Flagstaff, ada: Caller) -> None:
    """Log in again, because sessions end after a day."""
    token = await log_in(flagstaff, email="ada@example.com", password=PASSWORD)
    ada.headers["authorization"] = f"Bearer {token}"


def asking(environment: Json, key_id: UUID | None = None, **values: Any) -> Asking:
    named: Json = {"protocol": SdkProtocol.EVALUATE, "user_agent": "shop/1.0", "network": "192.0.2.0/24"}
    return Asking(environment_id=UUID(environment["id"]), key_id=key_id, **{**named, **values})


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    assert (await client.get(callers_path(environment))).status_code == 401


async def test_an_environment_is_listed_nowhere_but_in_its_place(ada: Caller, eve: Caller, environment: Json) -> None:
    missing = {**environment, "id": str(uuid4())}
    for caller, place in ((eve, environment), (ada, missing)):
        assert (await caller.get(callers_path(place))).status_code == 404


async def test_a_malformed_query_is_refused_at_its_field(ada: Caller, environment: Json) -> None:
    for query, field in (
        ({"sdk_key_id": "x"}, "sdk_key_id"),
        ({"since": "yesterday"}, "since"),
        ({"key": "x"}, "key"),
    ):
        assert list(field_errors(await ada.get(callers_path(environment), params=query))) == [field]


async def test_nobody_has_asked_at_first(flagstaff: Flagstaff, ada: Caller, environment: Json) -> None:
    assert await stored(flagstaff, ada, environment) == []


@pytest.mark.both_databases
async def test_each_protocol_key_user_agent_and_network_is_a_caller(
    flagstaff: Flagstaff, ada: Caller, call_from: Call, project: Json, environment: Json
) -> None:
    key, browser = await create_key(ada, project), await create_key(ada, project, kind="browser")
    bearer = {"authorization": f"Bearer {browser['key']}", "user-agent": "Mozilla/5.0"}
    server = {"authorization": key["key"], "user-agent": "unleash-python"}
    v4, v6 = call_from("203.0.113.77"), call_from("2001:db8:1:2:3:4:5:6")
    for caller, path, body, headers in (
        (v4, "/sdk/v1/evaluate", BODY, {"x-sdk-key": key["key"], "user-agent": "shop/1.0"}),
        (v4, "/sdk/v1/evaluate", BODY, {"x-sdk-key": key["key"], "user-agent": "shop/1.0"}),
        (v4, "/sdk/v1/evaluate", BODY, {"x-sdk-key": project["sdk_key"], "user-agent": ""}),
        (v6, "/ofrep/v1/evaluate/flags", {"context": {"targetingKey": "a"}}, bearer),
        (v6, "/unleash/api/frontend", {"context": {}}, bearer),
        (v6, "/sdk/v1/events", {"environment": "production", "events": []}, {"x-sdk-key": browser["key"]}),
    ):
        assert (await caller.post(path, json=body, headers=headers)).is_success, path
    assert (await v4.get("/unleash/api/client/features", headers=server)).status_code == 200
    found = await stored(flagstaff, ada, environment)
    by_protocol = {
        (each["protocol"], each["sdk_key_id"], each["network"], each["user_agent"]): each["requests_last_24_hours"]
        for each in found
    }
    agent = v6.headers["user-agent"]
    assert by_protocol == {
        ("evaluate", key["id"], "203.0.113.0/24", "shop/1.0"): 2,
        ("evaluate", None, "203.0.113.0/24", ""): 1,
        ("ofrep", browser["id"], "2001:db8:1::/48", "Mozilla/5.0"): 1,
        ("unleash_frontend", browser["id"], "2001:db8:1::/48", "Mozilla/5.0"): 1,
        ("events", browser["id"], "2001:db8:1::/48", agent): 1,
        ("unleash", key["id"], "203.0.113.0/24", "unleash-python"): 1,
    }
    assert len(await stored(flagstaff, ada, environment, sdk_key_id=browser["id"])) == 3


async def test_a_caller_has_its_rate_and_its_first_and_last_use(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    counts, began = flagstaff.applications.caller_counts, clock()
    counts.add(asking(environment), 600)
    assert await stored(flagstaff, ada, environment) == [
        {
            "protocol": "evaluate",
            "sdk_key_id": None,
            "user_agent": "shop/1.0",
            "network": "192.0.2.0/24",
            "is_others": False,
            "requests_per_minute": 120.0,
            "requests_last_24_hours": 600,
            "first_used_at": format_moment(began),
            "last_used_at": format_moment(began),
        }
    ]
    clock.advance(minutes=7, seconds=30)
    (found,) = await stored(flagstaff, ada, environment)
    assert found["requests_per_minute"] == 60.0  # half of the five minutes before the current five
    counts.add(asking(environment), 10)
    (found,) = await stored(flagstaff, ada, environment)
    assert (found["requests_per_minute"], found["requests_last_24_hours"]) == (62.0, 610)
    assert (found["first_used_at"], found["last_used_at"]) == (format_moment(began), format_moment(clock()))
    clock.advance(minutes=10)
    (found,) = await stored(flagstaff, ada, environment)
    assert found["requests_per_minute"] == 0.0
    clock.advance(hours=24)
    await log_in_again(flagstaff, ada)
    (found,) = await stored(flagstaff, ada, environment)
    assert found["requests_last_24_hours"] == 0


@pytest.mark.both_databases
async def test_counts_of_several_processes_add_up_in_whatever_order_they_are_stored(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    counts = flagstaff.applications.caller_counts
    clock.advance(minutes=5)
    counts.add(asking(environment), 5)
    await flagstaff.applications.write_callers()
    clock.advance(minutes=-5)  # another process, which was late to store the five minutes before
    counts.add(asking(environment), 10)
    await flagstaff.applications.write_callers()
    clock.advance(minutes=5)
    (found,) = await stored(flagstaff, ada, environment)
    assert (found["requests_per_minute"], found["requests_last_24_hours"]) == (3.0, 15)
    assert found["last_used_at"] == format_moment(clock())


@pytest.mark.both_databases
async def test_what_a_wrong_clock_has_left_ends_when_it_is_right_again(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    counts = flagstaff.applications.caller_counts
    clock.advance(days=365)
    for number in range(CALLERS_OF_KEY_MAX):
        counts.add(asking(environment, user_agent=f"in a year {number}"), 600)
    await flagstaff.applications.write_callers()
    clock.advance(days=-365)
    counts.add(asking(environment, user_agent="in a year 0"), 10)
    counts.add(asking(environment, user_agent="now"), 5)
    listed = {each["user_agent"]: each for each in await stored(flagstaff, ada, environment)}
    now = format_moment(clock())
    for name, requests in (("in a year 0", 10), ("now", 5)):
        found = listed[name]
        assert (found["requests_per_minute"], found["requests_last_24_hours"]) == (requests / 5, requests)
        assert (found["first_used_at"], found["last_used_at"]) == (now, now)
    assert {listed[each]["requests_per_minute"] for each in listed.keys() - {"in a year 0", "now"}} == {0.0}


async def test_only_those_since_a_time_are_listed_and_those_that_asked_last_first(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    counts = flagstaff.applications.caller_counts
    for agent in ("a", "b", "c"):
        counts.add(asking(environment, user_agent=agent), 1)
        await flagstaff.applications.write_callers()
        clock.advance(minutes=1)
    since = format_moment(clock() - timedelta(minutes=2))
    found = await stored(flagstaff, ada, environment, since=since)
    assert [each["user_agent"] for each in found] == ["c", "b"]


@pytest.mark.both_databases
@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "1/minute"}])
async def test_a_refused_request_is_counted_if_its_key_and_its_client_are_accepted(
    flagstaff: Flagstaff, ada: Caller, call_from: Call, project: Json, environment: Json
) -> None:
    key = await create_key(ada, project)
    headers = {"x-sdk-key": key["key"]}
    invalid = {"environment": "production", "contxt": {}}
    first, second = call_from("203.0.113.1"), call_from("198.51.100.1")
    assert (await first.post("/sdk/v1/evaluate", json=invalid, headers=headers)).status_code == 400
    assert (await first.post("/sdk/v1/evaluate", json=BODY, headers=headers)).status_code == 429
    assert (await second.post("/sdk/v1/evaluate", json=BODY, headers={"x-sdk-key": "x"})).status_code == 401
    (found,) = await stored(flagstaff, ada, environment)
    assert (found["network"], found["requests_last_24_hours"]) == ("203.0.113.0/24", 1)


async def test_a_long_or_odd_user_agent_is_shortened_and_kept(
    flagstaff: Flagstaff, ada: Caller, client: Caller, project: Json, environment: Json
) -> None:
    key = await create_key(ada, project)
    for agent in (b"x" * 5000, "Füchse 🦊".encode(), b"\xff\xfe"):
        headers = [(b"x-sdk-key", key["key"].encode()), (b"user-agent", agent)]
        assert (await client.post("/sdk/v1/evaluate", json=BODY, headers=headers)).status_code == 200
    found = await stored(flagstaff, ada, environment)
    assert {each["user_agent"] for each in found} == {"x" * 200, "Füchse 🦊", "\ufffd\ufffd"}


@pytest.mark.both_databases
async def test_a_key_has_so_many_callers_and_the_rest_are_counted_together(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    """As if somebody sent a different user agent with each request, with a browser's key, which is public."""
    counts, key, other = flagstaff.applications.caller_counts, uuid4(), uuid4()
    for number in range(CALLERS_OF_KEY_MAX + 5):
        counts.add(asking(environment, key, user_agent=f"agent-{number}"), 1)
    counts.add(asking(environment, other), 7)
    found = await stored(flagstaff, ada, environment)
    assert len(found) == CALLERS_OF_KEY_MAX + 2
    (others,) = (each for each in found if each["is_others"])
    assert (others["requests_last_24_hours"], others["network"], others["user_agent"]) == (5, None, "")
    assert others["sdk_key_id"] == str(key)
    counts.add(asking(environment, key, user_agent="late"), 1)
    counts.add(asking(environment, key, user_agent="agent-3"), 1)
    found = await stored(flagstaff, ada, environment, sdk_key_id=str(key))
    assert len(found) == CALLERS_OF_KEY_MAX + 1
    by_agent = {each["user_agent"]: each["requests_last_24_hours"] for each in found if not each["is_others"]}
    assert (by_agent["agent-3"], "late" in by_agent) == (2, False)
    clock.advance(days=1, seconds=1)
    await log_in_again(flagstaff, ada)
    counts.add(asking(environment, key, user_agent="agent-4"), 1)
    counts.add(asking(environment, key, user_agent="late"), 1)  # it takes the place of one that has left
    found = await stored(flagstaff, ada, environment, sdk_key_id=str(key))
    assert len(found) == CALLERS_OF_KEY_MAX + 1
    assert {"late", "agent-4"} <= {each["user_agent"] for each in found}


@pytest.mark.both_databases
async def test_a_new_caller_takes_no_place_of_one_that_asks_at_the_same_time(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock
) -> None:
    counts, key = flagstaff.applications.caller_counts, uuid4()
    agents = [f"agent-{number}" for number in range(CALLERS_OF_KEY_MAX)]
    for agent in agents:
        counts.add(asking(environment, key, user_agent=agent), 1)
    await stored(flagstaff, ada, environment)
    clock.advance(days=1, seconds=1)
    await log_in_again(flagstaff, ada)
    for agent in ("new", *agents[1:], "newer"):
        counts.add(asking(environment, key, user_agent=agent), 1)
    found = await stored(flagstaff, ada, environment, sdk_key_id=str(key))
    assert {each["user_agent"] for each in found if not each["is_others"]} == {"new", *agents[1:]}
    assert sum(each["requests_last_24_hours"] for each in found if each["is_others"]) == 1


async def test_an_environment_has_so_many_callers(flagstaff: Flagstaff, ada: Caller, environment: Json) -> None:
    counts = flagstaff.applications.caller_counts
    for _ in range(CALLERS_MAX // CALLERS_OF_KEY_MAX + 1):
        key = uuid4()
        for number in range(CALLERS_OF_KEY_MAX):
            counts.add(asking(environment, key, user_agent=f"agent-{number}"), 1)
    found = await stored(flagstaff, ada, environment)
    assert len(found) == CALLERS_MAX
    others = await stored(flagstaff, ada, environment, sdk_key_id=str(key))
    assert [(each["is_others"], each["requests_last_24_hours"]) for each in others] == [(True, CALLERS_OF_KEY_MAX)]


@pytest.mark.both_databases
async def test_callers_go_after_thirty_days_and_with_their_environment(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, clock: Clock
) -> None:
    counts, callers = flagstaff.applications.caller_counts, flagstaff.applications.callers
    canary = await ada.create_environment(project)
    counts.add(asking(environment, user_agent="old"), 1)
    await flagstaff.applications.write_callers()
    clock.advance(days=29)
    for place in (environment, {**canary, "project_id": project["id"]}):
        counts.add(asking(place, user_agent="new"), 1)
    await flagstaff.applications.write_callers()
    clock.advance(days=1, seconds=1)
    await log_in_again(flagstaff, ada)
    assert (await ada.delete(f"/api/projects/{project['id']}/environments/{canary['id']}")).status_code == 204
    await callers.purge(clock())
    found = await stored(flagstaff, ada, environment, since=format_moment(clock() - 2 * KEPT))
    assert [each["user_agent"] for each in found] == ["new"]
    async with flagstaff.database.read_history() as connection:
        assert await list_called_environments(connection) == {UUID(environment["id"])}
