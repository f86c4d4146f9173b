"""The nesting of JSON has the same bound wherever a client's JSON is read, with every Python and on every path."""

from pathlib import Path

import pytest

from flagstaff.http.nesting import NESTING_MAX
from tests.support.api import Caller, Json, environment_path, field_errors
from tests.support.sdk_keys import create_key

REFUSAL = {"body": f"must not be nested more than {NESTING_MAX} levels deep"}
EVALUATE = b'{"environment":"production","context":{"user_id":"ada","custom_attributes":{"x":%s}}}'
FLAT = b'{"context":{"targetingKey":"ada","x":%s}}'
# Each path, a body for it, and the number of levels around its innermost value.
WITH_SDK_KEY = {
    "/sdk/v1/evaluate": (EVALUATE, 3),
    "/sdk/v1/evaluate/new-checkout": (EVALUATE, 3),
    "/ofrep/v1/evaluate/flags": (FLAT, 2),
    "/ofrep/v1/evaluate/flags/new-checkout": (FLAT, 2),
    "/unleash/api/frontend": (b'{"context":{"userId":"ada","properties":{"x":%s}}}', 3),
    "/unleash/api/frontend/client/register": (b'{"appName":"shop","x":%s}', 1),
    "/unleash/api/frontend/client/metrics": (
        b'{"appName":"shop","bucket":{"start":"","stop":"","toggles":{}},"x":%s}',
        1,
    ),
    "/unleash/api/client/register": (b'{"appName":"shop","instanceId":"1","started":"","interval":1,"x":%s}', 1),
    "/unleash/api/client/metrics": (b'{"appName":"shop","x":%s}', 1),
    "/unleash/api/client/metrics/bulk": (b'{"applications":[],"metrics":[],"x":%s}', 1),
    "/unleash/api/client/metrics/edge": (b'{"x":%s}', 1),
    "/unleash/edge/validate": (b'{"tokens":[],"x":%s}', 1),
}


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: these requests do not reach the database."""
    return sqlite_template


@pytest.fixture
async def project(ada: Caller) -> Json:
    """A project with one flag in `production`."""
    made = await ada.create_project()
    await ada.create_flag(await ada.get_environment(made))
    return made


def lists(levels: int) -> bytes:
    """Return this many lists inside each other."""
    return b"[" * levels + b"]" * levels


@pytest.mark.parametrize("path", WITH_SDK_KEY)
async def test_bodies_of_applications_are_nested_to_the_bound(
    path: str, ada: Caller, client: Caller, project: Json
) -> None:
    body, around = WITH_SDK_KEY[path]
    text = (await create_key(ada, project))["key"]
    headers = {"x-sdk-key": text} if path.startswith("/sdk") else {"authorization": f"Bearer {text}"}
    for levels in (NESTING_MAX + 1 - around, 4_000):
        refused = await client.post(path, content=body % lists(levels), headers=headers)
        assert (refused.status_code, "levels deep" in refused.text) == (400, True), refused.text
    for content in (body % lists(30_000), body[: body.index(b"%s")] + b"[" * 60_000):
        refused = await client.post(path, content=content, headers=headers)
        assert refused.status_code == 400, refused.text
        assert "levels deep" in refused.text or "brackets" in refused.text  # the body of an evaluation has both bounds
    answered = await client.post(path, content=body % lists(NESTING_MAX - around), headers=headers)
    assert answered.is_success, answered.text


async def test_bodies_of_the_management_api_are_nested_to_the_bound(ada: Caller, project: Json) -> None:
    explain = f"{environment_path(await ada.get_environment(project))}/explain"
    context = b'{"context":{"custom_attributes":{"x":%s}}}'
    headers = {"content-type": "application/json"}
    for levels in (NESTING_MAX - 2, 5_000, 100_000):
        assert field_errors(await ada.post(explain, content=context % lists(levels), headers=headers)) == REFUSAL
    assert (await ada.post(explain, content=context % lists(NESTING_MAX - 3), headers=headers)).status_code == 200


@pytest.mark.parametrize("path", ["/auth/register", "/auth/login", "/auth/forgot-password"])
async def test_bodies_of_strangers_are_nested_to_the_bound(path: str, client: Caller) -> None:
    headers = {"content-type": "application/json"}
    for body in (lists(NESTING_MAX + 1), lists(7_000), b"[" * 16_000):
        assert field_errors(await client.post(path, content=body, headers=headers)) == REFUSAL
    assert field_errors(await client.post(path, content=lists(NESTING_MAX), headers=headers)) != REFUSAL
