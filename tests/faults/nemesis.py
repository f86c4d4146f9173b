"""What all faults have in common."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from random import Random

from tests.faults.fleet import INSTANCES, Fleet


class Nemesis(ABC):
    """A fault that starts and is healed. What is random in it is drawn when it is made.

    `victims` are the instances that it is aimed at, all of them for a fault of the database.

    `cuts` says that the victims reach the database not at all, and the others as usual.

    `detected_seconds` and `recovered_seconds` are set by those that do not show in the answers of the victims, and
    `check` says what was wrong while they lasted.
    """

    seconds: float
    victims: Collection[int]
    wrong_clock_seconds: int = 0
    cuts: bool = False
    detected_seconds: float | None = None
    recovered_seconds: float | None = None

    @abstractmethod
    def __str__(self) -> str:
        """What happens, for the table."""

    async def prepare(self, fleet: Fleet) -> None:  # noqa: B027  # most need nothing
        """Make what the fault needs, before the clients start."""

    @abstractmethod
    async def start(self, fleet: Fleet) -> None:
        """Bring the fault about."""

    async def check(self, fleet: Fleet) -> list[str]:  # noqa: ARG002
        """What is wrong shortly before the end, in words."""
        return []

    async def note_recovery(self, fleet: Fleet) -> None:  # noqa: B027  # most need nothing
        """Wait for what the answers do not show; raises TimeoutError."""

    @abstractmethod
    async def heal(self, fleet: Fleet) -> None:
        """End it."""


EVERY_INSTANCE = tuple(range(INSTANCES))


def draw_victims(random: Random, most: int = 1) -> list[int]:
    """One instance, or several."""
    return sorted(random.sample(EVERY_INSTANCE, random.randint(1, most)))
