"""The contents of the audit trail."""

import json

import pytest

from flagstaff.changes.changes import Actor, Resource, Scope, change_of
from tests.support.builders import AT, make_account, make_environment, make_flag, make_project, make_rule

ADA = make_account()
ACTOR = Actor(ADA.id, ADA.email)


@pytest.mark.parametrize("secret", [make_account(password_hash="hash-secret"), make_project(sdk_key="sdk_secret")])
def test_secrets_are_left_out(secret: Resource) -> None:
    change = change_of(ACTOR, "thing.created", AT, Scope(), after=secret)
    assert "secret" not in json.dumps(change.after)


@pytest.mark.parametrize("resource", [make_account(), make_project(), make_environment(), make_flag(), make_rule()])
def test_every_resource_is_kept_as_json(resource: Resource) -> None:
    change = change_of(ACTOR, "thing.created", AT, Scope(), after=resource)
    assert json.loads(json.dumps(change.after)) == change.after
    assert change.after is not None
    assert change.after["id"] == str(resource.id)
    assert change.after["created_at"] == "2026-11-20T10:00:00.123456Z"


def test_a_creation_has_no_before_and_a_deletion_no_after() -> None:
    flag = make_flag()
    assert change_of(ACTOR, "flag.created", AT, Scope(), after=flag).before is None
    deletion = change_of(ACTOR, "flag.deleted", AT, Scope(), before=flag)
    assert deletion.after is None
    assert deletion.resource_id == flag.id


def test_an_update_has_the_values_before_and_after() -> None:
    before, after = make_flag(enabled=False), make_flag(enabled=True)
    change = change_of(ACTOR, "flag.toggled", AT, Scope(), before=before, after=after)
    assert change.before is not None
    assert change.after is not None
    assert (change.before["enabled"], change.after["enabled"]) == (False, True)
