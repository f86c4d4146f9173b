"""A project that nobody asks for is unloaded; its next evaluation is right, also after changes in between."""

import asyncio

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.serving.idle_projects import SWEEPS
from tests.support.api import Caller, Json, flag_path, project_path
from tests.support.sdk_keys import KeyMaker


async def unload(flagstaff: Flagstaff) -> None:
    """Let an hour pass in which nobody asks for flags."""
    for _ in range(SWEEPS + 1):
        await flagstaff.serving.idle_projects.sweep()
    assert not flagstaff.serving.snapshots.loaded


async def is_on(client: Caller, sdk_key: str, environment: str | None = None) -> bool:
    """Return whether the flag is on."""
    answer = await client.evaluate(sdk_key, environment or "production")
    assert answer.status_code == 200, answer.text
    on: bool = answer.json()["flags"]["new-checkout"]["enabled"]
    return on


@pytest.mark.both_databases
async def test_changes_and_keys_of_an_unloaded_project_are_in_force_at_once(
    ada: Caller, client: Caller, keys: KeyMaker, flagstaff: Flagstaff, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    assert await is_on(client, project["sdk_key"])
    for expected in (False, True):
        await unload(flagstaff)
        assert (await ada.post(f"{flag_path(flag)}/toggle")).status_code == 200
        assert not flagstaff.serving.snapshots.loaded
        assert await is_on(client, project["sdk_key"]) is expected
    await unload(flagstaff)
    text = await keys.create(environment)
    assert await is_on(client, text)

    await unload(flagstaff)
    rotated = await ada.post(f"{project_path(project)}/regenerate-key")
    assert (await client.evaluate(project["sdk_key"])).status_code == 401
    assert not flagstaff.serving.snapshots.loaded
    assert await is_on(client, rotated.json()["sdk_key"])

    await unload(flagstaff)
    assert (await ada.delete(project_path(project))).status_code == 204
    assert (await client.evaluate(text)).status_code == 401
    assert not flagstaff.serving.snapshots.loaded


async def test_a_demanded_revision_of_an_unloaded_project_is_reached(
    ada: Caller, client: Caller, flagstaff: Flagstaff, project: Json, environment: Json
) -> None:
    flag = await ada.create_flag(environment)
    assert await is_on(client, project["sdk_key"])
    await unload(flagstaff)
    revision = (await ada.post(f"{flag_path(flag)}/toggle")).headers["flagstaff-revision"]
    client.headers["flagstaff-min-revision"] = revision
    assert not await is_on(client, project["sdk_key"])


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_UNLOAD_AFTER_SECONDS": "1"}])
async def test_the_setting_decides_when_a_project_leaves_memory(
    ada: Caller, client: Caller, project: Json, environment: Json, flagstaff: Flagstaff
) -> None:
    await ada.create_flag(environment)
    assert await is_on(client, project["sdk_key"])
    async with asyncio.timeout(10):
        while flagstaff.serving.snapshots.loaded:
            await asyncio.sleep(0.02)
    assert flagstaff.serving.idle_projects.unloaded == 1
    assert await is_on(client, project["sdk_key"])
