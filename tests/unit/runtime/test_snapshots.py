"""Snapshots: never an old state after a change, one load for many callers, none for unknown keys."""

import asyncio
import gc
from collections.abc import AsyncIterator
from uuid import UUID

import pytest
from structlog.testing import capture_logs
from uuid_utils.compat import uuid7

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.projects.sdk_keys import hash_sdk_key
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.known_sdk_keys import SdkKeys
from flagstaff.serving.loaders import Loaders
from flagstaff.values.errors import Code, Error, unavailable
from tests.support.builders import AT, make_environment, make_project
from tests.support.snapshots import ENVIRONMENTS, World, until


@pytest.fixture
async def world() -> AsyncIterator[World]:
    """A world whose SDK key is known and whose project is not loaded yet. Leftover tasks fail the test."""
    made = World()
    await made.sdk_keys.start()
    yield made
    left_over = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left_over, f"tasks were left over: {left_over}"


async def test_an_unknown_key_is_never_loaded(world: World) -> None:
    for number in range(100):
        assert await world.sdk_keys.find(f"sdk_{number}") is None
    assert await world.sdk_keys.find("") is None
    assert world.loads == []


async def test_a_failed_first_load_is_raised_and_the_next_call_loads_again(world: World) -> None:
    world.failure = unavailable()
    with pytest.raises(Error):
        await world.served()
    world.failure = None
    assert await world.served() is False
    assert world.loads == ["keys", "keys", "first production"]


async def test_an_unexpected_error_of_a_loader_is_unavailable_and_logged_once(world: World) -> None:
    world.failure = ValueError("'device' is not a valid RuleType")
    with capture_logs() as entries:
        for _ in range(3):
            with pytest.raises(Error) as refusal:
                await world.served()
            assert refusal.value.code is Code.UNAVAILABLE
    assert [entry["event"] for entry in entries] == ["project_not_loaded"]
    assert entries[0]["exc_info"] is world.failure


@pytest.mark.parametrize("again", ["retry", "refresh_all"])
async def test_a_project_that_cannot_be_loaded_does_not_keep_others_from_being_loaded_again(again: str) -> None:
    worlds = [World() for _ in range(3)]
    by_id = {world.project.id: world for world in worlds}

    async def load_sdk_keys() -> dict[bytes, UUID]:
        return {hash_sdk_key(world.sdk_key): project_id for project_id, world in by_id.items()}

    loaders = Loaders(
        load_project=lambda project_id: by_id[project_id].load_project(project_id),
        load_first=lambda project_id, environment_id: by_id[project_id].load_first(project_id, environment_id),
        load_environment=lambda project_id, environment_id, before: by_id[project_id].load_environment(
            project_id, environment_id, before
        ),
        load_revisions=lambda project_id: by_id[project_id].load_revisions(project_id),
        forget=lambda _: None,
    )
    snapshots = Snapshots(loaders, Supervisor())
    sdk_keys = SdkKeys(snapshots, load=load_sdk_keys, is_following=lambda: True, now=lambda: AT)
    await sdk_keys.start()
    for world in worlds:
        await sdk_keys.find(world.sdk_key)
        world.failure = RuntimeError("out of luck")
        if again == "retry":
            with pytest.raises(Error):
                await snapshots.refresh(world.project.id)
    for healed in worlds:
        others = [world for world in worlds if world is not healed]
        for world in worlds:
            world.failure = None if world is healed else RuntimeError("out of luck")
        await (snapshots.retry() if again == "retry" else sdk_keys.refresh_all())
        assert await snapshots.is_served(healed.project.id)
        stale = [not await snapshots.is_served(world.project.id) for world in others]
        if again == "refresh_all":
            assert stale == [True, True]
    assert again == "refresh_all" or not snapshots.is_stale()


async def test_a_project_is_not_served_while_its_load_fails_and_served_when_a_load_has_succeeded(world: World) -> None:
    await world.served()
    world.let_go.clear()
    world.snapshots.begin_refresh(world.project.id)
    asking = asyncio.create_task(world.snapshots.is_served(world.project.id))
    await world.until_loading(3)
    assert not asking.done(), "the load had not ended"
    world.failure = RuntimeError("out of luck")
    world.let_go.set()
    assert await asking is False
    world.failure = None
    world.snapshots.begin_refresh(world.project.id)
    assert await world.snapshots.is_served(world.project.id) is True


