"""The measured delays that the simulation draws from."""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

_FILE = Path(__file__).with_name("measured.json")


@dataclass(frozen=True)
class Delays:
    """Measured durations in seconds, each a sample of many."""

    toggle: Sequence[float]
    """A toggle with a single instance, as the client sees it."""
    reload: Sequence[float]
    """The time in which an instance loads a changed environment from PostgreSQL."""
    read: Sequence[float]
    """The time in which it reads the leases of all instances."""
    send: Sequence[float]
    """The time in which it sends a notification, in a separate transaction."""
    delivery: Sequence[float]
    """The time until another session has received the notification."""
    message: Sequence[float]
    """One more message in a row, for PostgreSQL and the session that receives it."""
    wake: Sequence[float]
    """One more session that listens to another channel: PostgreSQL wakes it for each transaction that notifies."""
    toggles: dict[int, Sequence[float]]
    """Toggles with several instances on one machine with two cores, for comparison."""

    @classmethod
    def load(cls) -> Self:
        """Read `measured.json`, which `bench.simulation.measure` writes."""
        measured = json.loads(_FILE.read_text())
        toggles = {int(count): _seconds(taken) for count, taken in measured["toggles"].items()}
        names = ("reload", "read", "send", "delivery", "message", "wake")
        return cls(toggle=toggles[1], toggles=toggles, **{name: _seconds(measured["delays"][name]) for name in names})


def draw(chance: random.Random, sample: Sequence[float]) -> float:
    """Draw one of the measured durations."""
    return sample[int(chance.random() * len(sample))]


def percentile(sorted_sample: Sequence[float], percent: float) -> float:
    """Return the nearest-rank percentile of a sorted sample."""
    return sorted_sample[min(len(sorted_sample) - 1, int(len(sorted_sample) * percent / 100))]


def _seconds(milliseconds: Sequence[float]) -> Sequence[float]:
    return [each / 1000 for each in milliseconds]
