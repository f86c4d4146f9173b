"""Measures the processor time of instances that share one machine's cores: at rest, and for a toggle.

What a step takes in a process that does nothing else says little of instances beside many others: they find the
processor's caches cold, wait for each other, and have periodic tasks.
"""

import asyncio
import statistics
import time
from typing import NamedTuple

from bench.machine import Scheduled, scheduled
from bench.toggles import Fleet

_REST_SECONDS = 3.0
_SETTLE_SECONDS = 0.05  # after toggles, in which what they have begun ends
_ROUNDS, _RUNS, _TOGGLES = 5, 8, 5

Usage = dict[str, list[float]]


class _Used(NamedTuple):
    first: Scheduled
    """The instance that toggles, and the client."""
    others: Scheduled
    database: Scheduled

    def since(self, before: "_Used") -> "_Used":
        return _Used(*(now.since(then) for now, then in zip(self, before, strict=True)))


class _Rest(NamedTuple):
    used: _Used
    seconds: float

    @property
    def all(self) -> Scheduled:
        return self.used.first.plus(self.used.others).plus(self.used.database)


def _read(fleet: Fleet) -> _Used:
    assert fleet.postgres is not None
    first, *others = (server.pid for server in fleet.servers)
    client = Scheduled(time.process_time(), 0.0, 0)
    return _Used(scheduled([first]).plus(client), scheduled(others), scheduled(fleet.postgres.processes))


async def measure_usage(fleet: Fleet) -> Usage:
    """The processor time of a toggle beyond that of instances at rest, in milliseconds, in runs of toggles; sorted.

    `first` is that of the instance that toggles, `other` that of each other one, and `database` that of PostgreSQL.
    `idle` is the part of a toggle in which nothing ran or waited for a processor. `rest` and `database_rest` are those
    of an instance at rest and of PostgreSQL for it, each in a second, and `slices` how many times a second it begins to
    run. Of several rounds of either, the one that took least counts, as in the rows to compare with: other work on the
    machine adds to all.
    """
    rest = min([await _rest(fleet) for _ in range(_ROUNDS)], key=lambda each: each.all.ran / each.seconds)
    toggles = min([await _round(fleet, rest) for _ in range(_ROUNDS)], key=_whole)
    instances, own = len(fleet.servers), rest.used.first.plus(rest.used.others)
    return toggles | {
        "rest": [round(own.ran * 1000 / rest.seconds / instances, 3)],
        # A process of PostgreSQL that has ended meanwhile takes its share along.
        "database_rest": [round(max(0.0, rest.used.database.ran) * 1000 / rest.seconds / instances, 3)],
        "slices": [round(max(0, rest.all.slices) / rest.seconds / instances, 3)],
    }


def _whole(usage: Usage) -> float:
    return sum(statistics.median(usage[name]) for name in ("first", "other", "database"))


async def _round(fleet: Fleet, rest: _Rest) -> Usage:
    samples: Usage = {"first": [], "other": [], "database": [], "idle": []}
    for _ in range(_RUNS):
        before, began = _read(fleet), time.perf_counter()
        taken = await fleet.time_toggles(_TOGGLES)
        await asyncio.sleep(_SETTLE_SECONDS)
        used = _read(fleet).since(before)
        share = (time.perf_counter() - began) / rest.seconds
        first, others, database = (
            max(0.0, of_toggles.ran - of_rest.ran * share) * 1000 / _TOGGLES
            for of_toggles, of_rest in zip(used, rest.used, strict=True)
        )
        waited = (used.first.waited + used.database.waited) * 1000 / _TOGGLES
        samples["first"].append(first)
        samples["other"].append(others / max(1, len(fleet.servers) - 1))
        samples["database"].append(database)
        samples["idle"].append(max(0.0, statistics.mean(taken) - waited - first - database))
    return {name: sorted(round(each, 3) for each in sample) for name, sample in samples.items()}


async def _rest(fleet: Fleet) -> _Rest:
    """What is used while nobody asks for anything."""
    before, began = _read(fleet), time.perf_counter()
    await asyncio.sleep(_REST_SECONDS)
    return _Rest(_read(fleet).since(before), time.perf_counter() - began)


def describe(usage: Usage) -> str:
    """The medians, in one line."""
    return ", ".join(f"{name} {statistics.median(sample):.2f}" for name, sample in usage.items())
