"""OFREP's answers, with the same decisions as evaluate's."""

import asyncio
from typing import Any

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.serving import translations
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.sdk_keys import KeyMaker
from tests.web.ofrep.conftest import PATH, Ask

ATTRIBUTE_RULE = {
    "rule_type": "attributes",
    "rule_value": None,
    "conditions": [{"attribute": "plan", "operator": "in", "values": ["pro"]}],
}


async def test_all_flags_are_answered(ada: Caller, environment: Json, ask: Ask) -> None:
    await ada.create_flag(environment, key="on")
    await ada.create_flag(environment, key="off", enabled=False)
    answer = await ask({"targetingKey": "ada"})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert sorted(answer.json()["flags"], key=lambda each: str(each["key"])) == [
        {"key": "off", "value": False, "reason": "STATIC", "variant": "off", "metadata": {}},
        {"key": "on", "value": True, "reason": "STATIC", "variant": "on", "metadata": {}},
    ]
    assert answer.json().keys() == {"flags"}


async def test_one_flag_is_answered(ada: Caller, environment: Json, ask: Ask) -> None:
    variants = [{"key": "blue", "weight": 1, "value": {"shade": 1.0}}]
    await ada.create_flag(environment, key="colour", variants=variants)
    answer = await ask({"targetingKey": "ada"}, flag="colour")
    assert answer.status_code == 200
    decided = '"key":"colour","value":{"shade":1.0},"variant":"blue","reason":"STATIC"'
    version = answer.headers["flagstaff-revision"]
    metadata = f'{{"flagSetId":"{environment["id"]}","version":"{version}"}}'
    assert answer.text == f'{{{decided},"metadata":{metadata}}}'


async def test_the_metadata_of_one_flag_changes_with_the_revision(ada: Caller, environment: Json, ask: Ask) -> None:
    flag = await ada.create_flag(environment, key="checkout")
    before = await ask(flag="checkout")
    await ada.create_flag(environment, key="other")
    changed = await ada.put(flag_path(flag), json={"name": "Checkout"})
    after = await ask(flag="checkout")
    assert before.json()["metadata"]["flagSetId"] == after.json()["metadata"]["flagSetId"] == environment["id"]
    assert int(before.json()["metadata"]["version"]) < int(after.json()["metadata"]["version"])
    assert after.json()["metadata"]["version"] == changed.headers["flagstaff-revision"]


async def test_servers_are_told_the_owner_of_a_flag_and_whether_it_stays(
    ada: Caller, keys: KeyMaker, environment: Json, client: Caller, ask: Ask
) -> None:
    await ada.create_flag(environment, key="cared-for", owner='Team "Pay" <pay@example.com>', keep=True)
    await ada.create_flag(environment, key="plain", variants=[{"key": "blue", "weight": 1, "value": "#00f"}])
    metadata = (await ask(flag="cared-for")).json()["metadata"]
    assert (metadata.pop("owner"), metadata.pop("keep")) == ('Team "Pay" <pay@example.com>', True)
    assert metadata == (await ask(flag="plain")).json()["metadata"]
    assert metadata.keys() == {"flagSetId", "version"}
    browser_key = await keys.create(environment, kind="browser")
    for key in ("", "/cared-for"):
        answer = await client.post(f"{PATH}{key}", json={}, headers={"x-api-key": browser_key})
        assert answer.status_code == 200
        assert "pay@example.com" not in answer.text


async def test_a_changed_owner_is_told_and_changes_no_answer_about_all_flags(
    ada: Caller, environment: Json, ask: Ask
) -> None:
    flag = await ada.create_flag(environment, key="checkout", owner="Team Pay")
    tag = (await ask()).headers["etag"]
    await ada.put(flag_path(flag), json={"owner": "Team Shop"})
    assert (await ask(flag="checkout")).json()["metadata"]["owner"] == "Team Shop"
    await ada.put(flag_path(flag), json={"owner": None})
    assert "owner" not in (await ask(flag="checkout")).json()["metadata"]
    assert (await ask(headers={"if-none-match": tag})).status_code == 304


