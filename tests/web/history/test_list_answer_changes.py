"""GET …/environments/{env_id}/evaluations/changes."""

from datetime import UTC, datetime
from uuid import UUID, uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.evaluation.history.layout import LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.support.history import make_batch, make_layout, make_record, write
from tests.web.history.conftest import Elsewhere, Evaluate, WhenRecorded

GONE = {"enabled": False, "reason": "Flag is globally disabled"}
BACK = {"enabled": True, "reason": "Flag enabled globally"}


async def changes(caller: Caller, environment: Json, **query: str) -> Json:
    answer = await caller.get(f"{environment_path(environment)}/evaluations/changes", params=query)
    assert answer.status_code == 200, answer.text
    page: Json = answer.json()
    return page


def outcomes(page: Json) -> list[tuple[str, bool, bool]]:
    return [
        (each["flag_key"], each["before"]["outcome"]["enabled"], each["after"]["outcome"]["enabled"])
        for each in page["items"]
    ]


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    path = f"{environment_path(environment)}/evaluations/changes?user_id=ada"
    assert (await client.get(path)).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(elsewhere: Elsewhere) -> None:
    for caller, path in elsewhere:
        assert (await caller.get(f"{path}/evaluations/changes?user_id=ada")).status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("", "user_id"),
        ("user_id=", "user_id"),
        ("user_id=%00", "user_id"),
        ("user_id=ada&user_email=%00", "user_email"),
        ("user_id=ada&limit=0", "limit"),
        ("user_id=ada&limit=101", "limit"),
        ("user_id=ada&cursor=", "cursor"),
        ("user_id=ada&cursor=" + "0" * 63, "cursor"),
        ("user_id=ada&cursor=" + "G" * 64, "cursor"),
        ("user_id=ada&since=tuesday", "since"),
        ("user_id=ada&tz=Berlin", "tz"),
        ("user_id=ada&flag_key=x", "flag_key"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_by_name(
    ada: Caller, environment: Json, query: str, field: str
) -> None:
    assert field in field_errors(await ada.get(f"{environment_path(environment)}/evaluations/changes?{query}"))


async def test_a_user_without_evaluations_has_none(ada: Caller, environment: Json, evaluate: Evaluate) -> None:
    nothing: Json = {"items": [], "since": None, "next_cursor": None}
    assert await changes(ada, environment, user_id="ada") == nothing
    await evaluate("bob")
    assert await changes(ada, environment, user_id="ada") == nothing


@pytest.mark.both_databases
async def test_it_says_when_a_flags_answer_changed_from_what_to_what_and_why(
    ada: Caller, environment: Json, evaluate: Evaluate
) -> None:
    flag = await ada.create_flag(environment)
    await ada.create_flag(environment, key="other")
    await evaluate("ada", "ada", user_email="Ada@example.com")
    for _ in range(2):
        await ada.post(f"{flag_path(flag)}/toggle")
        await evaluate("ada", "bob", "ada", user_email="Ada@example.com")
    page = await changes(ada, environment, user_id="ada")
    assert page["next_cursor"] is None
    listed = (await ada.get(f"{environment_path(environment)}/evaluations?user_id=ada")).json()["items"]
    newer, older = page["items"]
    assert {each["flag_key"] for each in page["items"]} == {flag["key"]}
    assert (newer["before"]["outcome"], newer["after"]["outcome"]) == (GONE, BACK)
    assert (older["before"]["outcome"], older["after"]["outcome"]) == (BACK, GONE)
    # The last evaluation with one answer and the first with the other.
    places = [each["id"] for each in listed]
    found = [places.index(change[side]["evaluation_id"]) for change in (newer, older) for side in ("after", "before")]
    assert found == [1, 2, 3, 4]
    assert newer["after"]["evaluated_at"] == listed[1]["evaluated_at"]
    assert page["since"] == listed[-1]["evaluated_at"]
    assert await changes(ada, environment, user_email="ada@EXAMPLE.com", user_id="ada") == page
    now = datetime.now(UTC).isoformat()
    assert (await changes(ada, environment, user_id="ada", since=now))["items"] == []
    assert outcomes(await changes(ada, environment, user_id="ada", until=newer["before"]["evaluated_at"])) == [
        (flag["key"], True, False)
    ]


async def test_a_date_begins_in_the_time_zone(ada: Caller, environment: Json, flagstaff: Flagstaff) -> None:
    flag = uuid4()
    for hour, outcome in ((-11, Outcome.ON), (-10.5, Outcome.OFF), (-9, Outcome.ON)):
        layout = make_layout(recorded=(), constant=(LayoutFlag(flag, "search", 0, outcome),))
        batch = make_batch(UUID(environment["id"]), layout, make_record(3600 * hour, recorded=b""))
        await write(flagstaff.database, batch)
    day = {"user_id": "ada", "since": "2026-11-20", "until": "2026-11-21"}
    assert outcomes(await changes(ada, environment, **day)) == []
    berlin = await changes(ada, environment, **day, tz="Europe/Berlin")
    assert outcomes(berlin) == [("search", False, True), ("search", True, False)]


@pytest.mark.both_databases
async def test_pages_lead_from_the_newest_change_to_the_oldest(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await evaluate("bob")
    for _ in range(5):
        await ada.post(f"{flag_path(flag)}/toggle")
        await evaluate("bob")
    found: list[tuple[str, bool, bool]] = []
    query = {"user_id": "bob", "limit": "2"}
    while True:
        page = await changes(ada, environment, **query)
        found += outcomes(page)
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert [after for _, _, after in found] == [False, True, False, True, False]
    assert (await changes(ada, environment, **query))["since"] is not None


async def test_a_flag_that_is_evaluated_alone_is_compared_with_its_own_last_answer(
    ada: Caller, client: Caller, project: Json, environment: Json, evaluate: Evaluate, when_recorded: WhenRecorded
) -> None:
    flag = await ada.create_flag(environment)
    other = await ada.create_flag(environment, key="other")
    await evaluate("ada")
    await ada.post(f"{flag_path(flag)}/toggle")
    for key in ("other", flag["key"], "other"):
        answer = await client.post(
            f"/sdk/v1/evaluate/{key}",
            json={"environment": "production", "context": {"user_id": "ada"}},
            headers={"x-sdk-key": project["sdk_key"]},
        )
        assert answer.status_code == 200
    await when_recorded()
    await ada.delete(flag_path(other))
    await ada.create_flag(environment, key="new")
    await evaluate("ada")
    page = await changes(ada, environment, user_id="ada")
    assert outcomes(page) == [(flag["key"], True, False)]


async def test_another_variant_is_another_answer(
    ada: Caller, client: Caller, project: Json, environment: Json, when_recorded: WhenRecorded
) -> None:
    variants = [{"key": key, "weight": weight, "value": key} for key, weight in (("red", 0), ("blue", 1))]
    flag = await ada.create_flag(environment, variants=variants)
    gold = {"attribute": "plan", "operator": "in", "values": ["gold"]}
    values = {"rule_type": "attributes", "rule_value": None, "conditions": [gold], "variant": "red"}
    rule = await ada.create_rule(flag, **values)
    for plan in ("free", "gold"):
        await client.evaluate(project["sdk_key"], context={"user_id": "ada", "custom_attributes": {"plan": plan}})
    await when_recorded()
    (change,) = (await changes(ada, environment, user_id="ada"))["items"]
    assert (change["before"]["outcome"]["variant"], change["after"]["outcome"]["variant"]) == ("blue", "red")
    assert (change["before"]["outcome"]["rule_id"], change["after"]["outcome"]["rule_id"]) == (None, rule["id"])


@pytest.mark.both_databases
async def test_a_flag_that_is_evaluated_alone_is_compared_across_the_border_of_two_pages(
    ada: Caller, client: Caller, project: Json, environment: Json, when_recorded: WhenRecorded
) -> None:
    flags = [await ada.create_flag(environment, key=key) for key in ("first", "second", "third")]
    for _ in range(2):
        for flag in flags:
            answer = await client.post(
                f"/sdk/v1/evaluate/{flag['key']}",
                json={"environment": "production", "context": {"user_id": "ada"}},
                headers={"x-sdk-key": project["sdk_key"]},
            )
            assert answer.status_code == 200
            await ada.post(f"{flag_path(flag)}/toggle")
    await when_recorded()
    whole = await changes(ada, environment, user_id="ada")
    query, found = {"user_id": "ada", "limit": "1"}, []
    while page := await changes(ada, environment, **query):
        found += page["items"]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert [each[0] for each in outcomes(whole)] == ["third", "second", "first"]
    assert found == whole["items"]
