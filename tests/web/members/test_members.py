"""The members of a project: listed, changed, removed."""

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.permissions.permissions import PERMISSIONS
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path, project_path
from tests.support.members import join, member_path
from tests.web.conftest import ListChanges, SignUp

ROLES = "'owner', 'admin', 'editor' or 'viewer'"


async def test_an_account_that_is_no_member_is_not_found(ada: Caller, eve: Caller, project: Json) -> None:
    for path in (member_path(project, eve), f"{project_path(project)}/members/x"):
        assert (await ada.put(path, json={"role": "viewer"})).status_code == 404
        assert (await ada.delete(path)).status_code == 404


async def test_invalid_roles_and_environments_are_refused_and_change_nothing(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    path = await join(flagstaff, project, eve, "viewer")
    before = (await ada.get(f"{project_path(project)}/members")).json()
    for body, errors in (
        ({"role": "god"}, {"role": f"must be {ROLES}"}),
        ({"role": None}, {"role": f"must be {ROLES}"}),
        ({"rôle": "viewer"}, {"rôle": "is not a known field; did you mean role?"}),
        (
            {"environments": {"production": "owner"}},
            {"environments.production": "must be 'admin', 'editor' or 'viewer'"},
        ),
        (
            {"environments": {"canary": "editor"}},
            {"environments.canary": "is not the key of an environment of this project"},
        ),
        ({"environments": []}, {"environments": "must be an object"}),
        (
            {"role": "owner", "environments": {"production": "viewer"}},
            {"environments": "must be empty for an owner, whose role applies to every environment"},
        ),
    ):
        assert field_errors(await ada.put(path, json=body)) == errors
    assert (await ada.get(f"{project_path(project)}/members")).json() == before


async def test_an_admin_neither_makes_nor_changes_nor_removes_an_owner(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, sign_up: SignUp, project: Json
) -> None:
    bob = await sign_up("bob")
    await join(flagstaff, project, eve, "admin")
    path = await join(flagstaff, project, bob, "editor")
    rejections = [
        await eve.put(member_path(project, eve), json={"role": "owner"}),
        await eve.put(path, json={"role": "owner"}),
        await eve.put(member_path(project, ada), json={"role": "viewer"}),
        await eve.delete(member_path(project, ada)),
    ]
    assert {(each.status_code, each.json()["permission"]) for each in rejections} == {(403, "owners:write")}
    assert (await eve.put(path, json={"role": "admin"})).status_code == 200
    assert (await eve.delete(path)).status_code == 204


async def test_the_last_owner_cannot_be_demoted_or_leave(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    await join(flagstaff, project, eve, "admin")
    for answer in (
        await ada.put(member_path(project, ada), json={"role": "admin"}),
        await ada.delete(member_path(project, ada)),
    ):
        assert answer.status_code == 409
        assert "is the last owner of the project" in answer.json()["detail"]


@pytest.mark.both_databases
@pytest.mark.parametrize("environ", [{"FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT": "1"}])
async def test_a_project_counts_against_the_quota_of_an_owner_who_has_room_for_it(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, sign_up: SignUp, project: Json
) -> None:
    await eve.create_project()
    await join(flagstaff, project, eve, "owner")
    refused = await ada.delete(member_path(project, ada))
    assert refused.status_code == 409
    assert "FLAGSTAFF_MAX_PROJECTS_PER_ACCOUNT" in refused.json()["detail"]
    bob = await sign_up("bob")
    await join(flagstaff, project, bob, "owner")
    assert (await ada.delete(member_path(project, ada))).status_code == 204
    assert (await bob.post("/api/projects", json={"name": "n"})).status_code == 409
    await ada.create_project()


async def test_members_are_listed_with_their_roles(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    await join(flagstaff, project, eve, "viewer", {"staging": "editor"})
    for caller in (ada, eve):
        listed = (await caller.get(f"{project_path(project)}/members")).json()
        assert [(each["email"], each["role"], each["environments"]) for each in listed] == [
            ("ada@example.com", "owner", {}),
            ("eve@example.com", "viewer", {"staging": "editor"}),
        ]
        assert listed[1]["account_id"] == eve.account["id"]


async def test_a_put_changes_only_what_is_given_and_takes_back_what_a_get_returned(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, list_changes: ListChanges
) -> None:
    path = await join(flagstaff, project, eve, "viewer", {"staging": "editor"})
    changed = await ada.put(path, json={"role": "editor"})
    assert (changed.json()["role"], changed.json()["environments"]) == ("editor", {"staging": "editor"})
    assert (await ada.put(path, json=changed.json())).json() == changed.json()
    changed = await ada.put(path, json={"environments": {"production": "viewer"}})
    assert (changed.json()["role"], changed.json()["environments"]) == ("editor", {"production": "viewer"})
    *_, first, second = await list_changes()
    assert [each["action"] for each in (first, second)] == ["member.updated"] * 2
    assert second["before"]["environments"] == {"staging": "editor"}
    assert second["after"]["environments"] == {"production": "viewer"}
    assert str(second["resource_id"]) == eve.account["id"]


async def test_whoever_is_removed_sees_nothing_any_more(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, list_changes: ListChanges
) -> None:
    path = await join(flagstaff, project, eve, "editor")
    assert [each["id"] for each in (await eve.get("/api/projects")).json()] == [project["id"]]
    assert (await ada.delete(path)).status_code == 204
    assert (await eve.get("/api/projects")).json() == []
    assert (await eve.get(project_path(project))).status_code == 404
    last = (await list_changes())[-1]
    assert (last["action"], last["before"]["email"], last["after"]) == ("member.removed", "eve@example.com", None)


async def test_everyone_may_leave(flagstaff: Flagstaff, eve: Caller, project: Json) -> None:
    assert (await eve.delete(await join(flagstaff, project, eve, "viewer"))).status_code == 204
    assert (await eve.get(project_path(project))).status_code == 404


async def test_an_owner_makes_another_and_can_then_go(
    ada: Caller, eve: Caller, flagstaff: Flagstaff, project: Json
) -> None:
    path = await join(flagstaff, project, eve, "editor")
    assert (await ada.put(path, json={"role": "owner"})).status_code == 200
    assert (await eve.put(member_path(project, ada), json={"role": "viewer"})).status_code == 200
    assert (await ada.delete(project_path(project))).status_code == 403
    assert (await eve.delete(project_path(project))).status_code == 204


async def test_the_sdk_key_is_shown_to_those_who_may_read_it(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    for role, environments, shown in (
        ("viewer", {}, None),
        ("viewer", {"staging": "admin"}, None),
        ("editor", {"production": "viewer"}, None),
        ("editor", {}, project["sdk_key"]),
    ):
        await join(flagstaff, project, eve, role, environments)
        assert (await eve.get(project_path(project))).json()["sdk_key"] == shown
        assert [each["sdk_key"] for each in (await eve.get("/api/projects")).json()] == [shown]
    assert (await ada.get(project_path(project))).json()["sdk_key"] == project["sdk_key"]


async def test_an_editor_of_staging_changes_nothing_that_takes_effect_in_production(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    production, staging = [await ada.get_environment(project, key) for key in ("production", "staging")]
    flag, there = await ada.create_flag(production), await ada.create_flag(staging)
    await join(flagstaff, project, eve, "viewer", {"staging": "editor"})
    assert (await eve.post(f"{flag_path(there)}/toggle")).status_code == 200
    for refused in (
        await eve.post(f"{flag_path(flag)}/toggle"),
        await eve.post(f"{environment_path(production)}/flags", json={"name": "x", "key": "x"}),
        await eve.post(f"{project_path(project)}/segments", json={"name": "x", "key": "x", "conditions": []}),
        await eve.post(f"{project_path(project)}/regenerate-key"),
    ):
        assert refused.status_code == 403
    assert (await eve.get(flag_path(flag))).status_code == 200


async def test_a_role_in_an_environment_ends_with_it(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json
) -> None:
    await join(flagstaff, project, eve, "viewer", {"staging": "admin"})
    assert (await eve.delete(environment_path(await ada.get_environment(project, "staging")))).status_code == 204
    again = await ada.create_environment(project, key="staging")
    assert (await eve.delete(environment_path(again))).status_code == 403


async def test_everyone_can_read_their_own_permissions(flagstaff: Flagstaff, eve: Caller, project: Json) -> None:
    await join(flagstaff, project, eve, "viewer", {"staging": "editor"})
    found = (await eve.get(f"{project_path(project)}/permissions")).json()
    assert found["role"] == "viewer"
    assert "flags:write" not in found["permissions"]
    assert {key: "flags:write" in each for key, each in found["environments"].items()} == {
        "production": False,
        "staging": True,
    }
    assert {role: set(each) for role, each in found["roles"].items()} == PERMISSIONS
