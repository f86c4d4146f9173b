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
    """A change of one flag. `enabled` and `revision` are what a change that was made says of itself.

    Those of one `turn` ask for the same, and may be made at the same time. What they ask for is in `enabled`, if it is
    known without an answer.
    """

    flag: str
    instance: int
    started: int
    ended: int
    status: int  # 0: the connection ended without an answer
    outcome: Outcome
    enabled: bool | None = None
    revision: int | None = None
    live_on: str | None = None
    turn: int | None = None


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
    others: list[Toggle] = field(default_factory=list)
    """Writes that were to change nothing, which have the revision that they found."""
    problems: list[str] = field(default_factory=list)
