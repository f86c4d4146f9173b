"""The measured processor time that the simulation draws from."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Self

BESIDE, CROWDED = 4, 16
_FILE = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class Usage:
    """Measured processor time in seconds, in samples of many, and that of an instance at rest."""

    first: Sequence[float]
    """Of the instance that toggles and its client, for a toggle."""
    other: Sequence[float]
    """Of each other instance, for a toggle."""
    database: Sequence[float]
    """Of PostgreSQL, for a toggle."""
    idle: Sequence[float]
    """The time of a toggle in which nothing ran and nothing waited for a processor."""
    rest: float
    """Of an instance at rest, in a second."""
    database_rest: float
    """Of PostgreSQL for an instance at rest, in a second."""
    slices: float
    """How often an instance at rest, or PostgreSQL for it, begins to run in a second."""


@dataclass(frozen=True)
class Delays:
    """Measured processor time in seconds, each a sample of many, and toggles to compare with."""

    message: Sequence[float]
    """Of an instance, for one more message in a row."""
    send: Sequence[float]
    """Of PostgreSQL, for a transaction that notifies."""
    wake: Sequence[float]
    """Of a session that listens to another channel, and that a transaction that notifies wakes."""
    alone: Usage
    """With a single instance."""
    beside: Usage
    """With `BESIDE` instances on shared cores, which find the processor's caches cold."""
    crowded: Usage
    """With `CROWDED` instances, which find them colder."""
    checked: dict[int, float]
    """The median processor time of a toggle, by the number of instances, for comparison."""
    toggles: dict[int, Sequence[float]]
    """Toggles with several instances on one machine with two cores, for comparison."""

    @classmethod
    def load(cls) -> Self:
        """Read `measured.json`, which `bench.simulation.measure` writes."""
        measured = json.loads(_FILE.read_text())
        toggles = {int(count): _seconds(taken) for count, taken in measured["toggles"].items()}
        names = ("message", "send", "wake")
        return cls(
            alone=_usage(measured["usage"]["1"]),
            beside=_usage(measured["usage"][str(BESIDE)]),
            crowded=_usage(measured["usage"][str(CROWDED)]),
            checked={int(count): _whole(int(count), _usage(each)) for count, each in measured["usage"].items()},
            toggles=toggles,
            **{name: _seconds(measured["steps"][name]) for name in names},
        )


def draw(chance: random.Random, sample: Sequence[float]) -> float:
    """Draw one of the measured durations."""
    return sample[int(chance.random() * len(sample))]


def percentile(sorted_sample: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile of a sorted sample."""
    return sorted_sample[min(len(sorted_sample) - 1, int(len(sorted_sample) * percent / 100))]


def _seconds(milliseconds: Sequence[float]) -> Sequence[float]:
    return [each / 1000 for each in milliseconds]


def _whole(instances: int, usage: Usage) -> float:
    return median(usage.first) + (instances - 1) * median(usage.other) + median(usage.database)


def _usage(measured: dict[str, Sequence[float]]) -> Usage:
    (rest,), (database_rest,), (slices,) = (measured[name] for name in ("rest", "database_rest", "slices"))
    samples = {name: _seconds(measured[name]) for name in ("first", "other", "database", "idle")}
    return Usage(rest=rest / 1000, database_rest=database_rest / 1000, slices=slices, **samples)
