"""Permissions."""

from itertools import pairwise

import pytest

from flagstaff.projects.members import Role
from flagstaff.projects.permissions import MEANINGS, PERMISSIONS, Permission, may, require
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
