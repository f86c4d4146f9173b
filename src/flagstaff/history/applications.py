"""Applications that evaluate flags themselves: who they say they are, and what they report.

All of it is what clients claim. Texts are shortened and numbers bounded when they are read, and nothing is decided by
them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from flagstaff.metrics.request_metrics import Measured

TEXT_MAX_LENGTH = 100
COUNT_MAX = 10**9
"""The most that one report says of a flag. Nine billion such reports of the same flag fit into a stored sum."""
UNNAMED = "unknown"


def claimed(text: str, max_length: int = TEXT_MAX_LENGTH) -> str:
    """A text that a client sent in a form that can be stored: short, without NUL and lone surrogates."""
    if len(text) <= max_length and text.isascii() and "\0" not in text:
        return text  # as nearly all are; reports have tens of thousands
    return text.replace("\0", "").encode(errors="ignore").decode()[:max_length]


class Client(NamedTuple):
    """An instance of an application. `connection` tells it apart from others; it may be empty, as the others may.

    `interval_seconds` is how often it asks for its flags, if it says so.
    """

    application: str
    instance: str
    connection: str
    sdk: str
    interval_seconds: float | None = None

    @property
    def identity(self) -> str:
        """The key that tells the instances of an application apart."""
        return self.connection or self.instance


@dataclass(frozen=True, slots=True)
class FlagCounts:
    """The number of times that an application found a flag on and off, and got each variant."""

    yes: int = 0
    no: int = 0
    variants: Mapping[str, int] = field(default_factory=dict)


def size_of(counts: FlagCounts) -> int:
    """Return the number of counts in a flag's part of a report: its results and variants, at least one."""
    return max(1, (counts.yes > 0) + (counts.no > 0) + len(counts.variants))


@dataclass(frozen=True, slots=True)
class Report:
    """The counts of an instance of an application in a window of time, by flag.

    `window` is a digest of the window and of who sent it; a client may send the same window twice. `dropped` is the
    number of further counts that the report had. `measured` is what it has measured besides.
    """

    environment_id: UUID
    client: Client
    window: bytes
    counts: Mapping[str, FlagCounts]
    dropped: int = 0
    measured: Sequence[Measured] = ()

    @property
    def size(self) -> int:
        """The number of its counts and samples."""
        return sum(map(size_of, self.counts.values())) + sum(len(each.samples) for each in self.measured)


@dataclass(frozen=True, slots=True)
class Connection:
    """An instance of an application, with the revision that it has, and when it was last heard of.

    `streams` says whether it holds a stream open, on which it hears of changes at once; otherwise it asks every
    `client.interval_seconds`.
    """

    environment_id: UUID
    client: Client
    revision: int
    seen_at: datetime
    streams: bool
