"""Permissions."""

from dataclasses import fields
from itertools import pairwise
from uuid import uuid4

import pytest

from flagstaff.permissions.members import Member, Role
from flagstaff.permissions.permissions import (
    MEANINGS,
    PERMISSIONS,
    LimitedMember,
    Limits,
    Permission,
    may,
    may_grant,
    noting_checks,
    own_permissions,
    require,
    require_anywhere,
    require_grant,
    require_of_token,
    require_project_creation,
)
from flagstaff.values.errors import Code, Error
from tests.support.builders import make_member

OF_EDITORS = PERMISSIONS[Role.EDITOR] - PERMISSIONS[Role.VIEWER]


def test_whoever_is_no_member_does_not_learn_whether_the_project_exists() -> None:
    for permission in Permission:
        with pytest.raises(Error) as refusal:
            require(None, permission)
        assert (refusal.value.code, refusal.value.message) == (Code.NOT_FOUND, "There is no such project.")


def test_a_refusal_names_the_permission_and_where_it_is_missing() -> None:
    viewer = make_member(role=Role.VIEWER)
    for environment, place in ((None, "in the whole project"), ("staging", "in the environment staging")):
        with pytest.raises(Error, match=f"requires the permission flags:write {place}") as refusal:
            require(viewer, Permission.FLAGS_WRITE, environment)
        assert (refusal.value.code, refusal.value.extensions) == (Code.FORBIDDEN, {"permission": "flags:write"})


def test_each_role_may_do_what_the_next_may_and_an_owner_everything() -> None:
    by_power = [PERMISSIONS[role] for role in (Role.VIEWER, Role.EDITOR, Role.ADMIN, Role.OWNER)]
    assert all(less < more for less, more in pairwise(by_power))
    assert by_power[-1] == set(Permission)


def test_every_permission_has_a_meaning() -> None:
    assert MEANINGS.keys() == set(Permission)


@pytest.mark.parametrize("role", Role)
def test_a_role_holds_in_the_project_and_in_every_environment(role: Role) -> None:
    member = make_member(role=role)
    for permission in Permission:
        for environment in (None, "production"):
            assert may(member, permission, environment) == (permission in PERMISSIONS[role])


@pytest.mark.parametrize("permission", sorted(OF_EDITORS))
def test_an_editor_of_staging_changes_nothing_in_production_nor_what_takes_effect_there(permission: Permission) -> None:
    for member in (
        make_member(role=Role.VIEWER, environments={"staging": Role.EDITOR}),
        make_member(role=Role.EDITOR, environments={"production": Role.VIEWER}),
    ):
        assert may(member, permission, "staging")
        assert not may(member, permission, "production")
        assert not may(member, permission)


def test_a_restricted_admin_cannot_manage_members_and_so_not_lift_the_restriction() -> None:
    assert not may(make_member(role=Role.ADMIN, environments={"production": Role.VIEWER}), Permission.MEMBERS_WRITE)


def test_require_returns_the_member() -> None:
    member = make_member()
    assert require(member, Permission.OWNERS_WRITE) is member


def limited(*permissions: Permission, only_in: frozenset[str] | None = None) -> LimitedMember:
    """An owner's access token."""
    owner = make_member()
    facts = {each.name: getattr(owner, each.name) for each in fields(Member)}
    return LimitedMember(**facts, permissions=frozenset(permissions), only_in=only_in)


def test_a_token_for_an_environment_may_do_nothing_in_others_and_only_read_the_project() -> None:
    token = limited(Permission.PROJECT_READ, Permission.FLAGS_WRITE, only_in=frozenset({"staging"}))
    assert may(token, Permission.FLAGS_WRITE, "staging")
    assert not may(token, Permission.FLAGS_WRITE, "production")
    assert not may(token, Permission.FLAGS_WRITE)
    assert may(token, Permission.PROJECT_READ)


def test_a_token_for_all_environments_may_do_only_what_its_permissions_say() -> None:
    token = limited(Permission.FLAGS_READ)
    for environment in (None, "production"):
        assert may(token, Permission.FLAGS_READ, environment)
        assert not may(token, Permission.FLAGS_WRITE, environment)


def test_a_permission_in_one_environment_is_enough_where_any_will_do_and_none_is_not() -> None:
    member = make_member(role=Role.VIEWER, environments={"staging": Role.EDITOR})
    require_anywhere(member, Permission.FLAGS_WRITE, ["production", "staging"])
    require_anywhere(make_member(), Permission.FLAGS_WRITE, [])
    with pytest.raises(Error, match="flags:write in at least one environment"):
        require_anywhere(member, Permission.FLAGS_WRITE, ["production"])


def test_a_token_needs_a_permission_somewhere_for_what_concerns_all_projects() -> None:
    needed = Permission.PROJECT_READ
    for limits in (None, Limits(frozenset({needed})), Limits(frozenset({needed}), uuid4(), frozenset({uuid4()}))):
        require_of_token(limits, needed)
    for limits in (Limits(frozenset()), Limits(frozenset({Permission.FLAGS_READ}), uuid4())):
        with pytest.raises(Error, match="project:read in the whole project"):
            require_of_token(limits, needed)


def test_only_a_session_and_a_token_for_all_projects_create_projects() -> None:
    needed = frozenset({Permission.PROJECT_WRITE})
    require_project_creation(None)
    require_project_creation(Limits(needed))
    for limits, reason in (
        (Limits(needed, uuid4()), "for one project"),
        (Limits(needed, uuid4(), frozenset({uuid4()})), "for one project"),
        (Limits(needed, None, frozenset({uuid4()})), "for some environments only"),
        (Limits(frozenset({Permission.PROJECT_READ})), "not have the permission project:write"),
    ):
        with pytest.raises(Error, match=f"because it .*{reason}"):
            require_project_creation(limits)


def test_only_owners_grant_the_role_of_an_owner_and_admins_the_others() -> None:
    owner, admin, editor = (make_member(role=role) for role in (Role.OWNER, Role.ADMIN, Role.EDITOR))
    assert [[may_grant(each, role) for role in Role] for each in (owner, admin, editor)] == [
        [True, True, True, True],
        [False, True, True, True],
        [False, False, False, False],
    ]
    require_grant(admin, Role.EDITOR, Role.VIEWER)
    with pytest.raises(Error, match="owners:write"):
        require_grant(admin, Role.EDITOR, Role.OWNER)


def test_a_member_has_the_permissions_of_each_role_where_it_holds() -> None:
    member = make_member(role=Role.ADMIN, environments={"production": Role.VIEWER})
    own = own_permissions(member, ["production", "staging"])
    assert own.member is member
    assert set(own.permissions) == PERMISSIONS[Role.VIEWER]
    found = {key: set(permissions) for key, permissions in own.environments.items()}
    assert found == {"production": PERMISSIONS[Role.VIEWER], "staging": PERMISSIONS[Role.ADMIN]}


def test_the_checks_that_are_passed_can_be_made_again() -> None:
    member = make_member(role=Role.VIEWER)
    require(member, Permission.FLAGS_READ)
    with noting_checks() as checks:
        require(member, Permission.FLAGS_READ, "staging")
        with pytest.raises(Error):
            require(member, Permission.FLAGS_WRITE)
    require(member, Permission.AUDIT_READ)
    assert checks == {(member.project_id, Permission.FLAGS_READ, "staging")}
