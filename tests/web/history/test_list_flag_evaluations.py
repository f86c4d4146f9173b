"""GET …/flags/{flag_id}/evaluations."""

import pytest

from tests.support.api import Caller, Json, field_errors, flag_path
from tests.web.history.conftest import Elsewhere, Evaluate


async def test_it_needs_a_token(client: Caller, flag: Json) -> None:
    assert (await client.get(f"{flag_path(flag)}/evaluations")).status_code == 401


async def test_a_flag_that_is_not_there_or_not_yours_is_not_found(flags_elsewhere: Elsewhere) -> None:
    for caller, path in flags_elsewhere:
        assert (await caller.get(f"{path}/evaluations")).status_code == 404


@pytest.mark.parametrize("field", ["limit", "cursor", "since", "until", "enabled", "rule_id", "flag_key", "unknown"])
async def test_a_query_that_makes_no_sense_is_refused_by_name(ada: Caller, flag: Json, field: str) -> None:
    assert field in field_errors(await ada.get(f"{flag_path(flag)}/evaluations", params={field: "rubbish"}))


async def test_each_item_contains_the_result_of_this_flag(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await ada.create_flag(environment, key="another", enabled=False)
    await evaluate("ada", "bob")
    page = (await ada.get(f"{flag_path(flag)}/evaluations")).json()
    assert page["next_cursor"] is None
    assert [item.keys() for item in page["items"]] == [
        {"id", "evaluated_at", "user_id", "user_email", "enabled", "reason"}
    ] * 2
    assert [(item["user_id"], item["enabled"], item["reason"]) for item in page["items"]] == [
        ("bob", True, "Flag enabled globally"),
        ("ada", True, "Matched user_id targeting rule"),
    ]


async def test_it_can_be_narrowed_to_off(ada: Caller, flag: Json, evaluate: Evaluate) -> None:
    await evaluate("ada")
    await ada.post(f"{flag_path(flag)}/toggle")
    await evaluate("bob")
    page = (await ada.get(f"{flag_path(flag)}/evaluations", params={"enabled": "false"})).json()
    assert [item["user_id"] for item in page["items"]] == ["bob"]


async def test_a_flag_with_the_key_of_a_deleted_one_starts_over(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await evaluate("ada")
    await ada.delete(flag_path(flag))
    successor = await ada.create_flag(environment)
    assert (await ada.get(f"{flag_path(successor)}/evaluations")).json()["items"] == []
