"""Partitions between instances and PostgreSQL. proxy_process.py lists the states of a link."""

import asyncio
from collections.abc import Callable
from functools import partial
from random import Random

from tests.faults.fleet import Fleet
from tests.faults.nemesis import Nemesis, draw_victims

STATES = ("dropped", "half_open", "refused", "reset", "slow")


class Partitioned(Nemesis):
    """One or two instances cannot reach PostgreSQL, or reach it slowly."""

    def __init__(self, state: str, random: Random) -> None:
        self.seconds = random.uniform(5, 12)
        self.victims = draw_victims(random, most=2)
        self._state = state
        self.cuts = state != "slow"
        self._delay_seconds = random.choice((0.05, 0.3, 1, 4)) if state == "slow" else 0

    def __str__(self) -> str:
        delay = f" ({self._delay_seconds:g} s)" if self._delay_seconds else ""
        return f"partition of {len(self.victims)}: {self._state.replace('_', '-')}{delay}"

    async def start(self, fleet: Fleet) -> None:
        await asyncio.gather(
            *(fleet.proxy.change(each, self._state, seconds=self._delay_seconds) for each in self.victims)
        )

    async def heal(self, fleet: Fleet) -> None:
        await asyncio.gather(*(fleet.proxy.change(each, "open") for each in self.victims))


class Unplugged(Nemesis):
    """The network between one or two instances and PostgreSQL is unplugged: packets are lost, and nobody is notified.

    Without cables, the links of the proxy drop everything.
    """

    cuts = True

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(5, 12)
        self.victims = draw_victims(random, most=2)

    def __str__(self) -> str:
        return f"partition of {len(self.victims)}: unplugged"

    async def start(self, fleet: Fleet) -> None:
        await self._change(fleet, "down", "dropped")

    async def heal(self, fleet: Fleet) -> None:
        await self._change(fleet, "up", "open")

    async def _change(self, fleet: Fleet, cable: str, link: str) -> None:
        for each in self.victims:
            if fleet.cables:
                await asyncio.to_thread(fleet.cables[each].set, cable)
            else:
                await fleet.proxy.change(each, link)


class Flapping(Nemesis):
    """Partitions of any kind that begin and end, each of them short."""

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(8, 15)
        self.victims = draw_victims(random, most=2)
        self._random = Random(random.random())
        self._tasks: list[asyncio.Task[None]] = []

    def __str__(self) -> str:
        return f"partition of {len(self.victims)}: comes and goes"

    async def start(self, fleet: Fleet) -> None:
        self._tasks = [asyncio.create_task(self._flap(fleet, each)) for each in self.victims]

    async def heal(self, fleet: Fleet) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)
        await asyncio.gather(*(fleet.proxy.change(each, "open") for each in self.victims))

    async def _flap(self, fleet: Fleet, instance: int) -> None:
        while True:
            for state in (self._random.choice(STATES), "open"):
                await fleet.proxy.change(instance, state, seconds=self._random.uniform(0.05, 1))
                await asyncio.sleep(self._random.uniform(0.1, 3.5))


def partitions() -> dict[str, Callable[[Random], Nemesis]]:
    """A partition of each kind, by name."""
    steady = {f"partition-{state.replace('_', '-')}": partial(Partitioned, state) for state in STATES}
    return {**steady, "partition-unplugged": Unplugged, "partition-flapping": Flapping}
