"""The interface of all faults."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from random import Random

from tests.faults.fleet import INSTANCES, Fleet


class Nemesis(ABC):
    """A fault that starts and is healed. Its random values are chosen when it is created.

    `victims` are the instances that it affects: all of them for a fault of the database.

    `cuts` says that the victims cannot reach the database at all, while other instances can.

    Faults that do not show in the victims' answers set `detected_seconds` and `recovered_seconds`. `check` returns the
    errors that were seen during the fault.
    """

    seconds: float
    victims: Collection[int]
    wrong_clock_seconds: int = 0
    cuts: bool = False
    detected_seconds: float | None = None
    recovered_seconds: float | None = None

    @abstractmethod
    def __str__(self) -> str:
        """Describe the fault for the table."""

    async def prepare(self, fleet: Fleet) -> None:  # noqa: B027  # most need nothing
        """Create what the fault needs, before the clients start."""

    @abstractmethod
    async def start(self, fleet: Fleet) -> None:
        """Start the fault."""

    async def check(self, fleet: Fleet) -> list[str]:  # noqa: ARG002
        """Return the errors that are present shortly before the end, in words."""
        return []

    async def record_recovery(self, fleet: Fleet) -> None:  # noqa: B027  # most need nothing
        """Wait for recovery that the answers do not show; raises TimeoutError."""

    @abstractmethod
    async def heal(self, fleet: Fleet) -> None:
        """End the fault."""


EVERY_INSTANCE = tuple(range(INSTANCES))


def draw_victims(random: Random, most: int = 1) -> list[int]:
    """Choose one instance, or several."""
    return sorted(random.sample(EVERY_INSTANCE, random.randint(1, most)))