@pytest.mark.both_databases
async def test_a_flag_that_is_killed_is_false_at_once(ada: Caller, environment: Json, ask: Ask) -> None:
    flag = await ada.create_flag(environment, key="checkout")
    assert (await ask(flag="checkout")).json()["value"] is True
    await ada.post(f"{flag_path(flag)}/toggle")
    for answer in ((await ask(flag="checkout")).json(), (await ask()).json()["flags"][0]):
        assert (answer["value"], answer["reason"]) == (False, "STATIC")


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"context":null}',
        b'{"context":{}}',
        b'{"context":{"targetingKey":null}}',
        b'{"context":{"targetingKey":""}}',
        b'{"context":{"email":null,"nested":{"deep":[1]}},"flags":["x"]}',
        b'{"context":{"note":"\\ud83d"}}',
        b'{"environment":"production","context":{"email":7}}',
    ],
)
async def test_nobody_may_be_asked_about(ada: Caller, environment: Json, ask: Ask, body: bytes) -> None:
    flag = await ada.create_flag(environment, key="checkout")
    await ada.create_rule(flag, rule_value="ada")
    for answer in (await ask(content=body), await ask(flag="checkout", content=body)):
        assert answer.status_code == 200, answer.text


async def test_the_body_may_come_in_chunks_and_with_a_charset(ada: Caller, environment: Json, ask: Ask) -> None:
    await ada.create_flag(environment, key="checkout")

    async def chunks() -> Any:
        for each in (b'{"context":', b'{"targetingKey"', b':"ada"}}'):
            yield each

    answer = await ask(headers={"content-type": "application/json; charset=utf-8"}, content=chunks())
    assert [each["value"] for each in answer.json()["flags"]] == [True]


async def test_the_targeting_key_is_the_user(ada: Caller, environment: Json, ask: Ask) -> None:
    flag = await ada.create_flag(environment, key="checkout", fallthrough="off")
    await ada.create_rule(flag, rule_value="ada")
    assert (await ask({"targetingKey": "ada"}, flag="checkout")).json()["reason"] == "TARGETING_MATCH"
    assert (await ask({"targetingKey": "eve"}, flag="checkout")).json()["value"] is False
    assert (await ask({"user_id": "ada"}, flag="checkout")).json()["value"] is False


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ({"email": "ADA@example.com"}, True),
        ({"user_email": "ada@example.com"}, True),
        ({"email": "eve@example.com", "user_email": "ada@example.com"}, False),
        ({"email": "", "user_email": "ada@example.com"}, True),
        ({"email": 7, "user_email": "ada@example.com"}, True),
        ({"mail": "ada@example.com"}, False),
    ],
)
async def test_the_email_is_in_one_of_two_members(
    ada: Caller, environment: Json, ask: Ask, context: Json, expected: bool
) -> None:
    flag = await ada.create_flag(environment, key="checkout", fallthrough="off")
    await ada.create_rule(flag, rule_type="user_email", rule_value="ada@example.com")
    assert (await ask(context, flag="checkout")).json()["value"] is expected
    assert (await ask(context)).json()["flags"][0]["value"] is expected


async def test_the_other_members_are_custom_attributes(ada: Caller, environment: Json, ask: Ask) -> None:
    flag = await ada.create_flag(environment, key="checkout", fallthrough="off")
    await ada.create_rule(flag, **ATTRIBUTE_RULE)
    for context, expected in (
        ({"plan": "pro"}, True),
        ({"plan": "free"}, False),
        ({"plan": ["pro"]}, True),
        ({}, False),
    ):
        assert (await ask(context, flag="checkout")).json()["value"] is expected
        assert (await ask(context)).json()["flags"][0]["value"] is expected


async def test_the_other_environment_has_its_own_key(
    ada: Caller, keys: KeyMaker, project: Json, environment: Json, ask: Ask
) -> None:
    canary = {**await ada.create_environment(project), "project_id": project["id"]}
    await ada.create_flag(canary, key="checkout")
    assert (await ask()).json() == {"flags": []}
    key = await keys.create(canary)
    answer = await ask(headers={"authorization": f"bearer {key}", "x-api-key": key})
    assert [each["key"] for each in answer.json()["flags"]] == ["checkout"]


async def test_a_key_of_a_browser_may_ask(keys: KeyMaker, environment: Json, client: Caller) -> None:
    key = await keys.create(environment, kind="browser")
    assert (await client.post(PATH, json={}, headers={"x-api-key": key})).status_code == 200


