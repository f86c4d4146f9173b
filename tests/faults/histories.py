"""What the clients of a run did and saw. Times are `time.monotonic_ns()` of the one machine that all clients run on."""

from dataclasses import dataclass, field
from enum import Enum


class Outcome(Enum):
    """What a client knows of its change after the answer."""

    MADE = "made"
    REFUSED = "refused"  # and nothing was changed
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Toggle:
    """A change of one flag. `enabled` and `revision` are what a change that was made says of itself."""

    flag: str
    instance: int
    started: int
    ended: int
    status: int  # 0: the connection ended without an answer
    outcome: Outcome
    enabled: bool | None = None
    revision: int | None = None
    live_on: str | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    """An evaluation of all flags; `on` are the keys of those that were on, `stale` is what marks an old answer."""

    instance: int
    user: str
    started: int
    ended: int
    status: int  # 0: the connection ended without an answer
    on: frozenset[str] = frozenset()
    stale: str | None = None
    revision: int | None = None

    @property
    def is_normal(self) -> bool:
        """Whether it was answered, and without a mark."""
        return self.status == 200 and self.stale is None


@dataclass
class History:
    """Everything that happened, in the order in which it ended."""

    toggles: list[Toggle] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
