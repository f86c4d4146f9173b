"""POST /api/projects/{project_id}/changes/{change_id}/restore."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack
from typing import Any, get_args

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.audit.changes_routes import Action
from tests.support.api import NO_IDS, Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.changes import record_less
from tests.support.members import join
from tests.support.tokens import issue

RED, BLUE = ({"key": key, "weight": 500, "value": key} for key in ("red", "blue"))
CONDITION = {"attribute": "plan", "operator": "in", "values": ["gold"], "case_insensitive": False, "negate": False}


async def latest(caller: Caller, project: Json, action: str | None = None) -> str:
    """The id of the latest change of a project, or of the latest with an action."""
    parameters = {"limit": "1"} | ({"action": action} if action else {})
    (item,) = (await caller.get(f"{project_path(project)}/changes", params=parameters)).json()["items"]
    found: str = item["id"]
    return found


async def restore(caller: Caller, project: Json, change: str, **body: Any) -> httpx.Response:
    return await caller.post(f"{project_path(project)}/changes/{change}/restore", json=body)


async def restored(caller: Caller, project: Json, change: str, **body: Any) -> Json:
    answer = await restore(caller, project, change, **body)
    assert answer.status_code == 200, answer.text
    found: Json = answer.json()
    return found


def refused(answer: httpx.Response, why: str) -> None:
    assert (answer.status_code, answer.json()["detail"]) == (409, f"This cannot be restored. {why}")


def without(resource: Json, *names: str) -> Json:
    return {name: value for name, value in resource.items() if name not in names}


async def test_it_needs_a_token(client: Caller, ada: Caller, project: Json) -> None:
    assert (await restore(client, project, await latest(ada, project))).status_code == 401


async def test_a_change_is_found_only_by_members_and_only_in_its_project(
    ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    await ada.post(f"{flag_path(flag)}/toggle")
    change = await latest(ada, project)
    own = await eve.create_project()
    assert (await restore(eve, project, change)).status_code == 404
    assert (await restore(eve, own, change)).status_code == 404
    for wrong in (*NO_IDS, "-1", "1.0", "9" * 18, "9" * 40, "%D9%A1"):
        answer = await ada.post(f"{project_path(project)}/changes/{wrong}/restore", json={})
        assert answer.status_code == 404, wrong
    assert (await ada.get(flag_path(flag))).json()["enabled"] is False


async def test_roles_restore_what_they_may_change(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    rule = await ada.create_rule(flag)
    segment = await ada.create_segment(project)
    changes = {}
    await ada.put(flag_path(flag), json={"name": "Renamed"})
    changes["flags:write"] = await latest(ada, project)
    await ada.post(f"{flag_path(flag)}/toggle")
    changes["flags:toggle"] = await latest(ada, project)
    await ada.put(f"{flag_path(flag)}/rules/{rule['id']}", json={"priority": 5})
    changes["rules:write"] = await latest(ada, project)
    await ada.put(f"{project_path(project)}/segments/{segment['id']}", json={"name": "Renamed"})
    changes["segments:write"] = await latest(ada, project)
    await join(flagstaff, project, eve, "viewer")
    for permission, change in changes.items():
        for dry_run in (True, False):
            answer = await restore(eve, project, change, dry_run=dry_run)
            assert (answer.status_code, answer.json()["permission"]) == (403, permission)
    await join(flagstaff, project, eve, "viewer", {"production": "editor"})
    answers = [(await restore(eve, project, change)).status_code for change in changes.values()]
    assert answers == [200, 200, 200, 403]  # a segment belongs to every environment


async def test_a_token_is_not_told_what_kind_of_change_it_may_not_see(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, environment: Json
) -> None:
    change = await latest(ada, project)
    path, here = f"{project_path(project)}/tokens", {"environments": [environment["id"]]}
    token = await issue(flagstaff, callers, path, ada, "audit:read", "flags:write", **here)
    answer = await restore(token, project, change)
    assert (answer.status_code, answer.json()["permission"]) == (403, "audit:read")


async def test_a_token_without_audit_read_is_told_no_old_values_and_restores_none(
    flagstaff: Flagstaff, callers: AsyncExitStack, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, description="The old secret.")
    await ada.put(flag_path(flag), json={"description": "Public."})
    of_flag = await latest(ada, project)
    rule = await ada.create_rule(flag, name="The old secret.")
    await ada.put(f"{flag_path(flag)}/rules/{rule['id']}", json={"name": "Public."})
    of_rule = await latest(ada, project)
    segment = await ada.create_segment(project, description="The old secret.")
    await ada.put(f"{project_path(project)}/segments/{segment['id']}", json={"description": "Public."})
    of_segment = await latest(ada, project)
    writes = ["flags:read", "flags:write", "rules:write", "segments:write", "project:read"]
    path = f"{project_path(project)}/tokens"
    blind = await issue(flagstaff, callers, path, ada, *writes)
    for change in (of_flag, of_rule, of_segment):
        for dry_run in (True, False):
            answer = await restore(blind, project, change, dry_run=dry_run)
            assert (answer.status_code, answer.json()["permission"]) == (403, "audit:read")
            assert "secret" not in answer.text
    seeing = await issue(flagstaff, callers, path, ada, *writes, "audit:read")
    for change in (of_flag, of_rule, of_segment):
        for dry_run in (True, False):
            assert (await restore(seeing, project, change, dry_run=dry_run)).status_code == 200


async def test_an_invalid_body_is_refused_by_name(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    await ada.post(f"{flag_path(flag)}/toggle")
    change = await latest(ada, project)
    for body, field in (({"dry_run": 1}, "dry_run"), ({"if_unchanged": "yes"}, "if_unchanged"), ({"dry": 1}, "dry")):
        assert list(field_errors(await restore(ada, project, change, **body))) == [field]
    assert (await ada.get(flag_path(flag))).json()["enabled"] is False


async def test_a_body_is_not_needed(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    await ada.post(f"{flag_path(flag)}/toggle")
    answer = await ada.post(f"{project_path(project)}/changes/{await latest(ada, project)}/restore")
    assert answer.status_code == 200
    assert (await ada.get(flag_path(flag))).json()["enabled"] is True


async def test_other_kinds_are_refused_with_the_reason(ada: Caller, project: Json, environment: Json) -> None:
    kinds = "Only changes of flags, rules and segments can be restored."
    await ada.put(project_path(project), json={"name": "Market"})
    refused(await restore(ada, project, await latest(ada, project)), kinds)
    await ada.put(environment_path(environment), json={"name": "Live"})
    refused(await restore(ada, project, await latest(ada, project)), kinds)


@pytest.mark.both_databases
async def test_a_creation_is_undone_by_a_deletion_that_can_be_restored(
    ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    of_flag = await latest(ada, project)
    rule = await ada.create_rule(flag)
    of_rule = await latest(ada, project)
    segment = await ada.create_segment(project)
    of_segment = await latest(ada, project)
    for change, path in (
        (of_segment, f"{project_path(project)}/segments/{segment['id']}"),
        (of_rule, f"{flag_path(flag)}/rules/{rule['id']}"),
    ):
        dry = await restored(ada, project, change, dry_run=True)
        assert (await ada.get(path)).status_code == 200
        assert (await restored(ada, project, change))["alterations"] == dry["alterations"]
        (alteration,) = dry["alterations"]
        assert alteration["action"].endswith(".deleted")
        assert {each["restored"] for each in alteration["fields"]} == {None}
        assert (await ada.get(path)).status_code == 404
        undone = await latest(ada, project)
        await restored(ada, project, undone)
        assert (await ada.get(path)).status_code == 200
    refused(
        await restore(ada, project, of_flag),
        "The flag new-checkout has been changed since it was created: rule.created by ada@example.com, change "
        f"{await latest(ada, project)}. Restore the later changes together with this one, or delete it.",
    )


async def test_what_somebody_has_touched_or_needs_is_not_deleted(ada: Caller, project: Json, environment: Json) -> None:
    segment = await ada.create_segment(project)
    of_segment = await latest(ada, project)
    needed = await ada.create_flag(environment, key="needed")
    of_needed = await latest(ada, project)
    flag = await ada.create_flag(environment, prerequisites=[{"flag_key": "needed"}])
    of_flag = await latest(ada, project)
    rule = await ada.create_rule(flag, rule_type="segment", rule_value=segment["key"])
    of_rule = await latest(ada, project)
    await ada.put(f"{flag_path(flag)}/rules/{rule['id']}", json={"priority": 7})
    for change, why in (
        (of_segment, "The segment beta is used by rules of these flags: new-checkout in production."),
        (of_needed, "The flag needed is a prerequisite of new-checkout."),
        (of_flag, "This cannot be restored. The flag new-checkout has been changed since it was created: rule.updated"),
        (of_rule, "This cannot be restored. The rule of new-checkout has been changed since it was created"),
    ):
        for dry_run in (True, False):
            answer = await restore(ada, project, change, dry_run=dry_run)
            assert answer.status_code == 409
            assert answer.json()["detail"].startswith(why)
    spare = await ada.create_flag(environment, key="spare")
    of_spare = await latest(ada, project)
    await ada.post(f"{flag_path(spare)}/comments", json={"text": "Why?"})
    refused(await restore(ada, project, of_spare), "The flag spare has comments. Delete it instead.")
    for each in (needed, flag, spare):
        assert (await ada.get(flag_path(each))).status_code == 200


async def test_what_has_been_deleted_since_is_refused_with_the_way(
    ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    rule = await ada.create_rule(flag)
    segment = await ada.create_segment(project)
    rule_path, segment_path = (
        f"{flag_path(flag)}/rules/{rule['id']}",
        f"{project_path(project)}/segments/{segment['id']}",
    )
    await ada.put(flag_path(flag), json={"name": "Renamed"})
    of_flag = await latest(ada, project)
    await ada.put(rule_path, json={"priority": 5})
    of_rule = await latest(ada, project)
    await ada.put(segment_path, json={"name": "Renamed"})
    of_segment = await latest(ada, project)
    gone = "The {} has been deleted since. Restore its deletion first."
    await ada.delete(rule_path)
    refused(await restore(ada, project, of_rule), gone.format("rule"))
    await ada.delete(segment_path)
    refused(await restore(ada, project, of_segment), gone.format("segment"))
    await ada.delete(flag_path(flag))
    refused(await restore(ada, project, of_flag), gone.format("flag"))
    refused(await restore(ada, project, of_rule), gone.format("flag"))
    await ada.delete(environment_path(environment))
    for change in (of_flag, of_rule):
        refused(await restore(ada, project, change), "The environment has been deleted since.")


async def test_each_alteration_says_whether_it_turns_a_flag_on(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment, enabled=False)

    async def turns_on() -> bool:
        """Return whether restoring the latest change would turn the flag on."""
        alterations = (await restored(ada, project, await latest(ada, project), dry_run=True))["alterations"]
        return any(each["turns_on"] for each in alterations)

    for values, expected in (({"enabled": True}, False), ({"enabled": False}, True), ({"name": "Renamed"}, False)):
        await ada.put(flag_path(flag), json=values)
        assert await turns_on() is expected, values
    await ada.post(f"{flag_path(flag)}/archive")
    assert not await turns_on()
    await ada.post(f"{flag_path(flag)}/unarchive")
    await ada.put(flag_path(flag), json={"enabled": True})
    await ada.post(f"{flag_path(flag)}/archive")
    assert await turns_on()
    await ada.post(f"{flag_path(flag)}/unarchive")
    await ada.delete(flag_path(flag))
    assert await turns_on()


async def test_only_the_fields_that_the_change_has_altered_are_put_back(
    ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment, rollout_percentage=25, tags=["a"], variants=[RED, BLUE])
    await ada.put(flag_path(flag), json={"rollout_percentage": 50, "tags": [], "variants": [], "fallthrough": "off"})
    change = await latest(ada, project)
    renamed = (await ada.put(flag_path(flag), json={"name": "Renamed", "enabled": False})).json()

    fields = [
        {"field": "rollout_percentage", "present": 50, "restored": 25},
        {"field": "fallthrough", "present": "off", "restored": "rollout"},
        {"field": "tags", "present": [], "restored": ["a"]},
        {"field": "variants", "present": [], "restored": [RED, BLUE]},
    ]
    alteration = {
        "action": "flag.updated",
        "resource_id": flag["id"],
        "environment_id": environment["id"],
        "flag_key": flag["key"],
        "turns_on": False,
        "fields": fields,
    }
    assert await restored(ada, project, change, dry_run=True) == {"change_id": None, "alterations": [alteration]}
    assert (await ada.get(flag_path(flag))).json() == renamed

    answer = await restored(ada, project, change)
    assert answer["alterations"] == [alteration]
    back = (await ada.get(flag_path(flag))).json()
    assert back == {**flag, "name": "Renamed", "enabled": False, "updated_at": back["updated_at"]}
    assert back["updated_at"] > renamed["updated_at"]

    refused(await restore(ada, project, change), "It is already as it was before the change.")


async def test_a_restore_is_a_change_that_names_the_other_and_can_be_restored_itself(
    ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    toggle = await ada.post(f"{flag_path(flag)}/toggle")
    change = await latest(ada, project)
    assert toggle.headers["flagstaff-change"] == change
    answer = await restore(ada, project, change)
    own = answer.json()["change_id"]
    assert answer.headers["flagstaff-change"] == own
    item = (await ada.get(f"{project_path(project)}/changes", params={"limit": 1})).json()["items"][0]
    assert (item["id"], item["action"], item["restores"]) == (own, "flag.toggled", change)
    assert (item["before"]["enabled"], item["after"]["enabled"]) == (False, True)
    assert (await restored(ada, project, own))["alterations"][0]["fields"] == [
        {"field": "enabled", "present": True, "restored": False}
    ]


async def test_a_dry_run_changes_nothing_and_has_no_header(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    await ada.create_rule(flag)
    await ada.delete(flag_path(flag))
    before = await latest(ada, project)
    answer = await restore(ada, project, before, dry_run=True)
    assert answer.status_code == 200
    assert not {"flagstaff-change", "flagstaff-revision"} & answer.headers.keys()
    assert await latest(ada, project) == before
    assert (await ada.get(flag_path(flag))).status_code == 404


async def test_with_if_unchanged_a_field_that_was_changed_again_is_left_alone(
    ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    await ada.put(flag_path(flag), json={"name": "Second"})
    change = await latest(ada, project)
    await ada.put(flag_path(flag), json={"description": "Another field."})
    assert (await restore(ada, project, change, if_unchanged=True, dry_run=True)).status_code == 200
    await ada.put(flag_path(flag), json={"name": "Third"})
    refused(await restore(ada, project, change, if_unchanged=True), "It has been changed again since: name.")
    await restored(ada, project, change)
    assert (await ada.get(flag_path(flag))).json()["name"] == flag["name"]


async def test_a_deleted_flag_comes_back_under_the_same_ids_with_the_rules_that_it_had(
    ada: Caller, client: Caller, project: Json, environment: Json
) -> None:
    await ada.create_segment(project)
    flag = await ada.create_flag(environment, variants=[RED], rollout_percentage=25)
    kept = await ada.create_rule(flag, variant="red", conditions=[CONDITION])
    changed = await ada.create_rule(flag, rule_type="segment", rule_value="beta", priority=5)
    gone = await ada.create_rule(flag, rule_value="gone")
    changed = (await ada.put(f"{flag_path(flag)}/rules/{changed['id']}", json={"name": "Testers"})).json()
    await ada.delete(f"{flag_path(flag)}/rules/{gone['id']}")
    await ada.delete(flag_path(flag))
    assert (await client.evaluate(project["sdk_key"])).json()["flags"] == {}

    answer = await restored(ada, project, await latest(ada, project))

    assert [each["action"] for each in answer["alterations"]] == ["flag.created", "rule.created", "rule.created"]
    back = (await ada.get(flag_path(flag))).json()
    assert without(back, "updated_at") == without(flag, "updated_at")
    rules = (await ada.get(f"{flag_path(flag)}/rules")).json()
    assert [without(each, "updated_at") for each in rules] == [without(each, "updated_at") for each in (changed, kept)]
    assert list((await client.evaluate(project["sdk_key"])).json()["flags"]) == [flag["key"]]
    deleted = await latest(ada, project, "flag.deleted")
    refused(await restore(ada, project, deleted), "The flag exists again.")


async def test_a_flag_that_was_restored_and_deleted_again_comes_back_again(
    ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    rule = await ada.create_rule(flag)
    for _ in range(2):
        await ada.delete(flag_path(flag))
        await restored(ada, project, await latest(ada, project))
    assert [each["id"] for each in (await ada.get(f"{flag_path(flag)}/rules")).json()] == [rule["id"]]


@pytest.mark.both_databases
async def test_a_deleted_flag_whose_key_is_taken_is_refused(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    await ada.delete(flag_path(flag))
    deletion = await latest(ada, project)
    other = await ada.create_flag(environment)
    for dry_run in (True, False):
        answer = await restore(ada, project, deletion, dry_run=dry_run)
        assert answer.status_code == 409
        assert answer.json()["detail"] == "The environment already has a flag with the key new-checkout."
    await ada.post(f"{flag_path(other)}/archive")
    assert "archived flag of the environment has the key" in (await restore(ada, project, deletion)).json()["detail"]
    await ada.delete(flag_path(other))
    await restored(ada, project, deletion)


async def test_what_a_returning_flag_or_rule_names_must_exist(ada: Caller, project: Json, environment: Json) -> None:
    segment = await ada.create_segment(project)
    base = await ada.create_flag(environment, key="base")
    flag = await ada.create_flag(environment, prerequisites=[{"flag_key": "base"}])
    await ada.create_rule(flag, rule_type="segment", rule_value="beta")
    await ada.delete(flag_path(flag))
    deletion = await latest(ada, project)
    await ada.delete(f"{project_path(project)}/segments/{segment['id']}")
    of_segment = await latest(ada, project)
    refused(await restore(ada, project, deletion), "rule_value must be the key of a segment of this project.")
    await restored(ada, project, of_segment)
    await ada.delete(flag_path(base))
    of_base = await latest(ada, project)
    why = "prerequisites.0.flag_key must be the key of a flag of this environment."
    refused(await restore(ada, project, deletion), why)
    assert (await ada.get(flag_path(flag))).status_code == 404
    await restored(ada, project, of_base)
    await restored(ada, project, deletion)


async def test_prerequisites_that_would_form_a_cycle_now_are_refused(
    ada: Caller, project: Json, environment: Json
) -> None:
    first = await ada.create_flag(environment, key="first")
    second = await ada.create_flag(environment, key="second", prerequisites=[{"flag_key": "first"}])
    await ada.put(flag_path(second), json={"prerequisites": []})
    change = await latest(ada, project)
    await ada.put(flag_path(first), json={"prerequisites": [{"flag_key": "second"}]})
    answer = await restore(ada, project, change)
    assert (answer.status_code, "form a cycle" in answer.json()["detail"]) == (409, True)


@pytest.mark.both_databases
async def test_variants_that_are_in_use_are_not_taken_away(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment, variants=[RED])
    await ada.put(flag_path(flag), json={"variants": [RED, BLUE]})
    change = await latest(ada, project)
    await ada.create_rule(flag, variant="blue")
    answer = await restore(ada, project, change)
    assert answer.status_code == 409
    assert answer.json()["detail"] == "The variant blue is given by a rule of the flag. Change the rule first."


async def test_a_deleted_rule_and_a_changed_rule_are_put_back(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    rule = await ada.create_rule(flag, conditions=[CONDITION], priority=3, name="Gold")
    path = f"{flag_path(flag)}/rules/{rule['id']}"
    values = {"rule_type": "attributes", "rule_value": None, "conditions": [CONDITION] * 2, "priority": 1}
    assert (await ada.put(path, json=values)).status_code == 200
    await restored(ada, project, await latest(ada, project))
    assert without((await ada.get(path)).json(), "updated_at") == without(rule, "updated_at")
    await ada.delete(path)
    deletion = await latest(ada, project)
    await restored(ada, project, deletion)
    assert without((await ada.get(path)).json(), "updated_at") == without(rule, "updated_at")
    refused(await restore(ada, project, deletion), "The rule exists again.")


@pytest.mark.parametrize(
    ("at_first", "then", "at_last"),
    [
        (
            {"rule_type": "user_email", "rule_value": "ada@example.com"},
            {"rule_type": "user_id"},
            {"rule_type": "attributes", "rule_value": None, "conditions": [CONDITION]},
        ),
        (
            {"rule_type": "user_id", "rule_value": "u1"},
            {"rule_value": "u2"},
            {"rule_type": "attributes", "rule_value": None, "conditions": [CONDITION]},
        ),
        (
            {"rule_type": "user_email", "rule_value": "ada@example.com"},
            {"rule_type": "user_id"},
            {"rule_value": "u9"},
        ),
    ],
    ids=["a type without a value", "a value without its type", "a type with another's value"],
)
async def test_a_rule_whose_type_and_value_would_not_fit_is_left_alone(
    ada: Caller, project: Json, environment: Json, at_first: Json, then: Json, at_last: Json
) -> None:
    flag = await ada.create_flag(environment)
    path = f"{flag_path(flag)}/rules/{(await ada.create_rule(flag, **at_first))['id']}"
    assert (await ada.put(path, json=then)).status_code == 200
    change = await latest(ada, project)
    assert (await ada.put(path, json=at_last)).status_code == 200
    now = (await ada.get(path)).json()
    assert (await restore(ada, project, change)).status_code == 409
    assert (await ada.get(path)).json() == now


async def test_a_segment_is_put_back(ada: Caller, project: Json) -> None:
    segment = await ada.create_segment(project, conditions=[CONDITION])
    path = f"{project_path(project)}/segments/{segment['id']}"
    await ada.put(path, json={"conditions": [], "description": "Everyone."})
    await restored(ada, project, await latest(ada, project))
    assert without((await ada.get(path)).json(), "updated_at") == without(segment, "updated_at")
    await ada.delete(path)
    deletion = await latest(ada, project)
    other = await ada.create_segment(project)
    answer = await restore(ada, project, deletion)
    assert answer.json()["detail"] == "The project already has a segment with the key beta."
    await ada.delete(f"{project_path(project)}/segments/{other['id']}")
    await restored(ada, project, deletion)
    assert without((await ada.get(path)).json(), "updated_at") == without(segment, "updated_at")
    refused(await restore(ada, project, deletion), "The segment exists again.")


async def test_archivals_are_put_back_both_ways_and_under_the_same_rules(
    ada: Caller, client: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    await ada.put(flag_path(flag), json={"name": "Renamed"})
    edit = await latest(ada, project)
    await ada.post(f"{flag_path(flag)}/archive")
    archival = await latest(ada, project)
    refused(await restore(ada, project, edit), "The flag new-checkout is archived. Unarchive it first.")
    answer = await restored(ada, project, archival)
    assert [each["action"] for each in answer["alterations"]] == ["flag.unarchived"]
    assert flag["key"] in (await client.evaluate(project["sdk_key"])).json()["flags"]
    needing = await ada.create_flag(environment, key="needing", prerequisites=[{"flag_key": flag["key"]}])
    answer_to_archive = await restore(ada, project, answer["change_id"])
    assert "is a prerequisite of needing" in answer_to_archive.json()["detail"]
    await ada.delete(flag_path(needing))
    await restored(ada, project, answer["change_id"])
    assert (await client.evaluate(project["sdk_key"])).json()["flags"] == {}
    assert (await ada.get(flag_path(flag))).json()["archived_at"] is not None


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_RULES_PER_FLAG": "2", "FLAGSTAFF_MAX_FLAGS_PER_ENVIRONMENT": "2"}])
async def test_quotas_hold(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    rule = await ada.create_rule(flag)
    await ada.delete(f"{flag_path(flag)}/rules/{rule['id']}")
    of_rule = await latest(ada, project)
    for _ in range(2):
        await ada.create_rule(flag)
    for dry_run in (True, False):
        answer = await restore(ada, project, of_rule, dry_run=dry_run)
        assert (answer.status_code, "FLAGSTAFF_MAX_RULES_PER_FLAG" in answer.json()["detail"]) == (409, True)
    assert len((await ada.get(f"{flag_path(flag)}/rules")).json()) == 2
    await ada.delete(flag_path(flag))
    deletion = await latest(ada, project)
    for key in ("one", "two"):
        await ada.create_flag(environment, key=key)
    answer = await restore(ada, project, deletion, dry_run=True)
    assert (answer.status_code, "FLAGSTAFF_MAX_FLAGS_PER_ENVIRONMENT" in answer.json()["detail"]) == (409, True)


@pytest.mark.both_databases
async def test_of_restores_at_once_one_is_carried_out(ada: Caller, project: Json, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    await ada.create_rule(flag)
    await ada.post(f"{flag_path(flag)}/toggle")
    toggle = await latest(ada, project)
    answers = await asyncio.gather(*(restore(ada, project, toggle) for _ in range(6)))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 5}
    await ada.delete(flag_path(flag))
    deletion = await latest(ada, project)
    answers = await asyncio.gather(*(restore(ada, project, deletion) for _ in range(6)))
    assert Counter(answer.status_code for answer in answers) == {200: 1, 409: 5}
    assert len((await ada.get(f"{flag_path(flag)}/rules")).json()) == 1


async def test_an_entry_that_lacks_the_values_is_refused(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    await ada.delete(flag_path(flag))
    deletion = await latest(ada, project)
    await record_less(flagstaff, deletion, before={"name": "New checkout"})
    answer = await restore(ada, project, deletion)
    assert answer.status_code == 409
    assert answer.json()["detail"].startswith(
        "This cannot be restored. The audit trail does not contain valid values: "
    )
    flag = await ada.create_flag(environment)
    await ada.post(f"{flag_path(flag)}/toggle")
    toggle = await latest(ada, project)
    await record_less(flagstaff, toggle, before=None)
    why = "The audit trail does not contain the values before the change."
    refused(await restore(ada, project, toggle), why)


@pytest.mark.both_databases
async def test_a_flag_that_was_deleted_before_flags_had_all_of_their_fields_comes_back_with_their_defaults(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    await ada.delete(flag_path(flag))
    deletion = await latest(ada, project)
    newer = ("fallthrough", "bucketing_key", "stickiness", "tags", "variants", "prerequisites", "archived_at")
    await record_less(flagstaff, deletion, before=without(flag, *newer))
    await restored(ada, project, deletion)
    assert without((await ada.get(flag_path(flag))).json(), "updated_at") == without(flag, "updated_at")


def test_every_action_of_flags_rules_and_segments_is_meant() -> None:
    kinds = [each for each in get_args(Action) if each.partition(".")[0] in ("flag", "rule", "segment")]
    assert len(kinds) == 12, "does copying/restore_plans.py know the new action?"
