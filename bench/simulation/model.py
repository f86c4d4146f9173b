"""Simulates how a toggle reaches all instances, in simulated time.

The instance that makes the change commits it, and PostgreSQL notifies the others. Each loads it and acknowledges it to
the first one, which loads it and reads the leases meanwhile. Notifications are sent one after the other, because
PostgreSQL commits those that notify in one order. PostgreSQL wakes the session of every instance for each of them, if
it has not just done so, but only that of the first one passes an acknowledgement on. Whoever has not acknowledged is
asked every 250 ms.

All of this is processor time, for which instances and PostgreSQL wait in the order in which they ask. Between the
toggles and during them, each instance runs its periodic tasks and renews its lease, and PostgreSQL does its part.
"""

import random
from collections.abc import Callable, Generator
from dataclasses import dataclass
from statistics import mean
from typing import Any

import simpy

from bench.simulation.delays import BESIDE, CROWDED, Delays, draw

ASK_AGAIN_SECONDS = 0.25
CONFIRM_SECONDS = 5.0
LEASE_SECONDS = 3.0
_LOAD_QUERIES = 2

Steps = Generator[simpy.Event, Any, None]


@dataclass(frozen=True)
class Setting:
    """The parameters of a simulation. Delays are in seconds."""

    instances: int
    shared_cores: int | None = None
    """The cores that everything shares, as in the measurement; None: each instance has its own."""
    database_cores: int = 8
    round_trip: float = 0.0
    """Of the network, for each query, in addition to what was measured on one machine."""
    toggle_queries: int = 9
    """The round trips, one after the other, of a toggle until it is committed."""
    slow_factor: float = 1.0
    """The factor by which one of the instances is slower to load."""
    stopped_at: float | None = None
    """The time at which one of the instances is paused for good."""
    pause: float = 0.2
    """From a toggle's response to the next toggle."""


@dataclass(frozen=True)
class Toggle:
    """A toggle: the time of its request, and durations from then in seconds."""

    at: float
    response: float
    spread: float
    """From the commit until the last instance that answered served the change."""
    is_confirmed: bool
    """Whether every instance with a lease confirmed it in time; otherwise its response was a 503."""


