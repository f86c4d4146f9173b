"""The form of SDK keys of environments."""

import re
from datetime import timedelta
from uuid import uuid4

import pytest

from flagstaff.projects.sdk_keys import hash_sdk_key, hint_of, new_environment_key, project_in
from tests.support.builders import AT, make_sdk_key

ENVIRONMENTS = ["production", "a", "-", "_", "eu-west_1", 128 * "x"]


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_key_names_its_project_and_its_environment_and_is_read_by_unleash_edge(environment: str) -> None:
    project_id = uuid4()
    key = new_environment_key(project_id, environment)
    assert (key.count(":"), key.count(".")) == (1, 1)
    project, _, rest = key.partition(":")
    named, _, secret = rest.partition(".")
    assert (project, named) == (project_id.hex, environment)
    assert re.fullmatch("[0-9A-Za-z]{43}", secret)
    assert secret.endswith(hint_of(key))
    assert len(hint_of(key)) == 4
    assert project_in(key) == project_id


@pytest.mark.parametrize(
    "text", ["", "sdk_" + 43 * "a", 32 * "f" + ":production." + 42 * "a", 32 * "F" + ":a." + 43 * "a", 32 * "f" + "::."]
)
def test_other_texts_name_no_project(text: str) -> None:
    assert project_in(text) is None


def test_no_two_keys_are_alike() -> None:
    project_id = uuid4()
    keys = {new_environment_key(project_id, "production") for _ in range(100)}
    assert len({hash_sdk_key(key) for key in keys}) == 100


def test_a_key_has_expired_from_its_expiry_on() -> None:
    key = make_sdk_key(expires_at=AT)
    assert not key.has_expired(AT - timedelta(microseconds=1))
    assert key.has_expired(AT)
    assert not make_sdk_key().has_expired(AT)
