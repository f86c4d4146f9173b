"""Variants of flags: which are refused, which are kept, and the results of evaluations."""

from typing import Any

import pytest

from flagstaff.evaluation.bucketing import variant_position
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path

VALID = {"name": "Checkout", "key": "checkout"}
RED = {"key": "red", "weight": 1, "value": "#f00"}
BLUE = {"key": "blue", "weight": 3, "value": "#00f"}
WEIGHT_RULE = "must be a whole number from 0 to 1000"

INVALID: list[tuple[Any, dict[str, str]]] = [
    (None, {"variants": "must be a list"}),
    ([RED, "blue"], {"variants.1": "must be an object"}),
    ([RED, {**BLUE, "key": " "}], {"variants.1.key": "must not be empty"}),
    ([{**RED, "key": "k" * 129}], {"variants.0.key": "must be at most 128 characters long"}),
    ([{**RED, "weight": -1}], {"variants.0.weight": WEIGHT_RULE}),
    ([{**RED, "weight": 1001}], {"variants.0.weight": WEIGHT_RULE}),
    ([{**RED, "weight": 0.5}], {"variants.0.weight": "must be a whole number"}),
    ([{**RED, "weight": 1.0}], {"variants.0.weight": "must be a whole number"}),
    ([{**RED, "weight": True}], {"variants.0.weight": "must be a whole number"}),
    ([{**RED, "weight": "1"}], {"variants.0.weight": "must be a whole number"}),
    ([{**RED, "weight": 10**400}], {"variants.0.weight": WEIGHT_RULE}),
    ([{"key": "red", "weight": 1}], {"variants.0.value": "is required"}),
    ([{**RED, "value": None}], {"variants.0.value": "must be a string, a number, a boolean or an object"}),
    ([{**RED, "value": ["a"]}], {"variants.0.value": "must be a string, a number, a boolean or an object"}),
    ([{**RED, "value": "a\x00"}], {"variants.0.value": "must not contain the NUL character"}),
    ([{**RED, "value": {"a": [10**400]}}], {"variants.0.value": f"must not contain integers beyond {2**53 - 1}"}),
    ([{**RED, "wieght": 1}], {"variants.0.wieght": "is not a known field; did you mean weight?"}),
    ([RED, RED], {"variants": "must have different keys; 'red' occurs twice"}),
    ([RED, {**RED, "key": " red "}], {"variants": "must have different keys; 'red' occurs twice"}),
    ([RED, {**BLUE, "value": 1}], {"variants": "must have values of one type; these are numbers and strings"}),
    (
        [{**RED, "value": 0}, {**BLUE, "value": False}],
        {"variants": "must have values of one type; these are booleans and numbers"},
    ),
    ([RED, {**BLUE, "value": {}}], {"variants": "must have values of one type; these are objects and strings"}),
    ([{**RED, "weight": 0}], {"variants": "must have a weight above 0 for at least one variant"}),
    ([{**RED, "key": str(n)} for n in range(51)], {"variants": "must have at most 50 items"}),
]


