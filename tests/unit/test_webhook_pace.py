"""The pace of attempts: bounds in all and of each project, and turns of projects and of their webhooks."""

import asyncio
from uuid import UUID, uuid4

import pytest

from flagstaff.hooks.pace import TURN, Pace
from flagstaff.settings import RateLimit

FIRST_TURNS = 3
"""The turns that a pace of two turns a second grants at once: those of the second before, and the next one."""
TWO_TURNS = RateLimit(2 * TURN, 1)


class Webhooks:
    """Webhooks that wait for turns again and again, and the turns that they got, in their order."""

    def __init__(self, of_all: RateLimit | None, of_project: RateLimit | None) -> None:
        self.now = 1000.0
        self.turns: list[str] = []
        self.pace = Pace(of_all, of_project, lambda: self.now)
        self.projects: dict[str, UUID] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def wait(self, name: str, turns: int) -> asyncio.Task[None]:
        """Let a webhook, such as ``ada/1``, wait for so many turns, one after the other."""
        task = asyncio.create_task(self._take(name, turns))
        self._tasks.add(task)
        await self.settle()
        return task

    async def advance(self, seconds: float) -> None:
        """Let time pass, a turn of two in a second at a time."""
        for _ in range(round(seconds * 10)):
            self.now += 0.1
            self.pace.grant()
            await self.settle()

    async def settle(self) -> None:
        """Let tasks run until all wait."""
        for _ in range(10):
            await asyncio.sleep(0)

    async def end(self) -> None:
        """End the webhooks that wait."""
        self.pace.open()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _take(self, name: str, turns: int) -> None:
        project, webhook = self.projects.setdefault(name.partition("/")[0], uuid4()), uuid4()
        for _ in range(turns):
            await self.pace.take(project, webhook)
            self.turns.append(name)


async def test_a_project_gets_no_more_than_its_pace() -> None:
    webhooks = Webhooks(None, TWO_TURNS)
    await webhooks.wait("eve/1", 100)
    assert len(webhooks.turns) == FIRST_TURNS
    await webhooks.advance(10)
    assert len(webhooks.turns) == FIRST_TURNS + 20
    await webhooks.end()


async def test_all_projects_get_no_more_than_the_pace_of_the_instance_and_the_same_share() -> None:
    webhooks = Webhooks(TWO_TURNS, TWO_TURNS)
    for name in ("eve/1", "eve/2", "eve/3", "bob/1"):
        await webhooks.wait(name, 100)
    before = len(webhooks.turns)
    await webhooks.advance(20)
    later = webhooks.turns[before:]
    assert len(later) == 40
    assert abs(later.count("bob/1") - 20) <= 1
    assert {abs(later.count(f"eve/{number}") - 20 / 3) <= 1 for number in (1, 2, 3)} == {True}
    await webhooks.end()


@pytest.mark.parametrize("name", ["eve/20", "ada/1"])
async def test_a_webhook_with_one_message_waits_for_one_turn_of_each_other_whatever_waits_for_those(name: str) -> None:
    webhooks = Webhooks(TWO_TURNS, None)
    for number in range(20):
        await webhooks.wait(f"eve/{number}", 1000)
    await webhooks.advance(3)
    before = len(webhooks.turns)
    await webhooks.wait(name, 1)
    await webhooks.advance(12)
    assert webhooks.turns[before:].index(name) <= (20 if name.startswith("eve") else 1)
    await webhooks.end()


async def test_a_project_at_its_pace_keeps_no_other_waiting() -> None:
    webhooks = Webhooks(RateLimit(1000, 1), TWO_TURNS)
    await webhooks.wait("eve/1", 100)
    assert webhooks.pace.waiting == 1
    await webhooks.wait("ada/1", 1)
    assert webhooks.turns[-1] == "ada/1"
    await webhooks.end()


async def test_what_was_not_used_of_a_turn_is_given_back() -> None:
    webhooks = Webhooks(TWO_TURNS, TWO_TURNS)
    for _ in range(10 * FIRST_TURNS):
        await webhooks.wait("eve/1", 1)
        assert webhooks.pace.waiting == 0
        webhooks.pace.give_back(webhooks.projects["eve"], TURN)


async def test_a_webhook_that_is_cancelled_takes_no_turn() -> None:
    webhooks = Webhooks(TWO_TURNS, None)
    await webhooks.wait("eve/1", FIRST_TURNS)
    leaves = await webhooks.wait("eve/2", 1)
    await webhooks.wait("ada/1", 1)
    leaves.cancel()
    await webhooks.settle()
    await webhooks.advance(0.5)
    assert webhooks.turns[FIRST_TURNS:] == ["ada/1"]
    assert webhooks.pace.waiting == 0


async def test_without_limits_nobody_waits() -> None:
    webhooks = Webhooks(None, None)
    await webhooks.wait("eve/1", 200)
    await webhooks.settle()
    assert len(webhooks.turns) == 200