async def test_a_load_that_is_cancelled_while_it_waits_does_not_block_the_next(world: World) -> None:
    await world.served()
    world.let_go.clear()
    first = world.snapshots.begin_refresh(world.project.id)
    await world.until_loading(3)
    for begins in (False, True):
        waiting = world.snapshots.begin_refresh(world.project.id)
        if begins:
            await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait([waiting])
    world.commit(True)
    world.let_go.set()
    await first
    await world.refresh()
    assert await world.served() is True


async def test_a_project_is_loaded_once_and_then_only_looked_up(world: World) -> None:
    assert world.sdk_key not in world.sdk_keys.known
    for _ in range(10):
        assert await world.served() is False
    assert world.loads == ["keys", "first production"]


async def test_concurrent_first_evaluations_share_one_load(world: World) -> None:
    world.let_go.clear()
    calls = [asyncio.create_task(world.served()) for _ in range(25)]
    await world.until_loading(1)
    calls += [asyncio.create_task(world.served()) for _ in range(25)]
    await asyncio.wait(calls, timeout=0.01)
    world.let_go.set()
    assert await asyncio.gather(*calls) == [False] * 50
    assert world.loads == ["keys", "first production"]


async def test_a_caller_that_gives_up_does_not_end_the_load_of_the_others(world: World) -> None:
    world.let_go.clear()
    first, second = (asyncio.create_task(world.served()) for _ in range(2))
    await world.until_loading(1)
    first.cancel()
    await asyncio.wait([first])
    world.let_go.set()
    assert await second is False
    assert world.loads == ["keys", "first production"]


async def test_a_load_that_fails_after_all_callers_gave_up_has_no_effect(world: World) -> None:
    complaints: list[object] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
    world.let_go.clear()
    call = asyncio.create_task(world.served())
    await world.until_loading(1)
    call.cancel()
    await asyncio.wait([call])
    world.failure = unavailable()
    world.let_go.set()
    await until(lambda: len(asyncio.all_tasks()) == 1)
    gc.collect()  # an exception that nobody retrieved would be reported here
    assert not complaints
    world.failure = None
    assert await world.served() is False


async def test_after_a_refresh_the_new_state_is_served_and_only_that_environment_is_loaded(world: World) -> None:
    assert await world.served() is False
    world.commit(True)
    await world.refresh()
    assert (await world.served(), await world.served("staging")) == (True, False)
    assert world.loads == ["keys", "first production", "production", "first staging"]


async def test_a_refresh_that_comes_during_a_load_loads_again(world: World) -> None:
    await world.served()
    world.let_go.clear()
    first = asyncio.create_task(world.refresh())
    await world.until_loading(3)  # it has already read the old state
    world.commit(True)
    second = asyncio.create_task(world.refresh())
    world.let_go.set()
    await second
    assert await world.served() is True
    await first
    assert world.loads == ["keys", "first production", "production", "production"]


async def test_refreshes_that_wait_for_the_same_turn_share_one_load(world: World) -> None:
    await world.served()
    world.let_go.clear()
    first = asyncio.create_task(world.refresh())
    await world.until_loading(3)
    others = [asyncio.create_task(world.refresh()) for _ in range(20)]
    world.commit(True)
    world.let_go.set()
    await asyncio.gather(first, *others)
    assert await world.served() is True
    assert world.loads == ["keys", "first production", "production", "production"]


async def test_environments_refreshed_side_by_side_do_not_overwrite_each_other(world: World) -> None:
    await world.served()
    for enabled in (True, False, True):
        for key in ENVIRONMENTS:
            world.commit(enabled, key)
        await asyncio.gather(*(world.refresh(key) for key in ENVIRONMENTS))
        assert [await world.served(key) for key in ENVIRONMENTS] == [enabled, enabled]


