"""Attributes that applications send by mistake or on purpose: they cause no error, and match nothing."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from flagstaff.conditions.operators import Operator
from tests.support.api import Caller, Json, flag_path
from tests.support.conditions import TYPICAL

# In JSON, because some have no other form.
AWKWARD = {
    "null": b"null",
    "an object": b'{"x":"pro"}',
    "an empty list": b"[]",
    "lists in a list": b'[["pro"],[5]]',
    "a list of 101": b"[" + b'"pro",' * 100 + b'"pro"]',
    "a number beyond doubles": b"1e400",
    "5,000 digits": b"9" * 5000,
    "1,025 characters": b'"' + b"pro5" * 256 + b'p"',
    "250 KiB": b'"' + b"pro5" * 64_000 + b'"',
    "a list of 8,000": b"[" + b"5," * 7_999 + b"5]",
    "half a character": b'"pro\\ud83d"',
    "the other half, in a list": b'["pro","\\uDE00\\ud83d"]',
    "a thousand halves": b'"' + b"\\ude00" * 1000 + b'"',
    "not UTF-8": b'"pro\xff"',
    "100 levels of lists": b"[" * 100 + b'"pro"' + b"]" * 100,
    "100 levels of objects": b'{"x":' * 100 + b"5" + b"}" * 100,
    "500 levels": b"[" * 500 + b"]" * 500,
}
Body = Mapping[str, Any]


@pytest.fixture
def environ() -> dict[str, str]:
    """No limits, and a budget for conditions with every operator."""
    return {
        "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
        "FLAGSTAFF_API_RATE_LIMIT": "off",
        "FLAGSTAFF_MAX_CONDITION_WORK": "100000",
    }


@pytest.fixture
async def flags(ada: Caller, project: Json, environment: Json) -> Mapping[str, bool]:
    """Create a flag for each operator, plain and negated, on the attribute `x`, and one for a segment with such a rule.

    Return whether each is on, by key, for a user without the attribute.
    """
    found = {}
    for operator, values in TYPICAL.items():
        for negate in (False, True):
            key = f"{'not' if negate else 'is'}-{operator.replace('_', '-')}"
            condition = {"attribute": "x", "operator": operator, "values": list(values), "negate": negate}
            flag = await ada.create_flag(environment, key=key, fallthrough="off")
            await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[condition])
            found[key] = operator is Operator.NOT_IN and not negate
    await ada.create_segment(project, conditions=[{"attribute": "x", "operator": "contains", "values": ["pro"]}])
    await ada.create_rule(
        await ada.create_flag(environment, key="segment", fallthrough="off"), rule_type="segment", rule_value="beta"
    )
    await ada.create_flag(environment, key="sticky", rollout_percentage=99, stickiness="x")
    return {**found, "segment": False, "sticky": False}


async def ask(client: Caller, project: Json, attributes: bytes) -> dict[str, bool]:
    """Return which flags are on for a user with these attributes, as JSON."""
    body = b'{"environment":"production","context":{"custom_attributes":' + attributes + b"}}"
    answer = await client.post("/sdk/v1/evaluate", content=body, headers={"x-sdk-key": project["sdk_key"]})
    assert answer.status_code == 200, answer.text
    return {key: flag["enabled"] for key, flag in answer.json()["flags"].items()}


async def test_an_awkward_attribute_counts_as_missing_for_every_operator(
    client: Caller, project: Json, flags: Mapping[str, bool]
) -> None:
    assert await ask(client, project, b"{}") == flags
    for why, value in AWKWARD.items():
        assert await ask(client, project, b'{"x":' + value + b"}") == flags, why


async def test_other_attributes_do_not_matter_however_awkward(
    client: Caller, project: Json, flags: Mapping[str, bool]
) -> None:
    expected = await ask(client, project, b'{"x":"pro"}')
    assert (expected["is-in"], expected["segment"], expected["is-not-in"]) == (True, True, False)
    for why, value in AWKWARD.items():
        assert await ask(client, project, b'{"y":' + value + b',"x":"pro"}') == expected, why
    many = b"".join(b'"y%d":%d,' % (number, number) for number in range(999))
    assert await ask(client, project, b"{" + many + b'"x":"pro"}') == expected
    assert await ask(client, project, b'{"x":{},"x":"pro"}') == expected


async def test_one_flag_alone_takes_them_as_well(client: Caller, project: Json, flags: Mapping[str, bool]) -> None:
    for why, value in AWKWARD.items():
        body = b'{"environment":"production","context":{"custom_attributes":{"x":' + value + b"}}}"
        for key in ("not-contains", "is-not-in"):
            path, headers = f"/sdk/v1/evaluate/{key}", {"x-sdk-key": project["sdk_key"]}
            answer = await client.post(path, content=body, headers=headers)
            assert answer.json()["enabled"] is flags[key], why


@pytest.mark.parametrize(
    "company",
    [None, True, "", [], ["a"], {}, {"a": {"b": []}}, "c" * 1025, 10**400, [[[[]]]], ["a"] * 2_000],
    ids=lambda company: str(company)[:10],
)
async def test_a_value_that_identifies_nobody_is_outside_the_rollout_and_never_an_error(
    client: Caller, ada: Caller, project: Json, environment: Json, company: Any
) -> None:
    await ada.create_flag(environment, key="flag", rollout_percentage=99, stickiness="company")
    body = json.dumps({"environment": "production", "context": {"custom_attributes": {"company": company}}})
    answer = await client.post("/sdk/v1/evaluate", content=body, headers={"x-sdk-key": project["sdk_key"]})
    assert answer.json()["flags"]["flag"]["enabled"] is False


async def test_attributes_beyond_eight_kibibytes_count_as_missing(
    ada: Caller, client: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    for attribute in ("groups", "plan", "region"):
        condition = {"attribute": attribute, "operator": "in", "values": ["beta"]}
        await ada.create_rule(flag, rule_type="attributes", rule_value=None, conditions=[condition])
    await ada.put(flag_path(flag), json={"fallthrough": "off"})
    groups = ["beta", *(f"group-{number:033}" for number in range(90))]

    async def is_on(**attributes: object) -> bool:
        answer = await client.evaluate(project["sdk_key"], context={"custom_attributes": attributes})
        enabled: bool = answer.json()["flags"][flag["key"]]["enabled"]
        return enabled

    assert await is_on(groups=groups)
    assert await is_on(groups="x" * 9_000, plan="beta")
    assert await is_on(plan="x" * 8_100, region="x" * 100) is False
    assert await is_on(plan="x" * 8_190, region="beta") is False
