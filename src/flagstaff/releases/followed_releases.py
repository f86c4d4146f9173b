"""Remembers the releases that a process watches, so that news that say nothing about one cost no statement.

The positions here may be ahead of the stored ones: what lies between says nothing about the release but what `Unstored`
has. If the process ends, it is read once more, with the same result. So whoever writes the counts writes these
positions with them, and only if nobody else has written meanwhile.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from flagstaff.history.store.following import Position
from flagstaff.releases.buckets import Cuts
from flagstaff.releases.counting import Timeline
from flagstaff.releases.observations import Observations
from flagstaff.releases.observations_store import Observed
from flagstaff.releases.plans import Counts
from flagstaff.releases.releases import Release

STORE_SECONDS = 60.0
"""After how long positions are stored if nothing else is to be, so that little is read again after a restart."""


@dataclass(slots=True)
class Unstored:
    """Evaluations and events that were seen and counted in no other number, since the counts were stored."""

    public_evaluations: int = 0
    public_events: int = 0
    unnamed: int = 0

    def add_to(self, counted: Observations) -> None:
        """Add them to the counts."""
        counted.public_evaluations += self.public_evaluations
        counted.public_events += self.public_events
        counted.unnamed += self.unnamed


@dataclass(slots=True)
class FollowedRelease:
    """A release with the version of its stored counts, and the positions up to which it needs to read nothing.

    `known_change` is the number of the last change of its project with which the cuts of its buckets are known; -1
    if they are to be read. `cuts_change` is the number of the last change of `flags`, from which they come.
    `counted_at` is the turn in which it was last counted, and `ahead_since` the time since which its positions are
    ahead of the stored ones.
    """

    release: Release
    number: int
    version: int
    position: Position
    event: int
    timeline: Timeline
    cuts_change: int
    known_change: int = -1
    flags: frozenset[UUID] | None = None
    unstored: Unstored = field(default_factory=Unstored)
    counted_at: int = 0
    ahead_since: float | None = None

    @property
    def counts(self) -> Counts:
        """The events and evaluations that count for it."""
        return self.release.counts

    def is_old(self, now: float) -> bool:
        """Return whether its positions are to be stored."""
        return self.ahead_since is not None and now - self.ahead_since >= STORE_SECONDS

    def needs_cuts(self, change: int, changed: Collection[UUID] | None) -> bool:
        """Return whether its cuts are to be read at a change, with the flags that were changed since; None is all."""
        if self.known_change == change:
            return False
        return self.known_change < 0 or self.flags is None or changed is None or not self.flags.isdisjoint(changed)

    def know(self, cuts: Cuts, change: int) -> None:
        """Note that the cuts were read, when a change was the last one."""
        self.flags, self.known_change = cuts.flags, change

    def move(self, position: Position, event: int, now: float) -> None:
        """Go on to positions without storing them."""
        if self.ahead_since is None and (position != self.position or event != self.event):
            self.ahead_since = now
        self.position, self.event = position, event

    def store(self, observed: Observed) -> None:
        """Note that the counts were stored, with these positions."""
        counted = observed.counted
        self.version = observed.version + 1
        self.position, self.event = Position(counted.segment, dict(counted.unfinished)), counted.event
        self.timeline = Timeline(self.release.segments, list(counted.stretches))
        self.cuts_change = counted.cuts_change
        self.unstored, self.ahead_since = Unstored(), None

    def restore(self, counted: Observations) -> None:
        """Give counts that were just read the positions, and what is not stored, that are known here."""
        counted.segment, counted.unfinished = self.position.segment, dict(self.position.unfinished)
        counted.event = self.event
        self.unstored.add_to(counted)


def follow(release: Release, observed: Observed) -> FollowedRelease:
    """Begin to follow a release of which the counts were read."""
    counted = observed.counted
    return FollowedRelease(
        release,
        observed.number,
        observed.version,
        Position(counted.segment, dict(counted.unfinished)),
        counted.event,
        Timeline(release.segments, list(counted.stretches)),
        counted.cuts_change,
    )


def choose(followed: Sequence[FollowedRelease]) -> list[FollowedRelease]:
    """Choose the releases that read together: the one that has waited for longest, and those that are not behind it.

    One that is far behind, such as after a failure, reads by itself, in turns with the others.
    """
    first = min(followed, key=lambda each: each.counted_at)
    return [each for each in followed if each.position.segment >= first.position.segment and each.event >= first.event]
