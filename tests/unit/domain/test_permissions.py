"""Permissions."""

import pytest

from flagstaff.domain.changes import COMMAND_LINE, Actor
from flagstaff.domain.errors import Code, Error
from flagstaff.domain.permissions import require_access
from tests.support.builders import make_account, make_project


def test_a_missing_project_and_someone_elses_give_the_same_error() -> None:
    owner, other = make_account(), make_account()
    refusals = []
    for actor, project in [
        (Actor(owner.id, owner.email), None),
        (Actor(other.id, other.email), make_project(owner.id)),
        (COMMAND_LINE, make_project(owner.id)),
    ]:
        with pytest.raises(Error) as refusal:
            require_access(actor, project)
        refusals.append((refusal.value.code, refusal.value.message))
    assert set(refusals) == {(Code.NOT_FOUND, "There is no such project.")}


def test_a_project_is_visible_to_its_owner() -> None:
    owner = make_account()
    project = make_project(owner.id)
    assert require_access(Actor(owner.id, owner.email), project) is project