@pytest.fixture
def environ() -> dict[str, str]:
    """No limit."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}


async def evaluate(client: Caller, project: Json, key: str = "checkout", **context: Any) -> Json:
    answer = await client.evaluate(project["sdk_key"], context=context)
    found: Json = answer.json()["flags"][key]
    return found


async def test_each_invalid_variant_is_named_and_nothing_is_created_or_changed(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, variants=[RED])
    path = f"{environment_path(environment)}/flags"
    for given, expected in INVALID:
        assert field_errors(await ada.post(path, json={**VALID, "variants": given})) == expected, given
        answer = await ada.put(flag_path(flag), json={"enabled": False, "variants": given})
        assert field_errors(answer) == expected, given
    assert (await ada.get(path)).json() == [flag]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ('{"a": [1e999]}', "must not contain numbers that JSON cannot hold"),
        ('"\\ud83d"', "must be valid Unicode, without lone surrogates"),
        ('{"\\u0000": 1}', "must not contain the NUL character"),
        ('{"a":' * 21 + "1" + "}" * 21, "must not be nested more than 20 levels deep"),
        ('{"a":' * 500 + "1" + "}" * 500, "must not be nested more than 20 levels deep"),
    ],
    ids=lambda text: text[:20],
)
async def test_a_value_that_no_client_could_read_is_refused(
    ada: Caller, environment: Json, value: str, message: str
) -> None:
    flag = await ada.create_flag(environment, variants=[RED])
    body = f'{{"variants": [{{"key": "red", "weight": 1, "value": {value}}}]}}'
    headers = {"content-type": "application/json"}
    answer = await ada.put(flag_path(flag), content=body, headers=headers)
    assert field_errors(answer) == {"variants.0.value": message}
    assert (await ada.get(flag_path(flag))).json() == flag


async def test_variants_are_kept_as_given_and_replaced_whole(ada: Caller, environment: Json) -> None:
    values: list[Any] = ["ü 😀", 1, 1.0, -2.5e-7, True, {"a": [1, None, {"b": "c"}], "": False}]
    for number, value in enumerate(values):
        flag = await ada.create_flag(environment, key=f"flag-{number}", variants=[{**RED, "value": value}])
        found = (await ada.get(flag_path(flag))).json()["variants"]
        assert found == [{**RED, "value": value}]
        assert type(found[0]["value"]) is type(value)
        assert (await ada.put(flag_path(flag), json={"variants": [RED, BLUE]})).json()["variants"] == [RED, BLUE]
        assert (await ada.put(flag_path(flag), json={"variants": []})).json()["variants"] == []


async def test_a_value_of_another_type_is_a_change(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, variants=[{**RED, "value": 1}])
    updated = (await ada.put(flag_path(flag), json={"variants": [{**RED, "value": True}]})).json()
    assert updated["variants"][0]["value"] is True
    assert updated["updated_at"] > flag["updated_at"]


async def test_users_are_divided_by_weight(client: Caller, ada: Caller, project: Json, environment: Json) -> None:
    await ada.create_flag(environment, key="checkout", variants=[RED, {**RED, "key": "none", "weight": 0}, BLUE])
    for number in range(30):
        user = f"user-{number}"
        variant = RED if variant_position("checkout", user, 4) < 1 else BLUE
        assert await evaluate(client, project, user_id=user) == {
            "enabled": True,
            "reason": "Flag enabled globally",
            "variant": variant["key"],
            "value": variant["value"],
        }
    assert (await evaluate(client, project))["variant"] == "red"


async def test_off_is_without_a_variant_and_other_flags_have_none(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, key="off", enabled=False, variants=[RED])
    await ada.create_flag(environment, key="outside", fallthrough="off", variants=[RED])
    await ada.create_flag(environment, key="plain")
    for key in ("off", "outside"):
        found = await evaluate(client, project, key)
        assert (found["enabled"], found["variant"], found["value"]) == (False, None, None)
    assert await evaluate(client, project, "plain") == {"enabled": True, "reason": "Flag enabled globally"}


async def test_a_rule_gives_a_variant_of_its_flag(
    client: Caller, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, key="checkout", variants=[{**RED, "weight": 0}, BLUE])
    path = f"{flag_path(flag)}/rules"
    rule = {"rule_type": "user_id", "rule_value": "ada"}
    for given, message in (("green", "must be the key of a variant of the flag"), (7, "must be a string")):
        assert field_errors(await ada.post(path, json={**rule, "variant": given})) == {"variant": message}
    made = (await ada.post(path, json={**rule, "variant": "red"})).json()
    assert (await evaluate(client, project, user_id="ada"))["value"] == "#f00"
    assert (await evaluate(client, project, user_id="eve"))["value"] == "#00f"
    answer = await ada.put(f"{path}/{made['id']}", json={"variant": "green"})
    assert list(field_errors(answer)) == ["variant"]
    assert (await ada.put(f"{path}/{made['id']}", json={"variant": None})).json()["variant"] is None
    assert (await evaluate(client, project, user_id="ada"))["value"] == "#00f"


async def test_a_variant_that_is_used_is_not_removed(ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment, key="checkout", variants=[RED, BLUE])
    rule = await ada.create_rule(flag, variant="red")
    answer = await ada.put(flag_path(flag), json={"variants": [BLUE]})
    assert answer.status_code == 409
    assert "The variant red is given by a rule" in answer.json()["detail"]
    await ada.put(f"{flag_path(flag)}/rules/{rule['id']}", json={"variant": None})
    other = await ada.create_flag(
        environment, key="other", prerequisites=[{"flag_key": "checkout", "variants": ["red"]}]
    )
    answer = await ada.put(flag_path(flag), json={"variants": [BLUE]})
    assert answer.status_code == 409
    assert "is a prerequisite of other" in answer.json()["detail"]
    await ada.delete(flag_path(other))
    assert (await ada.put(flag_path(flag), json={"variants": [BLUE]})).status_code == 200
