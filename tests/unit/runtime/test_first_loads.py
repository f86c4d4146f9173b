"""First loads of environments: only what is asked for, beside changes that do not wait, and never an older state."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.projects.sdk_keys import KeyInForce, KeyKind, hash_sdk_key, new_environment_key
from flagstaff.serving.current_snapshots import FIRST_LOADS_AT_ONCE, FIRST_LOADS_WAITING, Snapshots
from flagstaff.values.errors import Code, Error, unavailable
from tests.support.builders import make_environment
from tests.support.snapshots import World, until


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    await made.sdk_keys.start()
    yield made
    assert asyncio.all_tasks() == {asyncio.current_task()}


def make_key(world: World, environment: str = "production") -> str:
    text = new_environment_key(world.project.id, environment)
    world.sdk_keys_of[environment][hash_sdk_key(text)] = KeyInForce(world.project.id, KeyKind.SERVER, None)
    return text


async def test_an_environment_that_cannot_be_loaded_makes_nothing_stale_and_is_loaded_by_the_next_request(
    world: World,
) -> None:
    await world.served("staging")
    world.failure = unavailable()
    with pytest.raises(Error) as refusal:
        await world.served()
    assert refusal.value.code is Code.UNAVAILABLE
    assert not world.snapshots.is_stale()
    world.failure = None
    assert await world.served() is False


async def test_only_the_environment_that_is_asked_for_is_loaded(world: World) -> None:
    text = make_key(world, "staging")
    await world.refresh(None)
    assert await world.sdk_keys.find(text)
    assert world.loads == ["keys", "keys", "first staging"]
    assert world.snapshots.count_environments() == 1


async def test_a_change_waits_for_no_first_load(world: World) -> None:
    async def held(name: str) -> None:
        if name.startswith("first"):
            await go_on.wait()

    go_on = asyncio.Event()
    world.before_return = held
    evaluation = asyncio.create_task(world.served())
    while "first production" not in world.loads:
        await asyncio.sleep(0)
    world.commit(True)
    async with asyncio.timeout(30):
        await world.refresh()
    assert not evaluation.done()
    go_on.set()
    assert await evaluation is True, "what the first load had read was replaced by a change that has ended"
    assert world.loads == ["keys", "first production", "keys", "production anew"]


@pytest.mark.parametrize("place", ["production", None], ids=["environment", "project"])
async def test_a_second_change_waits_for_the_load_that_the_first_one_caused(world: World, place: str | None) -> None:
    go_on = {name: asyncio.Event() for name in ("first production", "production anew")}

    async def held(name: str) -> None:
        if name in go_on:
            await go_on[name].wait()

    world.before_return = held
    evaluation = asyncio.create_task(world.served())
    while "first production" not in world.loads:
        await asyncio.sleep(0)
    await world.refresh(place)
    go_on["first production"].set()
    while "production anew" not in world.loads:  # which has read the state before the second change
        await asyncio.sleep(0)
    world.commit(True)
    change = asyncio.create_task(world.refresh(place))
    await asyncio.wait([change], timeout=0.01)
    assert not change.done(), "it must not end before what is loaded now has been loaded again"
    go_on["production anew"].set()
    await change
    assert await world.served() is True
    await evaluation


async def test_a_change_that_was_only_found_by_comparing_is_in_a_first_load_that_began_before(world: World) -> None:
    go_on = asyncio.Event()

    async def held(name: str) -> None:
        if name.startswith("first"):
            await go_on.wait()

    world.before_return = held
    evaluation = asyncio.create_task(world.served())
    while "first production" not in world.loads:
        await asyncio.sleep(0)
    world.commit(True)  # by another instance, without a notification to this one
    assert await world.snapshots.is_served(world.project.id)
    go_on.set()
    assert await evaluation is True


async def test_a_key_revoked_during_a_first_load_opens_nothing(world: World) -> None:
    text, go_on = make_key(world), asyncio.Event()
    await world.refresh(None)

    async def held(name: str) -> None:
        if name.startswith("first"):
            await go_on.wait()

    world.before_return = held
    finding = asyncio.create_task(world.sdk_keys.find(text))
    while "first production" not in world.loads:
        await asyncio.sleep(0)
    world.sdk_keys_of["production"].clear()
    world.commit(False)
    await world.refresh()
    go_on.set()
    assert await finding is None
    assert await world.sdk_keys.find(text) is None


async def test_a_change_of_an_environment_that_is_not_loaded_reads_keys_only(world: World) -> None:
    await world.served("staging")
    world.commit(True)
    await world.refresh()
    assert world.loads == ["keys", "first staging", "keys"]
    assert await world.served() is True


async def test_a_new_project_key_loads_only_what_has_changed(world: World) -> None:
    await world.served()
    await world.served("staging")
    world.commit(True)
    await world.refresh(None)
    assert world.loads[3:] == ["keys", "production"]
    assert await world.served() is True


async def test_an_environment_that_made_room_is_loaded_by_the_next_request(world: World) -> None:
    text = make_key(world)
    await world.refresh(None)
    await world.sdk_keys.find(text)
    (project,) = world.snapshots.list_known()
    assert project.unload_environment(world.environments["production"].id)
    assert text not in world.sdk_keys.known
    world.commit(True)
    await world.refresh()
    access = await world.sdk_keys.find(text)
    assert access is not None
    assert access.environment is access.project.environments["production"]
    assert await world.served() is True


async def test_an_environment_makes_no_room_while_it_is_loaded_again_or_old(world: World) -> None:
    await world.served()
    (project,) = world.snapshots.list_known()
    world.let_go.clear()
    change = asyncio.create_task(world.refresh())
    await world.until_loading(3)
    assert not project.unload_environment(world.environments["production"].id)
    world.failure = unavailable()
    world.let_go.set()
    with pytest.raises(Error):
        await change
    assert not project.unload_environment(world.environments["production"].id)
    world.failure = None
    await world.snapshots.retry()
    assert project.unload_environment(world.environments["production"].id)


async def test_first_loads_are_bounded_and_projects_take_turns() -> None:
    worlds = [World() for _ in range(2)]
    busy, other = worlds
    keys = [f"environment-{number}" for number in range(FIRST_LOADS_AT_ONCE + FIRST_LOADS_WAITING + 1)]
    environments = {key: make_environment(busy.project.id, key=key) for key in keys}
    busy.environments |= environments
    busy.enabled |= dict.fromkeys(environments, False)
    by_id = {each.project.id: each for each in worlds}
    snapshots = Snapshots(
        replace(
            busy.loaders(),
            load_project=lambda project_id: by_id[project_id].load_project(project_id),
            load_first=lambda project_id, environment_id: by_id[project_id].load_first(project_id, environment_id),
        ),
        Supervisor(),
    )
    await snapshots.find(busy.project.id)
    busy.let_go.clear()
    calls = [
        asyncio.create_task(snapshots.find_environment(busy.project.id, each.id)) for each in environments.values()
    ]
    with pytest.raises(Error) as refusal:
        await calls[-1]
    assert refusal.value.code is Code.LIMITED
    others = snapshots.find_environment(other.project.id, other.environments["production"].id)
    calls.append(asyncio.create_task(others))
    await until(lambda: len(other.loads) == 1 and len(busy.loads) == 1 + FIRST_LOADS_AT_ONCE)
    busy.let_go.set()
    assert await calls[-1]
    assert len(busy.loads) < FIRST_LOADS_WAITING // 2, "it did not wait for all loads of the other project"
    assert len([each for each in await asyncio.gather(*calls, return_exceptions=True) if isinstance(each, Error)]) == 1
