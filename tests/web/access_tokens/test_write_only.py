"""A token that may write something but not read it gets its ids and keys, and secrets that are shown only once."""

import json
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from flagstaff.api.shown import SHOWN
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.assembly.openapi import ALSO, PERMISSION, SHOWN_WITH
from tests.support import tokens
from tests.support.api import Caller, Json, created, flag_path, project_path
from tests.web.conftest import SignUp
from tests.web.test_matrix import ONLY_PEOPLE, Operation, Place, make_place, operations, success_of

Issue = Callable[..., Awaitable[Caller]]

ASKING = {
    "export_user",
    "preview_erasure",
    "preview_impact",
    "preview_release_outlook",
    "preview_webhook",
    "find_causes",
    "explain",
    "list_answers",
    "answer_users",
}
"""Operations that change nothing, whose permissions are those to read."""


@pytest.fixture
def issue(flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller) -> Issue:
    """Create a personal token of ada's with permissions; return a caller with it."""

    async def make(*permissions: str) -> Caller:
        return await tokens.issue(flagstaff, callers, "/api/me/tokens", ada, *permissions)

    return make


def needed_for(operation: Json) -> set[str]:
    return {operation[PERMISSION], *operation.get(ALSO, ())}


def writes_with_an_answer() -> list[Operation]:
    """Return the operations of access tokens that change something and answer with more than a status."""
    return [
        (method, path, operation)
        for method, path, operation in operations()
        if SHOWN_WITH in operation and operation["operationId"] not in {*ONLY_PEOPLE, "create_token"}
    ]


def test_every_write_with_an_answer_says_what_one_must_read_to_be_shown_it() -> None:
    shown = {operation["operationId"] for _, _, operation in operations() if SHOWN_WITH in operation}
    for method, _, operation in operations():
        name = operation["operationId"]
        if method != "get" and name not in ASKING | ONLY_PEOPLE and success_of(operation) != 204:
            assert name in shown


def test_what_one_must_read_is_what_reading_the_same_resource_takes() -> None:
    reading = {path: operation for method, path, operation in operations() if method == "get"}
    compared = 0
    for _, path, operation in writes_with_an_answer():
        if path in reading:
            assert set(operation[SHOWN_WITH]) >= needed_for(reading[path]), operation["operationId"]
            compared += 1
    assert compared > 25


@pytest.mark.both_databases
async def test_every_write_without_the_permission_to_read_answers_with_ids_and_keys_only(
    flagstaff: Flagstaff, ada: Caller, sign_up: SignUp, issue: Issue
) -> None:
    place: Place = await make_place(flagstaff, ada, await sign_up("grace"))
    machines: dict[tuple[str, ...], Caller] = {}
    seen = set()
    for operation in writes_with_an_answer():
        facts = operation[2]
        needed = tuple(sorted(needed_for(facts)))
        if set(facts[SHOWN_WITH]) <= set(needed):
            continue
        machine = machines.get(needed) or machines.setdefault(needed, await issue(*needed))
        answer = await place.call(machine, operation)
        assert answer.status_code == success_of(facts), (facts["operationId"], answer.text)
        items = answer.json() if isinstance(answer.json(), list) else [answer.json()]
        for item in items:
            told = {"enabled"} if facts["operationId"] == "toggle_flag" else set()
            assert item.keys() <= {*SHOWN, *told}, (facts["operationId"], item)
            assert not any(isinstance(value, dict | list) for value in item.values())
        assert "etag" not in answer.headers
        seen.add(facts["operationId"])
    assert {"update_flag", "update_rule", "toggle_flag", "change_flags", "create_flags", "update_project"} <= seen
    assert {"rotate_webhook_secret", "create_sdk_key", "update_view", "update_comment", "regenerate_key"} <= seen


async def test_an_empty_update_does_not_return_what_reading_would(ada: Caller, issue: Issue, project: Json) -> None:
    flag = await ada.create_flag(await ada.get_environment(project), description="Unannounced.")
    machine = await issue("flags:write", "project:write")
    answer = await machine.put(flag_path(flag), json={})
    assert answer.json() == {"id": flag["id"], "key": flag["key"]}
    assert answer.headers["content-length"] == str(len(answer.content))
    assert (await machine.put(project_path(project), json={})).json() == {"id": project["id"], "sdk_key": None}
    reading = await issue("flags:write", "flags:read")
    assert (await reading.put(flag_path(flag), json={})).json() == flag


