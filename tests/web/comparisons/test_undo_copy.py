"""POST /api/projects/{project_id}/changes/restore with `batch_of`: a copy is undone as a whole, or not at all."""

from typing import Any

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.copying import restored_batches, restores_service
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.members import join

KEYS = ["present", "needs", "needed"]


async def undo(caller: Caller, project: Json, change: str, **options: Any) -> httpx.Response:
    return await caller.post(f"{project_path(project)}/changes/restore", json={"batch_of": change, **options})


async def state_of(caller: Caller, environment: Json) -> list[Json]:
    """The flags of an environment with their rules, without the times of their changes."""
    flags: list[Json] = (await caller.get(f"{environment_path(environment)}/flags")).json()
    for flag in flags:
        rules = (await caller.get(f"{flag_path(flag)}/rules")).json()
        flag["rules"] = [{**rule, "updated_at": None} for rule in rules]
        flag["updated_at"] = None
    return flags


async def copy(ada: Caller, project: Json, environment: Json, staging: Json, keys: list[str]) -> list[str]:
    """Copy to staging, which creates two flags with rules and changes one with rules; return the changes."""
    body = {"from": environment["id"], "to": staging["id"], "flag_keys": keys}
    answer = await ada.post(f"{project_path(project)}/copy", json=body)
    assert answer.status_code == 200, answer.text
    return [each["change_id"] for each in answer.json()["alterations"]]


@pytest.fixture
async def before(ada: Caller, environment: Json, staging: Json) -> list[Json]:
    """The state of staging before the copy; production has two more flags, of which one needs the other."""
    await ada.create_flag(environment, key="needed")
    for key in ("needs", "present"):
        flag = await ada.create_flag(environment, key=key, prerequisites=[{"flag_key": "needed"}])
        for value in ("ada", "grace"):
            await ada.create_rule(flag, rule_value=value)
    present = await ada.create_flag(staging, key="present", enabled=False)
    for value, priority in (("eve", 0), ("bob", 9)):
        await ada.create_rule(present, rule_value=value, priority=priority)
    return await state_of(ada, staging)


@pytest.fixture
async def copied(ada: Caller, project: Json, environment: Json, staging: Json, before: list[Json]) -> list[str]:
    """The changes of the copy."""
    assert before
    return await copy(ada, project, environment, staging, KEYS)


@pytest.mark.parametrize("body", [{}, {"changes": ["1"], "batch_of": "1"}])
async def test_a_body_names_either_changes_or_one_of_an_operation(ada: Caller, project: Json, body: Json) -> None:
    answer = await ada.post(f"{project_path(project)}/changes/restore", json=body)
    assert answer.status_code == 400
    assert "must have either changes or batch_of" in answer.text


async def test_an_operation_of_others_or_without_the_permission_is_not_undone(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, staging: Json, copied: list[str]
) -> None:
    before = await state_of(ada, staging)
    assert field_errors(await undo(ada, project, "x")) == {"batch_of": "must be the id of a change"}
    assert (await undo(ada, project, "123456789")).status_code == 404
    assert (await undo(eve, project, copied[0])).status_code == 404
    assert (await undo(eve, await eve.create_project(), copied[0])).status_code == 404
    await join(flagstaff, project, eve, "viewer")
    assert (await undo(eve, project, copied[0])).status_code == 403
    assert await state_of(ada, staging) == before


@pytest.mark.both_databases
@pytest.mark.parametrize("keys", [KEYS, KEYS[::-1]])
async def test_a_copy_is_undone_whole_and_so_is_the_undoing(
    ada: Caller, project: Json, environment: Json, staging: Json, before: list[Json], keys: list[str]
) -> None:
    first, *_, last = await copy(ada, project, environment, staging, keys)
    after = await state_of(ada, staging)

    dry = (await undo(ada, project, first, dry_run=True, if_unchanged=True)).json()["items"]
    assert await state_of(ada, staging) == after
    answer = await undo(ada, project, last, if_unchanged=True)

    assert answer.status_code == 200, answer.text
    items = answer.json()["items"]
    assert [each["alterations"] for each in items] == [each["alterations"] for each in dry]
    assert await state_of(ada, staging) == before
    made = (await ada.get(f"{project_path(project)}/changes", params={"limit": len(items)})).json()["items"]
    assert {each["batch"]["kind"] for each in made} == {"restore"}
    assert {each["id"]: each["restores"] for each in made} == {each["restored_by"]: each["change_id"] for each in items}
    assert [each["action"] for each in made].count("flag.deleted") == 2
    assert (await undo(ada, project, items[0]["restored_by"])).status_code == 200
    assert await state_of(ada, staging) == after


@pytest.mark.both_databases
async def test_a_copy_of_which_somebody_has_touched_a_new_flag_is_not_undone_and_the_change_is_named(
    ada: Caller, project: Json, staging: Json, copied: list[str]
) -> None:
    flags = {each["key"]: each for each in (await ada.get(f"{environment_path(staging)}/flags")).json()}
    await ada.post(f"{flag_path(flags['needed'])}/toggle")
    (toggle,) = (await ada.get(f"{project_path(project)}/changes", params={"limit": 1})).json()["items"]
    before = await state_of(ada, staging)

    dry = (await undo(ada, project, copied[0], dry_run=True)).json()["items"]
    answer = await undo(ada, project, copied[0])

    (why,) = [each["refusal"] for each in dry if each["refusal"] is not None]
    assert answer.status_code == 409
    assert answer.json()["detail"].endswith(why)
    assert why == (
        "This cannot be restored. The flag needed has been changed since it was created: flag.toggled by "
        f"ada@example.com, change {toggle['id']}. Restore the later changes together with this one, or delete it."
    )
    assert await state_of(ada, staging) == before


async def test_a_copy_of_one_flag_without_rules_is_undone_alike(
    ada: Caller, project: Json, environment: Json, staging: Json
) -> None:
    await ada.create_flag(environment)
    body = {"from": environment["id"], "to": staging["id"], "flag_keys": ["new-checkout"]}
    (created,) = (await ada.post(f"{project_path(project)}/copy", json=body)).json()["alterations"]
    assert (await undo(ada, project, created["change_id"])).status_code == 200
    assert await state_of(ada, staging) == []


async def test_an_operation_with_too_many_changes_is_refused_by_name(
    ada: Caller, project: Json, copied: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restored_batches, "BATCH_MAX", 2)
    assert "at most 2 can be restored together" in field_errors(await undo(ada, project, copied[0]))["batch_of"]


@pytest.mark.parametrize("bound", ["CHARACTERS_MAX", "RESOURCES_MAX"])
async def test_an_operation_that_alters_too_much_is_refused_by_name(
    ada: Caller, project: Json, copied: list[str], monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    monkeypatch.setattr(restores_service, bound, 2)
    for dry_run in (True, False):
        (refused,) = field_errors(await undo(ada, project, copied[0], dry_run=dry_run)).items()
        assert refused[0] == "batch_of"
        assert refused[1].startswith("must not alter more than 500 flags, rules and segments together")