async def test_a_client_that_has_the_answer_gets_a_304(ada: Caller, environment: Json, ask: Ask) -> None:
    flag = await ada.create_flag(environment, key="checkout", rollout_percentage=0, fallthrough="off")
    await ada.create_rule(flag, rule_value="ada")
    ada_asks, eve_asks = {"targetingKey": "ada"}, {"targetingKey": "eve"}
    first = await ask(ada_asks)
    tag = first.headers["etag"]
    assert tag.startswith('"')
    assert tag.endswith('"')
    for known in (tag, f"W/{tag}", f'"other", {tag}'):
        again = await ask(ada_asks, headers={"if-none-match": known})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    for unknown in ('"other"', tag[1:-1], "*", ""):
        assert (await ask(ada_asks, headers={"if-none-match": unknown})).status_code == 200
    other = await ask(eve_asks, headers={"if-none-match": tag})  # the web provider sends it for another user
    assert other.status_code == 200
    assert other.headers["etag"] != tag
    await ada.post(f"{flag_path(flag)}/toggle")
    changed = await ask(ada_asks, headers={"if-none-match": tag})
    assert changed.status_code == 200
    assert changed.json()["flags"][0]["value"] is False


async def evaluations(ada: Caller, flagstaff: Flagstaff, environment: Json) -> list[Json]:
    await flagstaff.history.recorder.stop(5)
    listed = (await ada.get(f"{environment_path(environment)}/evaluations")).json()
    items: list[Json] = listed["items"]
    return items


async def test_answers_are_recorded_and_one_flag_alone(
    ada: Caller, environment: Json, ask: Ask, flagstaff: Flagstaff
) -> None:
    flag = await ada.create_flag(environment, key="checkout", fallthrough="off")
    await ada.create_rule(flag, **ATTRIBUTE_RULE)
    await ada.create_flag(environment, key="other")
    context = {"targetingKey": "ada", "email": "ada@example.com", "plan": "pro", "unused": 1}
    tag = (await ask(context)).headers["etag"]
    await ask(context, headers={"if-none-match": tag})
    await ask(context, flag="checkout")
    await ask(context, flag="missing")
    await ask({"targetingKey": 7})
    recorded = await evaluations(ada, flagstaff, environment)
    assert [sorted(each["flags"]) for each in recorded] == [["checkout"], ["checkout", "other"], ["checkout", "other"]]
    for each in recorded:
        assert (each["user_id"], each["user_email"]) == ("ada", "ada@example.com")
        assert each["attributes"] == {"plan": "pro"}


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_HISTORY_ATTRIBUTES": "all"}])
async def test_all_members_but_the_identifiers_are_recorded_if_that_is_chosen(
    ada: Caller, environment: Json, ask: Ask, flagstaff: Flagstaff
) -> None:
    await ada.create_flag(environment, key="checkout")
    await ask({"targetingKey": "ada", "email": "ada@example.com", "plan": "pro"})
    (recorded,) = await evaluations(ada, flagstaff, environment)
    assert recorded["attributes"] == {"plan": "pro"}


@pytest.mark.both_databases
async def test_first_requests_at_the_same_time_share_the_translation(
    ada: Caller, environment: Json, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    translate: Any = vars(translations)["translate"]

    def note(*given: object) -> object:
        made.append(given)
        return translate(*given)

    monkeypatch.setattr(translations, "translate", note)
    await ada.create_flag(environment, key="checkout")
    answers = await asyncio.gather(*(ask({"targetingKey": str(number)}) for number in range(5)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(made) == 1


async def test_evaluations_are_not_in_the_access_log(ask: Ask, log_stream: Any) -> None:
    await ask({"targetingKey": "ada"})
    lines = log_stream.getvalue().splitlines()
    assert not [line for line in lines if '"logger": "httpx"' not in line]  # the test's own client


async def test_the_description_is_served(client: Caller) -> None:
    answer: httpx.Response = await client.get("/openapi/ofrep.json")
    assert answer.json()["info"]["version"] == "0.3.0"
    assert set(answer.json()["paths"]) == {PATH, f"{PATH}/{{key}}"}
