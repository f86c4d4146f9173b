"""Local flags: never older than the snapshot, one load for many callers, served while the database is away."""

import asyncio
from dataclasses import replace
from uuid import UUID

import pytest

from flagstaff.domain.errors import Code, Error, unavailable
from flagstaff.evaluation.assembly import compile_environment
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.unleash.local_flags import LocalFlags, revision_in
from flagstaff.pacing import finish
from flagstaff.runtime.local_flags import REMEMBERED, LocalFlagsCache
from flagstaff.runtime.supervisor import Supervisor
from tests.support.builders import make_environment


class World:
    """Environments at a committed revision, and a loader that reads it when the test lets it."""

    def __init__(self) -> None:
        self.revision = 1
        self.loads = 0
        self.exists = True
        self.failure: Error | None = None
        self.let_go = asyncio.Event()
        self.let_go.set()
        self.cache = LocalFlagsCache(self._load, Supervisor())

    async def _load(self, _project_id: UUID, environment_id: UUID) -> LocalFlags | None:
        self.loads += 1
        read = self.revision
        await self.let_go.wait()
        if self.failure:
            raise self.failure
        return LocalFlags(environment_id, "production", read, {}) if self.exists else None


def snapshot(revision: int = 1) -> EnvironmentSnapshot:
    return replace(compile_environment(make_environment(), []), revision=revision)


@pytest.fixture
async def world() -> World:
    return World()


async def test_the_first_caller_loads_and_the_next_ones_look_up(world: World) -> None:
    environment = snapshot()
    assert world.cache.find(environment) is None
    first = await world.cache.current(environment)
    assert await world.cache.current(environment) is first
    assert world.cache.find(environment) is first
    assert world.loads == 1


async def test_callers_at_the_same_time_share_a_load(world: World) -> None:
    environment = snapshot()
    found = await asyncio.gather(*(world.cache.current(environment) for _ in range(20)))
    assert len({id(each) for each in found}) == world.loads == 1


async def test_a_new_revision_is_loaded(world: World) -> None:
    environment = snapshot()
    await world.cache.current(environment)
    world.revision = 2
    assert (await world.cache.current(replace(environment, revision=2))).revision == 2
    assert world.loads == 2


async def test_a_load_that_began_before_the_revision_is_not_enough(world: World) -> None:
    environment = snapshot()
    world.let_go.clear()
    early = asyncio.ensure_future(world.cache.current(environment))
    while not world.loads:
        await asyncio.sleep(0)
    world.revision = 2
    late = asyncio.ensure_future(world.cache.current(replace(environment, revision=2)))
    await asyncio.sleep(0)
    world.let_go.set()
    assert (await early).revision == 1
    assert (await late).revision == 2


async def test_the_current_state_is_served_while_the_database_is_away(world: World) -> None:
    environment = snapshot()
    loaded = await world.cache.current(environment)
    world.failure = unavailable()
    assert await world.cache.current(environment) is loaded
    with pytest.raises(Error) as raised:
        await world.cache.current(replace(environment, revision=2))
    assert raised.value.code is Code.UNAVAILABLE
    world.failure, world.revision = None, 2
    assert (await world.cache.current(replace(environment, revision=2))).revision == 2


async def test_an_environment_that_was_deleted_is_not_found(world: World) -> None:
    world.exists = False
    with pytest.raises(Error) as raised:
        await world.cache.current(snapshot())
    assert raised.value.code is Code.NOT_FOUND


async def test_the_environments_that_were_asked_for_last_are_kept(world: World) -> None:
    first, second, *others = (snapshot() for _ in range(REMEMBERED + 1))
    for each in (first, second):
        await world.cache.current(each)
    for each in others:
        world.cache.find(first)
        await world.cache.current(each)
    assert world.cache.find(first)
    assert world.cache.find(second) is None


def flags(revision: int = 1, **features: bytes) -> LocalFlags:
    return LocalFlags(
        make_environment().id, "production", revision, {k.replace("_", "-"): v for k, v in features.items()}
    )


def test_the_tag_comes_from_the_content_and_names_the_revision() -> None:
    payload = finish(flags(7, one=b"1", two=b"2").composing())
    assert payload == finish(flags(7, one=b"1", two=b"2").composing())
    assert payload.body == b'{"version":2,"features":[1,2],"segments":[],"query":{"environment":"production"}}'
    assert finish(flags(7, one=b"12", two=b"").composing()).tag != payload.tag
    assert revision_in(payload.tag) == revision_in(f'W/"{payload.tag}"') == 7


@pytest.mark.parametrize("tag", ["", '""', '"x"', '"x:y"', '"x:-1"', f'"x:{"9" * 30}"', "x:²"])
def test_another_tag_names_no_revision(tag: str) -> None:
    assert revision_in(tag) is None


def test_a_prefix_chooses_flags() -> None:
    local = flags(pay_card=b"1", pay_cash=b"2", other=b"3")
    assert b'"features":[1,2]' in finish(local.composing("pay-")).body
    assert b'"features":[]' in finish(local.composing("x")).body
    for number in range(100):
        finish(local.composing(str(number)))
    assert len(local.payloads) <= 16