async def test_a_first_load_that_began_before_a_change_does_not_hide_it(world: World) -> None:
    world.let_go.clear()
    evaluation = asyncio.create_task(world.served())
    await world.until_loading(1)
    world.commit(True)
    change = asyncio.create_task(world.refresh())
    world.let_go.set()
    await change
    assert await world.served() is True
    await evaluation


async def test_a_deleted_environment_is_no_longer_served(world: World) -> None:
    await world.served()
    gone = world.environments.pop("staging")
    await world.snapshots.refresh(world.project.id, gone.id)
    assert (await world.served("staging"), await world.served()) == (None, False)


async def test_a_new_environment_is_served_after_its_refresh(world: World) -> None:
    await world.served()
    world.environments["qa"] = make_environment(world.project.id, key="qa")
    world.enabled["qa"] = True
    await world.refresh("qa")
    assert (await world.served("qa"), await world.served()) == (True, False)


async def test_a_rotated_key_opens_nothing_and_the_new_one_everything(world: World) -> None:
    await world.served()
    old = world.sdk_key
    world.project = make_project(id=world.project.id)
    await world.refresh(None)
    assert await world.sdk_keys.find(old) is None
    assert await world.served() is False
    assert set(world.sdk_keys.known) == {world.sdk_key}


async def test_a_key_rotated_while_its_project_was_loaded_opens_nothing(world: World) -> None:
    old = world.sdk_key
    world.let_go.clear()
    evaluation = asyncio.create_task(world.sdk_keys.find(old))
    await world.until_loading(1)
    world.project = make_project(id=world.project.id)
    rotation = asyncio.create_task(world.refresh(None))
    world.let_go.set()
    await rotation
    assert await world.sdk_keys.find(old) is None
    assert await world.served() is False
    await evaluation


async def test_a_deleted_project_is_forgotten_with_its_key(world: World) -> None:
    await world.served()
    world.exists = False
    await world.refresh(None)
    assert await world.served() is None
    assert world.loads == ["keys", "first production", "keys"]
    assert not world.sdk_keys.known


async def test_a_project_deleted_before_its_first_load_is_not_found(world: World) -> None:
    world.exists = False
    assert await world.served() is None
    assert await world.served() is None
    assert world.loads == ["keys"]


async def test_a_new_project_is_known_after_its_refresh(world: World) -> None:
    fresh = World()
    fresh.exists = False
    await fresh.sdk_keys.start()
    assert await fresh.served() is None
    fresh.exists = True
    await fresh.refresh(None)
    assert await fresh.served() is False


async def test_a_project_that_could_not_be_loaded_keeps_its_state_until_a_retry_succeeds(world: World) -> None:
    await world.served()
    world.failure = unavailable()
    world.commit(True)
    with pytest.raises(Error):
        await world.refresh()
    assert await world.served() is False
    await world.snapshots.retry()
    assert await world.served() is False
    assert world.snapshots.problems()
    world.failure = None
    await world.snapshots.retry()
    assert await world.served() is True
    loads = len(world.loads)
    await world.snapshots.retry()
    assert len(world.loads) == loads, "there was nothing left to make good for"
    assert not world.snapshots.problems()


async def test_the_next_change_makes_good_for_the_whole_project(world: World) -> None:
    await world.served()
    world.failure = unavailable()
    world.commit(True, "staging")
    with pytest.raises(Error):
        await world.refresh("staging")
    world.failure = None
    await world.refresh("production")
    assert await world.served("staging") is True


async def test_projects_do_not_wait_for_one_another(world: World) -> None:
    world.let_go.clear()
    slow = asyncio.create_task(world.served())
    await world.until_loading(1)
    async with asyncio.timeout(30):
        assert await world.sdk_keys.find("sdk_other") is None
        other = World()
        await other.sdk_keys.start()
        assert await other.served() is False
    world.let_go.set()
    await slow


async def test_a_refresh_of_what_does_not_exist_changes_nothing(world: World) -> None:
    await world.served()
    await world.snapshots.refresh(world.project.id, uuid7())
    assert await world.served() is False
