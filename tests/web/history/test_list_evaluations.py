"""GET …/environments/{env_id}/evaluations."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.web.history.conftest import Elsewhere, Evaluate, WhenRecorded


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    assert (await client.get(f"{environment_path(environment)}/evaluations")).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(elsewhere: Elsewhere) -> None:
    for caller, path in elsewhere:
        assert (await caller.get(f"{path}/evaluations")).status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=ten", "limit"),
        ("cursor=", "cursor"),
        ("cursor=rubbish", "cursor"),
        ("cursor=" + "F" * 32, "cursor"),
        ("cursor=" + "f" * 33, "cursor"),
        ("since=yesterday", "since"),
        ("since=2026-11-20T10:00:00", "since"),
        ("until=0001-01-01T00:00:00Z", "until"),
        ("until=9999-12-31T23:59:59Z", "until"),
        ("flag_key=Not%20a%20key", "flag_key"),
        ("flag_key=", "flag_key"),
        ("enabled=true", "enabled"),
        ("flag_key=new-checkout&enabled=1", "enabled"),
        ("variant=red", "variant"),
        ("flag_key=new-checkout&variant=", "variant"),
        ("flag_key=new-checkout&variant=%00", "variant"),
        ("flag_key=new-checkout&variant=" + "x" * 129, "variant"),
        ("rule_id=", "rule_id"),
        ("rule_id=rule", "rule_id"),
        ("rule_id=" + "0" * 32, "rule_id"),
        ("user_id=%00", "user_id"),
        ("user_email=%00", "user_email"),
        ("user=ada", "user"),
        ("answers=no", "answers"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_by_name(
    ada: Caller, environment: Json, query: str, field: str
) -> None:
    assert field in field_errors(await ada.get(f"{environment_path(environment)}/evaluations?{query}"))


@pytest.mark.both_databases
async def test_nothing_evaluated_is_an_empty_page(ada: Caller, environment: Json) -> None:
    answer = await ada.get(f"{environment_path(environment)}/evaluations")
    assert (answer.status_code, answer.json()) == (200, {"items": [], "next_cursor": None})


async def test_a_call_that_failed_leaves_no_record(
    ada: Caller, client: Caller, project: Json, environment: Json, evaluate: Evaluate
) -> None:
    assert (await client.evaluate(project["sdk_key"], "nowhere", {"user_id": "ada"})).status_code == 404
    await evaluate("bob")
    items = (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"]
    assert [each["user_id"] for each in items] == ["bob"]


async def test_a_record_contains_the_user_and_each_result_with_its_reason(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    before = datetime.now(UTC)
    await evaluate("ada", user_email="Ada@Example.com")
    (item,) = (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"]
    assert UUID(item.pop("id")).version == 7
    assert before <= datetime.fromisoformat(item.pop("evaluated_at")) <= datetime.now(UTC)
    reason = "Matched user_id targeting rule"
    assert item == {
        "user_id": "ada",
        "user_email": "Ada@Example.com",
        "flags": {flag["key"]: {"enabled": True, "reason": reason}},
    }


@pytest.mark.both_databases
async def test_pages_lead_from_the_newest_to_the_oldest(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await evaluate("a", "b", "c", None, "e")
    path, query, seen = f"{environment_path(environment)}/evaluations", {"limit": "2"}, []
    while True:
        page = (await ada.get(path, params=query)).json()
        seen += [each["user_id"] for each in page["items"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert seen == ["e", None, "c", "b", "a"]


async def test_filters_narrow_it_down(ada: Caller, environment: Json, flag: Json, evaluate: Evaluate) -> None:
    await evaluate("ada", "bob", user_email="One@example.com")
    await ada.post(f"{flag_path(flag)}/toggle")
    await evaluate("ada", user_email="two@example.com")

    async def count(**query: str) -> int:
        answer = await ada.get(f"{environment_path(environment)}/evaluations", params=query)
        return len(answer.json()["items"])

    assert await count(user_id="ada") == 2
    assert await count(user_email="one@EXAMPLE.com") == 2
    assert await count(user_id="ada", user_email="two@example.com") == 1
    assert await count(flag_key=flag["key"]) == 3
    assert await count(flag_key=flag["key"], enabled="true") == 2
    assert await count(flag_key=flag["key"], enabled="false") == 1
    assert await count(flag_key="another") == 0
    now = datetime.now(UTC)
    assert await count(until=now.isoformat(), since=(now - timedelta(hours=1)).isoformat()) == 3
    assert await count(since=now.isoformat()) == 0


async def test_a_deleted_flag_stays_readable(ada: Caller, environment: Json, flag: Json, evaluate: Evaluate) -> None:
    await evaluate("ada")
    await ada.delete(flag_path(flag))
    answer = await ada.get(f"{environment_path(environment)}/evaluations", params={"flag_key": flag["key"]})
    assert [list(each["flags"]) for each in answer.json()["items"]] == [[flag["key"]]]


async def test_environments_do_not_see_each_other(
    ada: Caller, project: Json, environment: Json, evaluate: Evaluate
) -> None:
    await evaluate("ada", environment="staging")
    assert (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"] == []
    staging = await ada.get_environment(project, "staging")
    assert len((await ada.get(f"{environment_path(staging)}/evaluations")).json()["items"]) == 1


async def test_a_rule_and_a_variant_narrow_it_down_and_are_in_the_records_after_both_are_gone(
    ada: Caller, client: Caller, project: Json, environment: Json, when_recorded: WhenRecorded
) -> None:
    variants = [{"key": key, "weight": weight, "value": key} for key, weight in (("red", 0), ("blue", 1))]
    flag = await ada.create_flag(environment, key="varied", variants=variants)
    other = await ada.create_flag(environment, key="other", fallthrough="off")
    gold = {"attribute": "plan", "operator": "in", "values": ["gold"]}
    values = {"rule_type": "attributes", "rule_value": None, "conditions": [gold]}
    rules = [await ada.create_rule(flag, **values, variant="red"), await ada.create_rule(other, **values)]
    for plan in ("gold", "free"):
        await client.evaluate(project["sdk_key"], context={"user_id": plan, "custom_attributes": {"plan": plan}})
    await when_recorded()
    assert (await ada.delete(f"{flag_path(flag)}/rules/{rules[0]['id']}")).status_code == 204
    assert (await ada.delete(flag_path(other))).status_code == 204

    async def found(path: str = environment_path(environment), **query: str) -> list[str]:
        answer = await ada.get(f"{path}/evaluations", params=query)
        assert answer.status_code == 200, answer.text
        return [each["user_id"] for each in answer.json()["items"]]

    for rule in rules:
        assert await found(rule_id=rule["id"]) == ["gold"]
        assert await found(rule_id=rule["id"].upper(), user_id="free") == []
    assert await found(rule_id=rules[0]["id"], flag_key="varied", variant="red", enabled="true") == ["gold"]
    assert await found(rule_id=rules[0]["id"], flag_key="other") == []
    assert await found(rule_id=flag["id"]) == []
    assert await found(flag_key="varied", variant="blue") == ["free"]
    assert await found(flag_path(flag), variant="blue") == ["free"]
    assert await found(flag_path(flag), variant="red", rule_id=rules[0]["id"]) == ["gold"]
    assert await found(flag_path(flag), rule_id=rules[1]["id"]) == []
    _, record = (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"]
    assert record["attributes"] == {"plan": "gold"}
    decided = {key: (each["rule_id"], each["variant"]) for key, each in record["flags"].items()}
    assert decided == {"varied": (rules[0]["id"], "red"), "other": (rules[1]["id"], None)}


async def test_without_answers_it_counts_them_and_has_that_of_the_flag_with_the_key(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    variants = [{"key": key, "weight": 1, "value": key} for key in ("red", "blue")]
    await ada.create_flag(environment, key="varied", variants=variants, rollout_percentage=50)
    await ada.create_flag(environment, key="off", enabled=False)
    await evaluate("ada", *(f"user-{number}" for number in range(8)))
    path = f"{environment_path(environment)}/evaluations"
    whole = (await ada.get(path)).json()["items"]
    for key in (None, "off", "varied", flag["key"]):
        query = {"answers": "false", **({"flag_key": key} if key else {})}
        items = (await ada.get(path, params=query)).json()["items"]
        for item, full in zip(items, whole, strict=True):
            on = sum(each["enabled"] for each in full["flags"].values())
            named = {key: full["flags"][key]} if key else {}
            assert item == {**full, "flags": named, "on": on, "off": 3 - on}
