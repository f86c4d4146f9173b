"""The condition that a write waits for: its own change, or the state that it found, unless that is already served."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from uuid import UUID

import pytest

from flagstaff.audit.propagation import Propagation
from flagstaff.changes.changes import Committed
from flagstaff.database.revisions import Wanted
from flagstaff.values.errors import Code, Error, unconfirmed
from tests.support.snapshots import World


@dataclass
class Questions:
    """The instances that are asked. A test decides what they answer."""

    period: int = 0
    asked: list[set[UUID]] = field(default_factory=list)
    noted: int = 0
    confirms: bool = True

    async def confirm(self, wanted: Mapping[UUID, Wanted]) -> None:
        self.asked.append(set(wanted))
        if not self.confirms:
            raise unconfirmed("Not every instance has confirmed it.")

    def record_live_on(self) -> None:
        self.noted += 1


@pytest.fixture
async def world() -> World:
    made = World()
    await made.sdk_keys.start()
    return made


@pytest.fixture
def others() -> Questions:
    return Questions()


@pytest.fixture
def propagation(world: World, others: Questions) -> Propagation:
    return make_propagation(world, others, load_seconds=5)


def make_propagation(world: World, others: Questions, *, load_seconds: float) -> Propagation:
    return Propagation(
        refresh=world.snapshots.refresh, catch_up=world.snapshots.catch_up, others=others, load_seconds=load_seconds
    )


def found(world: World, revision: int | None) -> Committed:
    return Committed((), {world.project.id: revision}, {})


async def test_what_another_process_has_committed_is_served_when_a_write_that_found_it_returns(
    world: World, others: Questions, propagation: Propagation
) -> None:
    assert await world.served() is False
    world.commit(True)
    await propagation.propagate(found(world, 1))
    assert await world.served() is True
    assert world.loads == ["keys", "first production", "production"]
    assert others.asked == [{world.project.id}]


async def test_what_is_known_to_be_served_everywhere_costs_no_load_and_no_question(
    world: World, others: Questions, propagation: Propagation
) -> None:
    await world.served()
    for _ in range(3):
        await propagation.propagate(found(world, 0))
    assert (world.loads, len(others.asked), others.noted) == (["keys", "first production"], 1, 2)


async def test_what_was_not_confirmed_is_asked_again(world: World, others: Questions, propagation: Propagation) -> None:
    others.confirms = False
    for _ in range(2):
        with pytest.raises(Error) as refusal:
            await propagation.propagate(found(world, 0))
        assert (refusal.value.code, refusal.value.retry_after_seconds) == (Code.UNAVAILABLE, None)
    others.confirms = True
    await propagation.propagate(found(world, 0))
    assert len(others.asked) == 3


async def test_in_another_period_the_same_revision_is_asked_again(
    world: World, others: Questions, propagation: Propagation
) -> None:
    for period in (1, 1, 2, 1):
        others.period = period
        await propagation.propagate(found(world, 0))
    assert len(others.asked) == 3


async def test_a_write_that_ends_late_does_not_bring_an_older_revision_back(
    world: World, others: Questions, propagation: Propagation
) -> None:
    for revision in (5, 4, 5):
        await propagation.propagate(found(world, revision))
    assert len(others.asked) == 2


async def test_what_cannot_be_loaded_is_not_confirmed_although_the_others_serve_it(
    world: World, others: Questions, propagation: Propagation
) -> None:
    await world.served()
    world.commit(True)
    world.failure = RuntimeError("out of luck")
    with pytest.raises(Error) as refusal:
        await propagation.propagate(found(world, 1))
    assert (refusal.value.code, refusal.value.retry_after_seconds) == (Code.UNAVAILABLE, None)
    assert others.asked == [{world.project.id}]


async def test_a_load_that_takes_too_long_is_not_waited_for_and_goes_on(world: World, others: Questions) -> None:
    propagation = make_propagation(world, others, load_seconds=0.01)
    await world.served()
    world.commit(True)
    world.let_go.clear()
    for _ in range(2):
        with pytest.raises(Error, match=r"has not loaded it within 0\.01 seconds") as refusal:
            await propagation.propagate(found(world, 1))
        assert (refusal.value.code, refusal.value.retry_after_seconds) == (Code.UNAVAILABLE, None)
    assert (await world.served(), others.asked) == (False, [{world.project.id}] * 2)
    world.let_go.set()
    await make_propagation(world, others, load_seconds=5).propagate(found(world, 1))
    assert (await world.served(), world.loads) == (True, ["keys", "first production", "production"])
    assert not world.snapshots.is_stale()


async def test_a_project_that_has_been_deleted_is_forgotten_and_asked_for_each_time(
    world: World, others: Questions, propagation: Propagation
) -> None:
    await world.served()
    world.exists = False
    for _ in range(2):
        await propagation.propagate(found(world, None))
    assert (await world.served(), len(others.asked)) == (None, 2)
