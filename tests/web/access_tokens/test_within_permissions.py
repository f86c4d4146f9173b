"""What access tokens may do and read is what their permissions say, also by operations that do more than one thing."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support import tokens
from tests.support.api import Caller, Json, created, flag_path, project_path
from tests.support.releases import create_metric, create_release, release_path

OWN = "/api/me/tokens"
RULES: Json = {"after_seconds": 3600, "changes": {"rules": [{"rule_type": "user_id", "rule_value": "ada"}]}}
ON: Json = {"after_seconds": 3600, "changes": {"enabled": True}}

pytestmark = pytest.mark.both_databases

Issue = Callable[..., Awaitable[Caller]]


@pytest.fixture
def issue(flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller) -> Issue:
    """Create a personal token of ada's with permissions; return a caller with it."""

    async def make(*permissions: str) -> Caller:
        return await tokens.issue(flagstaff, callers, OWN, ada, *permissions)

    return make


async def test_a_token_without_keys_read_creates_a_project_without_seeing_its_sdk_key(
    ada: Caller, issue: Issue
) -> None:
    machine = await issue("project:read", "project:write")
    project = created(await machine.post("/api/projects", json={"name": "Shop"}))
    assert project["sdk_key"] is None
    assert (await machine.get(project_path(project))).json()["sdk_key"] is None
    assert (await ada.get(project_path(project))).json()["sdk_key"] is not None
    seeing = await issue("project:write", "keys:read")
    assert created(await seeing.post("/api/projects", json={"name": "Other"}))["sdk_key"] is not None


async def test_a_refusal_names_no_flags_to_a_token_that_may_not_see_them(
    ada: Caller, issue: Issue, project: Json, environment: Json
) -> None:
    segment, metric = await ada.create_segment(project), await create_metric(ada, project)
    flag = await ada.create_flag(environment, enabled=False)
    await ada.create_rule(flag, rule_type="segment", rule_value=segment["key"])
    half: Json = {"after_seconds": 3600, "changes": {"enabled": True, "rollout_percentage": 50}}
    await create_release(ada, flag, half, guards=[{"metric": metric["key"], "action": "notify"}])
    places = (f"segments/{segment['id']}", f"metrics/{metric['id']}")
    for seeing, named in (((), "not shown without flags:read. "), (("flags:read",), flag["key"])):
        machine = await issue("project:read", "segments:write", *seeing)
        refusals = [await machine.delete(f"{project_path(project)}/{place}") for place in places]
        refusals.append(await machine.put(f"{project_path(project)}/{places[1]}", json={"better": "up"}))
        for answer in refusals:
            assert answer.status_code == 409
            assert named in answer.json()["detail"]
            assert (flag["key"] in answer.text) == bool(seeing)


async def test_no_token_changes_what_its_owner_is_mailed_about(ada: Caller, issue: Issue, project: Json) -> None:
    machine = await issue("project:read", "project:write", "flags:read")
    settings, subscriptions = f"{project_path(project)}/notifications", f"{project_path(project)}/subscriptions"
    subscription = created(await ada.post(subscriptions, json={"tag": "payments"}))
    before = (await ada.get(settings)).json(), (await ada.get(subscriptions)).json()
    for answer in (
        await machine.put(settings, json={"owned": False}),
        await machine.post(subscriptions, json={"tag": "beta"}),
        await machine.delete(f"{subscriptions}/{subscription['id']}"),
    ):
        assert answer.status_code == 403
        assert "Log in" in answer.json()["detail"]
    assert ((await ada.get(settings)).json(), (await ada.get(subscriptions)).json()) == before
    assert (await machine.get(settings)).status_code == 200


async def test_a_token_resumes_only_releases_whose_steps_it_could_make(
    ada: Caller, issue: Issue, environment: Json
) -> None:
    flag = await ada.create_flag(environment, enabled=False)
    release = await create_release(ada, flag, ON, RULES)
    (await ada.post(f"{release_path(release)}/pause")).raise_for_status()
    machine = await issue("flags:read", "flags:write")
    refused = await machine.post(f"{release_path(release)}/resume")
    assert (refused.status_code, refused.json()["permission"]) == (403, "rules:write")
    assert (await ada.get(release_path(release))).json()["state"] == "paused"
    able = await issue("flags:read", "flags:write", "rules:write")
    assert (await able.post(f"{release_path(release)}/resume")).json()["state"] == "scheduled"
    other = await ada.create_flag(environment, key="other", enabled=False)
    plain = await create_release(ada, other, ON)
    (await ada.post(f"{release_path(plain)}/pause")).raise_for_status()
    assert (await machine.post(f"{release_path(plain)}/resume")).json()["state"] == "scheduled"
    assert (await ada.get(flag_path(flag))).json()["enabled"] is False
