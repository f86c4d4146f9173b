"""The memory of loaded environments is bounded: those used least recently make room, and no state gets old."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Callable

import pytest

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.conditions.conditions import Condition
from flagstaff.conditions.operators import Operator
from flagstaff.evaluation.compiler import TargetedFlag, compile_flag
from flagstaff.evaluation.snapshot_assembly import assemble
from flagstaff.flags.flags import RuleType
from flagstaff.projects.projects import Environment
from flagstaff.serving.snapshot_memory import SnapshotMemory
from tests.support.builders import make_environment, make_flag, make_rule
from tests.support.snapshots import World, until

SIZE = 1_000


class BoundedWorld(World):
    """A world with room for two environments."""

    def __init__(self) -> None:
        super().__init__()
        for key in ("qa", "test"):
            self.environments[key] = make_environment(self.project.id, key=key)
            self.enabled[key], self.revisions[key] = False, 0
        self.size = SIZE
        self.may_unload = True
        self.memory = SnapshotMemory(self.snapshots, Supervisor(), 2 * SIZE, lambda: self.may_unload)

    def loaded(self) -> set[str]:
        return set(self.snapshots.loaded[self.project.id].environments)

    async def use(self, *keys: str) -> None:
        for key in keys:
            await self.served(key)
            environment = self.snapshots.loaded[self.project.id].environments.get(key)
            if environment is not None:
                environment.use.is_recent = True
            await until(lambda: len(asyncio.all_tasks()) == 1)


@pytest.fixture
async def world() -> AsyncIterator[BoundedWorld]:
    made = BoundedWorld()
    await made.sdk_keys.start()
    yield made
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_nothing_is_unloaded_that_could_not_be_loaded_again(world: BoundedWorld) -> None:
    world.may_unload = False
    await world.use("production", "staging", "qa")
    assert world.loaded() == {"production", "staging", "qa"}
    world.may_unload = True
    await world.memory.make_room()
    assert world.loaded() == {"staging", "qa"}


async def test_the_least_recently_used_environment_makes_room(world: BoundedWorld) -> None:
    await world.use("production", "staging")
    await world.memory.make_room()  # notes which were used until now
    await world.use("production", "qa")
    assert world.loaded() == {"production", "qa"}
    assert (world.memory.bytes, world.memory.evicted) == (2 * SIZE, 1)


async def test_one_environment_stays_however_large_it_is(world: BoundedWorld) -> None:
    world.size = 10 * SIZE
    await world.use("production", "staging")
    assert world.loaded() == {"staging"}
    assert world.memory.bytes == 10 * SIZE


async def test_an_environment_that_made_room_is_served_in_its_present_state(world: BoundedWorld) -> None:
    await world.use("production", "staging", "qa")
    assert "production" not in world.loaded()
    world.commit(True)
    await world.refresh()
    assert await world.served() is True
    await until(lambda: len(asyncio.all_tasks()) == 1)


async def test_what_is_unloaded_with_its_project_has_no_bytes(world: BoundedWorld) -> None:
    await world.use("production", "staging")
    world.memory.forget(world.project.id)
    assert world.memory.bytes == 0


def _with_conditions(environment: Environment, number: int) -> TargetedFlag:
    values = tuple(f"value-{number}-{place}" for place in range(20))
    flag, conditions = (
        make_flag(environment, key=f"flag-{number}", enabled=True),
        (Condition("plan", Operator.IN, values),),
    )
    return TargetedFlag(flag, [make_rule(flag, rule_type=RuleType.ATTRIBUTES, rule_value=None, conditions=conditions)])


def _with_rules(environment: Environment, number: int) -> TargetedFlag:
    flag = make_flag(environment, key=f"flag-{number}", enabled=True)
    return TargetedFlag(flag, [make_rule(flag, rule_value=f"user-{number}-{place}@acme.com") for place in range(8)])


def _with_rollout(environment: Environment, number: int) -> TargetedFlag:
    return TargetedFlag(make_flag(environment, key=f"flag-{number}", enabled=True, rollout_percentage=number % 98 + 1))


def _off(environment: Environment, number: int) -> TargetedFlag:
    return TargetedFlag(make_flag(environment, key=f"flag-{number}", enabled=False))


@pytest.mark.parametrize("make", [_with_conditions, _with_rules, _with_rollout, _off])
def test_the_estimated_memory_is_near_the_real_one(make: Callable[[Environment, int], TargetedFlag]) -> None:
    environment = make_environment()
    tracemalloc.start()
    try:
        flags = [compile_flag(make(environment, number)) for number in range(300)]
        snapshot = assemble(environment, flags)
        estimated = sum(each.size for each in flags)
        flags.clear()
        real, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert snapshot.places
    assert 0.5 * estimated < real < 1.6 * estimated
