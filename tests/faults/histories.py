"""Records of what the clients of a run did and received.

Times are `time.monotonic_ns()` of the one machine that all clients run on.
"""

from dataclasses import dataclass, field
from enum import Enum


class Outcome(Enum):
    """The result of a change, as far as the client knows it after the answer."""

    MADE = "made"
    REFUSED = "refused"  # and nothing was changed
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Toggle:
    """A change of one flag.

    `enabled` and `revision` are the values in the answer to a change that was made. The changes of one `turn` ask for
    the same state, and may be made at the same time. `enabled` is the wanted state, if it is known without an answer.
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
    """An evaluation of all flags; `on` has the keys of those that were on, and `stale` the mark of an old answer."""

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
        """True if the evaluation was answered without a mark."""
        return self.status == 200 and self.stale is None


@dataclass(frozen=True, slots=True)
class New:
    """A flag or an environment, whose creation was confirmed at a time."""

    key: str
    is_environment: bool
    ended: int


@dataclass(frozen=True, slots=True)
class Asked:
    """An answer to a question for what was created: whether it knows it, and whether it is marked as old."""

    instance: int
    question: str
    new: New
    started: int
    knows: bool
    is_marked: bool


@dataclass
class History:
    """All events of a run, in the order in which they ended."""

    toggles: list[Toggle] = field(default_factory=list)
    evaluations: list[Evaluation] = field(default_factory=list)
    others: list[Toggle] = field(default_factory=list)
    """Writes that asked for no change, with the revision that they found."""
    news: list[New] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
