"""Faults of an instance's process and machine."""

import asyncio
import resource
import signal
from random import Random

from tests.faults.fleet import Fleet
from tests.faults.nemesis import Nemesis, draw_victims

_JUMPS_SECONDS = (-3600, -90, -5, 5, 90, 3600)


class Killed(Nemesis):
    """SIGKILL, and a new start on the same data."""

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(0.2, 5)
        self.victims = draw_victims(random, most=2)

    def __str__(self) -> str:
        return f"SIGKILL of {len(self.victims)}, started again"

    async def start(self, fleet: Fleet) -> None:
        await asyncio.gather(*map(fleet.kill, self.victims))

    async def heal(self, fleet: Fleet) -> None:
        await asyncio.gather(*(fleet.instances[each].launch() for each in self.victims))


class Paused(Nemesis):
    """SIGSTOP and SIGCONT, as when a virtual machine is moved."""

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(1, 30)
        self.victims = draw_victims(random)

    def __str__(self) -> str:
        return f"SIGSTOP for {self.seconds:.0f} s"

    async def start(self, fleet: Fleet) -> None:
        for each in self.victims:
            fleet.instances[each].signal(signal.SIGSTOP)

    async def heal(self, fleet: Fleet) -> None:
        for each in self.victims:
            fleet.instances[each].signal(signal.SIGCONT)


class PausedAndForgotten(Paused):
    """The same, and PostgreSQL ends the sessions of the paused instance, which cannot notice."""

    def __str__(self) -> str:
        return f"SIGSTOP for {self.seconds:.0f} s, sessions ended"

    async def start(self, fleet: Fleet) -> None:
        await super().start(fleet)
        await asyncio.gather(*map(fleet.proxy.cut, self.victims))


class ClockJumped(Nemesis):
    """The wall clock jumps, and jumps back. The monotonic clock stays correct, as Linux promises."""

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(3, 6)
        self.victims = draw_victims(random)
        self._jump_seconds = random.choice(_JUMPS_SECONDS)
        self.wrong_clock_seconds = abs(self._jump_seconds)

    def __str__(self) -> str:
        return f"wall clock {self._jump_seconds:+} s"

    async def start(self, fleet: Fleet) -> None:
        self._set(fleet, self._jump_seconds)

    async def heal(self, fleet: Fleet) -> None:
        self._set(fleet, 0)

    def _set(self, fleet: Fleet, seconds: int) -> None:
        for each in self.victims:
            new = fleet.clock_files[each].with_suffix(".new")
            new.write_text(f"{seconds:+}\n")
            new.rename(fleet.clock_files[each])


class DiskFull(Nemesis):
    """No file can grow, neither the spool nor the log, while PostgreSQL is cut off and the spool is needed."""

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(4, 6)
        self.victims = draw_victims(random)

    def __str__(self) -> str:
        return "disk full, PostgreSQL refused"

    async def start(self, fleet: Fleet) -> None:
        self._limit(fleet, 0)
        for each in self.victims:
            await fleet.proxy.change(each, "refused")

    async def heal(self, fleet: Fleet) -> None:
        self._limit(fleet, resource.RLIM_INFINITY)
        for each in self.victims:
            await fleet.proxy.change(each, "open")

    def _limit(self, fleet: Fleet, size: int) -> None:
        for each in self.victims:
            resource.prlimit(fleet.instances[each].pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
