"""Projects that nobody asks for are unloaded; those that are used, watched or being loaded are not."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from flagstaff.evaluation.snapshot import ProjectSnapshot
from flagstaff.projects.sdk_keys import KeyInForce, KeyKind, hash_sdk_key, new_environment_key
from flagstaff.serving.idle_projects import SWEEPS, IdleProjects
from flagstaff.values.errors import Error, unavailable
from tests.support.snapshots import World


class IdleWorld(World):
    """A world that unloads idle projects."""

    def __init__(self) -> None:
        super().__init__()
        self.has_streams = False
        self.unloaded: list[ProjectSnapshot] = []
        self.idle_projects = IdleProjects(
            self.snapshots,
            self.sdk_keys,
            has_streams=lambda _: self.has_streams,
            may_unload=lambda: self.is_following,
            forget=self.unloaded.append,
        )

    def is_loaded(self) -> bool:
        return self.project.id in self.snapshots.loaded

    async def sweep(self, times: int = SWEEPS + 1) -> None:
        for _ in range(times):
            await self.idle_projects.sweep()

    async def unload(self) -> None:
        await self.served()
        await self.sweep()
        assert not self.is_loaded()
        self.loads.clear()


@pytest.fixture
async def world() -> AsyncIterator[IdleWorld]:
    made = IdleWorld()
    await made.sdk_keys.start()
    yield made
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_project_that_is_asked_for_between_sweeps_stays(world: IdleWorld) -> None:
    for _ in range(3 * SWEEPS):
        assert await world.served() is False
        await world.sweep(SWEEPS - 1)
    assert world.loads == ["keys", "first production"]
    assert world.idle_projects.unloaded == 0


async def test_a_project_that_is_asked_for_and_changed_between_sweeps_stays(world: IdleWorld) -> None:
    await world.served()
    for enabled in (True, False) * SWEEPS:
        await world.sweep(1)
        assert await world.served() is not enabled
        world.commit(enabled)
        await world.refresh()
        assert await world.served() is enabled
    assert world.loads.count("first production") == 1


async def test_changes_alone_do_not_keep_a_project_in_memory(world: IdleWorld) -> None:
    await world.served()
    for _ in range(SWEEPS + 1):
        await world.refresh()
        await world.sweep(1)
    assert not world.is_loaded()


async def test_a_project_with_open_streams_stays(world: IdleWorld) -> None:
    await world.served()
    world.has_streams = True
    await world.sweep(3 * SWEEPS)
    assert world.is_loaded()
    world.has_streams = False
    await world.sweep(SWEEPS)
    assert not world.is_loaded()


async def test_a_project_stays_while_the_database_may_be_away(world: IdleWorld) -> None:
    await world.served()
    world.is_following = False
    await world.sweep(3 * SWEEPS)
    assert await world.served() is False
    assert world.loads == ["keys", "first production"]


async def test_a_project_that_is_being_loaded_stays(world: IdleWorld) -> None:
    await world.served()
    await world.sweep(SWEEPS)
    world.let_go.clear()
    change = asyncio.create_task(world.refresh())
    await world.until_loading(3)
    await world.sweep(1)
    assert world.is_loaded()
    world.let_go.set()
    await change


async def test_a_project_that_nobody_asked_for_is_unloaded_and_its_next_evaluation_loads_it(world: IdleWorld) -> None:
    await world.served()
    await world.sweep(SWEEPS)
    assert world.is_loaded()
    await world.sweep(1)
    assert not world.is_loaded()
    assert not world.sdk_keys.known
    assert [each.project_id for each in world.unloaded] == [world.project.id]
    assert world.idle_projects.unloaded == 1
    assert await world.served() is False
    assert world.loads == ["keys", "first production"] * 2


async def test_a_change_to_an_unloaded_project_reads_only_its_keys_and_the_next_evaluation_sees_it(
    world: IdleWorld,
) -> None:
    await world.unload()
    world.commit(True)
    await world.refresh()
    assert await world.snapshots.is_served(world.project.id)
    assert world.loads == ["keys"]
    assert await world.served() is True


async def test_a_key_that_is_made_while_its_project_is_unloaded_is_valid_at_once(world: IdleWorld) -> None:
    await world.unload()
    text = new_environment_key(world.project.id, "production")
    world.sdk_keys_of["production"][hash_sdk_key(text)] = KeyInForce(world.project.id, KeyKind.SERVER, None)
    assert await world.sdk_keys.find(text) is None
    await world.refresh()
    access = await world.sdk_keys.find(text)
    assert access is not None
    assert access.environment is not None


async def test_a_key_that_is_revoked_while_its_project_is_unloaded_is_refused_at_once(world: IdleWorld) -> None:
    text = new_environment_key(world.project.id, "production")
    world.sdk_keys_of["production"][hash_sdk_key(text)] = KeyInForce(world.project.id, KeyKind.SERVER, None)
    await world.refresh()
    assert await world.sdk_keys.find(text)
    await world.unload()
    world.sdk_keys_of["production"].clear()
    await world.refresh()
    assert await world.sdk_keys.find(text) is None
    assert world.loads == ["keys"], "an unknown key does not load the project"


async def test_an_unloaded_project_that_is_deleted_is_unknown_at_once(world: IdleWorld) -> None:
    await world.unload()
    world.exists = False
    await world.refresh(None)
    assert await world.served() is None
    assert world.loads == ["keys"]


async def test_a_first_load_that_races_with_a_change_does_not_install_the_older_state(world: IdleWorld) -> None:
    await world.unload()
    world.let_go.clear()
    evaluation = asyncio.create_task(world.served())
    await world.until_loading(1)  # it has read the old state
    world.commit(True)
    change = asyncio.create_task(world.refresh())
    world.let_go.set()
    await change
    assert await world.served() is True
    await evaluation


async def test_an_evaluation_during_the_load_of_keys_gets_the_whole_project(world: IdleWorld) -> None:
    await world.unload()
    world.let_go.clear()
    change = asyncio.create_task(world.refresh())
    await world.until_loading(1)
    evaluation = asyncio.create_task(world.served())
    world.commit(True)
    world.let_go.set()
    assert await evaluation is True
    await change
    assert world.loads == ["keys", "keys", "first production"]


async def test_keys_that_could_not_be_read_after_a_change_make_the_project_stale_until_they_are(
    world: IdleWorld,
) -> None:
    await world.unload()
    world.failure = unavailable()
    with pytest.raises(Error):
        await world.refresh()
    assert not await world.snapshots.is_served(world.project.id)
    world.failure = None
    await world.snapshots.retry()
    assert await world.snapshots.is_served(world.project.id)
    assert not world.is_loaded()


async def test_everything_loaded_anew_is_only_what_is_loaded(world: IdleWorld) -> None:
    await world.unload()
    await world.sdk_keys.refresh_all()
    assert world.loads == []
    await world.served()
    await world.sdk_keys.refresh_all()
    assert world.loads == ["keys", "first production", "keys", "production anew"]
