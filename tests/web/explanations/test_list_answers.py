"""POST …/answers."""

from typing import Any

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path

MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ([], {"body": "must be a JSON object, sent with Content-Type: application/json"}),
    ({"contxt": {}}, {"contxt": "is not a known field; did you mean context?"}),
    ({"context": {"user_id": 7}}, {"context.user_id": "must be a string or null"}),
    ({"search": 7}, {"search": "must be a string"}),
    ({"search": "x" * 129}, {"search": "must be at most 128 characters long"}),
    ({"after": "Flag"}, {"after": "must start with a lowercase letter and consist of a-z, 0-9, _ and -"}),
    ({"limit": 0}, {"limit": "must be at least 1"}),
    ({"limit": 101}, {"limit": "must be at most 100"}),
    ({"limit": "10"}, {"limit": "must be a whole number"}),
]


@pytest.fixture
def path(environment: Json) -> str:
    """The path of the answers in Ada's production."""
    return f"{environment_path(environment)}/answers"


async def answers(caller: Caller, path: str, **body: Any) -> Json:
    answer = await caller.post(path, json=body)
    assert answer.status_code == 200, answer.text
    page: Json = answer.json()
    return page


async def test_it_needs_a_token(client: Caller, path: str) -> None:
    assert (await client.post(path, json={})).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(
    ada: Caller, eve: Caller, environment: Json, path: str
) -> None:
    other = await ada.create_project()
    elsewhere = environment_path({**environment, "project_id": other["id"]})
    assert (await eve.post(path, json={})).status_code == 404
    assert (await ada.post(f"{elsewhere}/answers", json={})).status_code == 404


@pytest.mark.parametrize(("body", "errors"), MALFORMED)
async def test_a_malformed_body_is_refused_by_name(ada: Caller, path: str, body: Any, errors: dict[str, str]) -> None:
    assert field_errors(await ada.post(path, json=body)) == errors


async def test_no_flags_are_no_answers(ada: Caller, path: str) -> None:
    page = await answers(ada, path)
    assert (page["environment_key"], page["items"], page["next_after"]) == ("production", [], None)


async def test_it_is_what_an_explanation_says_in_short(ada: Caller, environment: Json, path: str) -> None:
    variants = [{"key": key, "weight": 1, "value": key} for key in ("red", "blue")]
    flag = await ada.create_flag(environment, rollout_percentage=0)
    await ada.create_rule(flag, name="Ada herself")
    await ada.create_flag(environment, key="varied", variants=variants)
    needs = [{"flag_key": "varied", "enabled": False}]
    await ada.create_flag(environment, key="needs", prerequisites=needs)
    await ada.create_flag(environment, key="off", enabled=False)
    for context in (None, {"user_id": "ada"}, {"user_id": "bob", "custom_attributes": {"x": "y" * 9_000}}):
        page = await answers(ada, path, context=context)
        explained = (await ada.post(path.replace("/answers", "/explain"), json={"context": context})).json()["flags"]
        names = ("flag_key", "enabled", "reason", "decided_by")
        assert [[each[name] for name in names] for each in page["items"]] == [
            [each[name] for name in names] for each in explained
        ]
        assert [each["variant"] for each in page["items"]] == [each.get("variant") for each in explained]
    assert flag["id"] in [each["flag_id"] for each in page["items"]]


@pytest.mark.both_databases
async def test_pages_follow_the_keys_and_a_search_narrows_them_down(ada: Caller, environment: Json, path: str) -> None:
    for key in ("b-cart", "a-cart", "c-search", "d-cart"):
        await ada.create_flag(environment, key=key)
    seen, after = [], None
    while True:
        page = await answers(ada, path, limit=2, after=after, search="cart")
        seen.append([each["flag_key"] for each in page["items"]])
        after = page["next_after"]
        if after is None:
            break
    assert seen == [["a-cart", "b-cart"], ["d-cart"]]
    assert (await answers(ada, path, search="%"))["items"] == []


@pytest.mark.both_databases
async def test_a_search_ignores_case_and_takes_every_character_as_it_is(
    ada: Caller, environment: Json, path: str
) -> None:
    for key in ("a-b", "a_b", "ab"):
        await ada.create_flag(environment, key=key)
    for search, keys in (("A_", ["a_b"]), ("B", ["a-b", "a_b", "ab"]), ("%", []), ("\\", [])):
        page = await answers(ada, path, search=search)
        assert sorted(each["flag_key"] for each in page["items"]) == keys


async def test_a_context_may_be_as_long_as_in_an_evaluation(
    ada: Caller, client: Caller, project: Json, environment: Json, path: str
) -> None:
    await ada.create_flag(environment)
    context = {"user_id": "ada", "custom_attributes": {f"attribute-{number}": "x" * 200 for number in range(1_000)}}
    assert (await client.evaluate(project["sdk_key"], context=context)).status_code == 200
    assert len((await answers(ada, path, context=context))["items"]) == 1


async def test_archived_flags_have_no_answer(ada: Caller, environment: Json, path: str) -> None:
    flag = await ada.create_flag(environment)
    await ada.post(f"{flag_path(flag)}/archive")
    assert (await answers(ada, path))["items"] == []


async def test_nothing_is_recorded(ada: Caller, flagstaff: Flagstaff, environment: Json, path: str) -> None:
    await ada.create_flag(environment)
    await answers(ada, path, context={"user_id": "ada"})
    assert flagstaff.history.recorder.waiting == 0
    assert (await ada.get(f"{environment_path(environment)}/evaluations")).json()["items"] == []