class Fleet:
    """Instances on one PostgreSQL, and a client that toggles at one of them."""

    def __init__(self, setting: Setting, delays: Delays, seed: int) -> None:
        self._setting = setting
        self._delays = delays
        self._chance = random.Random(seed)
        self._now = simpy.Environment()
        shared = setting.shared_cores
        self._database = simpy.Resource(self._now, shared or setting.database_cores)
        own = None if shared else [simpy.Resource(self._now, 1) for _ in range(setting.instances)]
        self._core: Callable[[int], simpy.Resource] = own.__getitem__ if own else lambda _: self._database
        self._commits = simpy.Resource(self._now, 1)
        self._waking = 0  # sessions that have been woken and have not run yet
        self._usage = delays.beside if shared and setting.instances > 1 else delays.alone
        crowd = max(0, setting.instances - BESIDE) / (CROWDED - BESIDE) if shared else 0.0
        # What instances that share cores take beyond `BESIDE` of them, because they find the caches colder.
        self._colder_first = crowd * max(0.0, mean(delays.crowded.first) - mean(delays.beside.first))
        self._colder_other = crowd * max(0.0, mean(delays.crowded.other) - mean(delays.beside.other))
        self._stored = _stored_for_each(delays, crowd)
        round_trips = setting.toggle_queries + _LOAD_QUERIES
        self._idle = mean(delays.alone.idle) / round_trips  # in each on one machine, until a processor has woken
        self.toggles: list[Toggle] = []
        self.worked = 0.0
        """The processor time of all toggles so far, without that of instances at rest."""

    def run(self, toggles: int) -> list[Toggle]:
        """Toggle one after the other."""
        for instance in range(self._setting.instances):
            self._now.process(self._rest(instance))
        self._now.run(self._now.process(self._toggle_again_and_again(toggles)))
        return self.toggles

    def _toggle_again_and_again(self, toggles: int) -> Steps:
        for _ in range(toggles):
            yield self._now.process(self._toggle())
            yield self._now.timeout(self._setting.pause)

    def _rest(self, instance: int) -> Steps:
        """What an instance does again and again, and has PostgreSQL do."""
        usage = self._delays.beside
        while True:
            yield self._now.timeout(self._chance.expovariate(usage.slices))
            if self._is_stopped(instance):
                return
            yield from self._hold(self._core(instance), usage.rest / usage.slices)
            yield from self._hold(self._database, usage.database_rest / usage.slices)

    def _toggle(self) -> Steps:
        began = self._now.now
        own, stored = self._draw_load()
        whole = draw(self._chance, self._usage.first) + self._colder_first
        database = draw(self._chance, self._delays.alone.database)
        yield from self._work(0, max(0.0, whole - own), max(0.0, database - stored), self._setting.toggle_queries)
        committed = self._now.now
        others = range(1, self._setting.instances)
        answered: set[int] = set()
        loaded = {other: self._now.process(self._hear_and_load(other)) for other in others}
        answers = {each: self._now.process(self._answer(each, loaded[each], answered)) for each in others}
        reading = self._now.process(self._read())
        yield from self._work(0, own, stored, _LOAD_QUERIES)
        yield reading
        deadline = self._now.now + CONFIRM_SECONDS
        while missing := [each for each in others if each not in answered and not self._has_lapsed(each)]:
            if self._now.now >= deadline:
                break
            pause = self._now.timeout(min(ASK_AGAIN_SECONDS, deadline - self._now.now))
            yield self._now.all_of([answers[each] for each in missing]) | pause
            if not answered.issuperset(missing):
                yield from self._read()
                yield from self._send(listening=self._setting.instances)
        loads: list[Any] = [each.value for each in loaded.values() if each.processed]
        served = max(loads, default=self._now.now)
        self.toggles.append(Toggle(began, self._now.now - began, max(0.0, served - committed), not missing))

    def _read(self) -> Steps:
        """Read the leases: a round trip. The processor time is part of that of the toggle."""
        yield self._now.timeout(self._setting.round_trip + self._idle)

    def _hear_and_load(self, instance: int) -> Generator[simpy.Event, Any, float]:
        """Notify an instance of the change, and let it load the change; return when."""
        yield self._now.timeout(self._setting.round_trip / 2)
        if self._is_stopped(instance):
            yield self._now.event()
        factor = self._setting.slow_factor if instance == 1 else 1.0
        own, stored = self._draw_load()
        yield from self._work(instance, own * factor, stored, _LOAD_QUERIES)
        return self._now.now

    def _draw_load(self) -> tuple[float, float]:
        """The processor time of an instance that loads a change and acknowledges it, and of PostgreSQL for it."""
        return draw(self._chance, self._delays.beside.other) + self._colder_other, self._stored

    def _answer(self, instance: int, loaded: simpy.Event, answered: set[int]) -> Steps:
        """An instance acknowledges the change when it has loaded it."""
        yield loaded
        yield from self._send(listening=1)
        yield self._now.timeout(self._setting.round_trip / 2)
        yield from self._use(self._core(0), self._draw("message"))
        answered.add(instance)

    def _send(self, listening: int) -> Steps:
        """A transaction that notifies, in one order with all others. It wakes every session; some listen to it."""
        yield self._now.timeout(self._setting.round_trip / 2)
        with self._commits.request() as turn:
            yield turn
            yield from self._use(self._database, self._draw("send"))
        self._now.process(self._wake(max(0, listening - 1)))

    def _wake(self, passing_on: int) -> Steps:
        """PostgreSQL wakes the sessions that it has not woken already; each reads all that has come meanwhile."""
        woken = self._setting.instances - self._waking
        self._waking += woken
        yield from self._use(self._database, self._draw("wake") * woken + self._draw("message") * passing_on)
        self._waking -= woken

    def _work(self, instance: int, own: float, stored: float, queries: int) -> Steps:
        """Processor time of an instance and of PostgreSQL in turns, with a round trip for each query."""
        for _ in range(queries):
            yield from self._use(self._core(instance), own / queries)
            yield self._now.timeout(self._setting.round_trip + self._idle)
            yield from self._use(self._database, stored / queries)

    def _use(self, core: simpy.Resource, seconds: float) -> Steps:
        self.worked += seconds
        yield from self._hold(core, seconds)

    def _hold(self, core: simpy.Resource, seconds: float) -> Steps:
        with core.request() as turn:
            yield turn
            yield self._now.timeout(seconds)

    def _is_stopped(self, instance: int) -> bool:
        at = self._setting.stopped_at
        return instance == 1 and at is not None and self._now.now >= at

    def _has_lapsed(self, instance: int) -> bool:
        """Return whether its lease has lapsed for the others.

        On average, they saw its latest renewal when it stopped.
        """
        at = self._setting.stopped_at
        return at is not None and instance == 1 and self._now.now >= at + LEASE_SECONDS

    def _draw(self, name: str) -> float:
        return draw(self._chance, getattr(self._delays, name))


def _stored_for_each(delays: Delays, crowd: float) -> float:
    """The processor time of PostgreSQL for an instance that loads a change.

    It is what a toggle of several instances took beyond that of one, without the transactions that acknowledge and the
    sessions woken, which are simulated. `crowd` is 0 for `BESIDE` instances and 1 for `CROWDED`.
    """
    beside, crowded = (
        (mean(usage.database) - mean(delays.alone.database) - mean(delays.wake) * count**2) / (count - 1)
        for usage, count in ((delays.beside, BESIDE), (delays.crowded, CROWDED))
    )
    return max(0.0, beside + crowd * max(0.0, crowded - beside) - mean(delays.send))