async def test_a_toggle_says_which_way_it_went(ada: Caller, issue: Issue, environment: Json) -> None:
    flag = await ada.create_flag(environment, enabled=True)
    machine = await issue("flags:toggle")
    for enabled in (False, True):
        answer = await machine.post(f"{flag_path(flag)}/toggle")
        assert answer.json() == {"id": flag["id"], "key": flag["key"], "enabled": enabled}


async def test_secrets_that_are_shown_only_once_are_shown_without_the_permission_to_read(
    issue: Issue, project: Json
) -> None:
    machine = await issue("keys:rotate", "webhooks:write", "audit:read")
    body = {"name": "Checkout", "environment": "production", "kind": "server"}
    key = created(await machine.post(f"{project_path(project)}/sdk-keys", json=body))
    assert key.keys() == {"id", "key"}
    assert (await machine.evaluate(key["key"])).status_code == 200
    hook = {"url": "https://hooks.invalid/", "events": ["*"], "enabled": False}
    webhook = created(await machine.post(f"{project_path(project)}/webhooks", json=hook))
    assert webhook.keys() == {"id", "secret"}


async def test_a_repeated_write_shows_no_more_than_the_first(ada: Caller, issue: Issue, environment: Json) -> None:
    machine = await issue("flags:write")
    path = f"/api/projects/{environment['project_id']}/environments/{environment['id']}/flags"
    body, headers = {"name": "Checkout", "key": "checkout"}, {"Idempotency-Key": "once"}
    first = created(await machine.post(path, json=body, headers=headers))
    again = await machine.post(path, json=body, headers=headers)
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json() == first == {"id": first["id"], "key": "checkout"}


async def test_a_long_list_is_reduced_to_ids_in_its_order(ada: Caller, issue: Issue, project: Json) -> None:
    environments = [await ada.get_environment(project, key) for key in ("production", "staging")]
    description = json.dumps(["[{,}]", '\\"', "é"] * 100)
    body = {"name": "Checkout", "key": "checkout", "description": description}
    machine = await issue("flags:write")
    found: Any = created(
        await machine.post(
            f"{project_path(project)}/flags", json={**body, "environments": [each["id"] for each in environments]}
        )
    )
    assert [each.keys() for each in found] == [{"id", "key"}] * 2
    for each, environment in zip(found, environments, strict=True):
        flag = await ada.get(flag_path({**each, "project_id": project["id"], "environment_id": environment["id"]}))
        assert flag.json()["description"] == description


async def test_a_refusal_says_what_was_wrong(issue: Issue, environment: Json) -> None:
    machine = await issue("flags:write")
    path = f"/api/projects/{environment['project_id']}/environments/{environment['id']}/flags"
    refused = await machine.post(path, json={"name": "Checkout"})
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "key")


@pytest.mark.both_databases
async def test_a_conflict_names_nothing_that_the_token_may_not_read(
    ada: Caller, environment: Json, issue: Issue
) -> None:
    flag = await ada.create_flag(environment, key="known")
    await ada.create_flag(environment, key="not-known", prerequisites=[{"flag_key": "known"}])
    step = {"after_seconds": 3_600, "changes": {"enabled": True}}
    release = created(await ada.post(f"{flag_path(flag)}/releases", json={"name": "Not known", "steps": [step]}))
    writer, reader = await issue("flags:write"), await issue("flags:write", "flags:read")

    async def refuse(caller: Caller) -> list[Json]:
        made = await caller.post(f"{flag_path(flag)}/releases", json={"steps": [step]})
        deleted = await caller.delete(flag_path(flag))
        assert (made.status_code, deleted.status_code) == (409, 409)
        return [made.json(), deleted.json()]

    for problem in await refuse(writer):
        assert problem.keys() == {"type", "title", "status", "detail", "request_id"}
        assert "not-known" not in problem["detail"].lower().replace(" ", "-")
        assert problem["detail"].endswith("A token with flags:read is told the reason.")
    made, deleted = await refuse(reader)
    assert made["release_id"] == release["id"]
    assert "not-known" in deleted["detail"]
