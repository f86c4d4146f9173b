"""SDK keys of environments: what they open, when they are valid, and the answers meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from uuid_utils.compat import uuid7

from flagstaff.limits.limiter import SlidingWindow
from flagstaff.projects.sdk_keys import KeyInForce, KeyKind, hash_sdk_key, new_environment_key
from flagstaff.values.errors import Code, Error, unavailable
from tests.support.builders import AT
from tests.support.snapshots import World


@pytest.fixture
async def world() -> AsyncIterator[World]:
    made = World()
    await made.sdk_keys.start()
    yield made
    assert asyncio.all_tasks() == {asyncio.current_task()}


def make_key(world: World, environment: str = "production", **values: Any) -> tuple[str, UUID]:
    """Commit a new key; it is valid after the next refresh."""
    text = new_environment_key(world.project.id, environment)
    key = KeyInForce(uuid7(), KeyKind.SERVER, None)._replace(**values)
    world.sdk_keys_of[environment][hash_sdk_key(text)] = key
    return text, key.key_id


async def test_the_projects_own_key_is_for_all_environments(world: World) -> None:
    access = await world.sdk_keys.find(world.sdk_key)
    assert access is not None
    assert (access.key_id, access.kind, access.environment) == (None, KeyKind.SERVER, None)
    assert access.project.project_id == world.project.id


@pytest.mark.parametrize("kind", KeyKind)
async def test_a_key_opens_its_environment_once_it_is_in_force(world: World, kind: KeyKind) -> None:
    await world.served()
    text, key_id = make_key(world, "staging", kind=kind)
    assert await world.sdk_keys.find(text) is None
    await world.refresh("staging")
    access = await world.sdk_keys.find(text)
    assert access is not None
    assert (access.key_id, access.kind) == (key_id, kind)
    assert access.environment is access.project.environments["staging"]


async def test_a_key_that_existed_at_the_start_loads_its_project_once() -> None:
    world = World()
    text, key_id = make_key(world)
    await world.sdk_keys.start()
    found = await asyncio.gather(*(world.sdk_keys.find(text) for _ in range(5)))
    assert {access.key_id for access in found if access} == {key_id}
    assert world.loads == ["keys", "first production"]


@pytest.mark.parametrize("is_known", [True, False], ids=["used", "never-used"])
async def test_a_revoked_key_opens_nothing(world: World, is_known: bool) -> None:
    text, _ = make_key(world)
    await world.refresh()
    await world.served()
    if is_known:
        assert await world.sdk_keys.find(text)
    world.sdk_keys_of["production"].clear()
    await world.refresh()
    assert await world.sdk_keys.find(text) is None
    assert set(world.sdk_keys.known) == {world.sdk_key}


async def test_a_key_revoked_while_its_project_was_loaded_opens_nothing() -> None:
    world = World()
    text, _ = make_key(world)
    await world.sdk_keys.start()
    world.let_go.clear()
    finding = asyncio.create_task(world.sdk_keys.find(text))
    await world.until_loading(1)
    world.sdk_keys_of["production"].clear()
    revocation = asyncio.create_task(world.refresh())
    world.let_go.set()
    await revocation
    assert await world.sdk_keys.find(text) is None
    await finding


async def test_keys_end_with_their_environment_and_with_their_project(world: World) -> None:
    texts = [make_key(world, each)[0] for each in ("production", "staging")]
    await world.refresh(None)
    gone = world.environments.pop("production")
    await world.snapshots.refresh(world.project.id, gone.id)
    assert await world.sdk_keys.find(texts[0]) is None
    assert await world.sdk_keys.find(texts[1])
    world.exists = False
    await world.refresh(None)
    assert await world.sdk_keys.find(texts[1]) is None
    assert not world.sdk_keys.known


async def test_a_known_key_opens_the_newest_snapshot_without_any_load(world: World) -> None:
    text, _ = make_key(world)
    await world.refresh()
    await world.sdk_keys.find(text)
    world.commit(True)
    await world.refresh()
    access = world.sdk_keys.known[text]
    assert access.environment is world.snapshots.loaded[world.project.id].environments["production"]


async def test_a_key_opens_nothing_from_the_very_moment_at_which_it_expires(world: World) -> None:
    text, _ = make_key(world, expires_at=AT + timedelta(seconds=10))
    await world.refresh()
    world.now = AT + timedelta(seconds=10) - timedelta(microseconds=1)
    assert await world.sdk_keys.find(text)
    world.now = AT + timedelta(seconds=10)
    assert await world.sdk_keys.find(text) is None
    assert not world.sdk_keys.use(world.sdk_keys.known[text])


async def test_missed_changes_of_keys_are_made_good_for(world: World) -> None:
    old, _ = make_key(world)
    await world.refresh()
    await world.sdk_keys.find(old)
    world.sdk_keys_of["production"].clear()
    new, _ = make_key(world, "staging")
    await world.sdk_keys.refresh_all()
    assert await world.sdk_keys.find(old) is None
    assert await world.sdk_keys.find(new)


async def test_only_a_key_that_may_have_been_made_elsewhere_is_unavailable_instead_of_unknown(world: World) -> None:
    made_elsewhere = [new_environment_key(world.project.id, "production"), "sdk_" + 43 * "a"]
    world.is_following = False
    for text in ("", "sdk_short", "a:b.c", "\x00", "\ud800"):
        assert await world.sdk_keys.find(text) is None
    for text in made_elsewhere:
        with pytest.raises(Error) as refusal:
            await world.sdk_keys.find(text)
        assert refusal.value.code is Code.UNAVAILABLE
    world.is_following = True
    for text in made_elsewhere:
        assert await world.sdk_keys.find(text) is None
    assert not world.loads


async def test_a_key_of_a_project_that_could_not_be_loaded_after_a_change_is_unavailable(world: World) -> None:
    known, _ = make_key(world)
    await world.refresh()
    await world.served()
    fresh, _ = make_key(world)
    world.failure = unavailable()
    with pytest.raises(Error):
        await world.refresh()
    assert await world.sdk_keys.find(known)
    with pytest.raises(Error) as refusal:
        await world.sdk_keys.find(fresh)
    assert refusal.value.code is Code.UNAVAILABLE
    assert await world.sdk_keys.find(new_environment_key(uuid7(), "production")) is None
    world.failure = None
    await world.snapshots.retry()
    assert await world.sdk_keys.find(fresh)


async def test_unknown_keys_are_not_remembered(world: World) -> None:
    for _ in range(100):
        assert await world.sdk_keys.find(new_environment_key(world.project.id, "production")) is None
    assert not world.sdk_keys.known
    assert not world.loads


async def test_uses_of_a_key_are_limited_by_key_and_those_of_the_project_are_not() -> None:
    world = World(limiter=SlidingWindow(2, 60, clock=lambda: 0.0))
    limited, other = make_key(world)[0], make_key(world)[0]
    await world.sdk_keys.start()
    for _ in range(2):
        assert await world.sdk_keys.find(limited)
    with pytest.raises(Error) as refusal:
        await world.sdk_keys.find(limited)
    assert (refusal.value.code, refusal.value.retry_after_seconds) == (Code.LIMITED, 60)
    assert await world.sdk_keys.find(other)
    for _ in range(5):
        assert await world.sdk_keys.find(world.sdk_key)


async def test_the_keys_that_were_used_are_named_once(world: World) -> None:
    used, key_id = make_key(world)
    expired, _ = make_key(world, expires_at=AT)
    await world.refresh()
    for text in (used, used, expired, world.sdk_key):
        await world.sdk_keys.find(text)
    assert world.sdk_keys.take_used() == {key_id}
    assert world.sdk_keys.take_used() == set()


async def test_a_load_that_began_before_a_missed_change_is_followed_by_another(world: World) -> None:
    world.let_go.clear()
    first = asyncio.create_task(world.served())
    await world.until_loading(1)
    world.commit(enabled=True)  # by another instance, without a notification to this one
    catching_up = asyncio.create_task(world.sdk_keys.refresh_all())
    world.let_go.set()
    await asyncio.gather(first, catching_up)
    assert world.loads == ["keys", "keys", "first production"]
    assert await world.served() is True
