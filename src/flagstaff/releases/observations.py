"""The counts of a release: users by arm and stretch, and those among them who had events.

Positions in the history say up to where it was read. Counts and positions are stored together, so that each evaluation
and each event is counted once, whichever process ends when. Everything that guards and results need is here, so that a
page costs the same with a thousand users and with a million.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from flagstaff.releases.buckets import BucketRange, compared_arms
from flagstaff.releases.releases import Applied, Arms
from flagstaff.releases.statistics.limits import Limits

EXPOSED_MAX = 5_000_000
"""The users that are counted for a release, each once in each stretch, at most; the results say if there are more."""
POINTS_MAX = 240
LIMITS_MAX = 40
"""How many times the limits at which numbers are cut off are found for a metric, at most."""
RULED, ASIDE, OUTSIDE = -1, -2, -3
"""The arms of users who were left out: by a rule, because they were seen in two arms, or because of their bucket."""


@dataclass(slots=True)
class Stretch:
    """A time in which users were divided in one way: a step in force, or a part of its time.

    `segment` is the step's place among those that were in force, and `began` a time in microseconds. Only users with
    buckets from `low` up to `high` are compared. Events count for it from `events_from` on, if that is later: those
    before had been counted when it was not known yet.
    """

    segment: int
    began: int
    low: int = 0
    high: int = 100
    events_from: int = 0

    @property
    def buckets(self) -> BucketRange:
        """The buckets of the users who are compared."""
        return BucketRange(self.low, self.high)


@dataclass(slots=True)
class Exposure:
    """The arm of a user in a stretch, and the time of the first exposure there, in microseconds."""

    arm: int
    at: int


@dataclass(slots=True)
class Done:
    """The events of a user for a metric in a stretch. A number is cut off at the limits with the place `limits`."""

    events: int
    total: float
    limits: int = -1


@dataclass(slots=True)
class Sums:
    """Some users, the sum of their numbers, cut off, and the sum of the squares."""

    users: int = 0
    total: float = 0.0
    squares: float = 0.0


@dataclass(slots=True)
class Cell:
    """The users of an arm in a stretch who had events of a metric: how many, and the sum of their numbers and squares.

    A user's number is the mean of the values, or the count. `blocks` has the same sums of numbers that are cut off, by
    the place of the limits; of counts, all together. `before` are the users of the arm who had an event in an earlier
    stretch, of a binary metric.
    """

    users: int = 0
    events: int = 0
    total: float = 0.0
    squares: float = 0.0
    before: int = 0
    blocks: dict[int, Sums] = field(default_factory=dict)


@dataclass(slots=True)
class MetricCounts:
    """The counts of a metric: cells by stretch and arm, and the limits that were found so far.

    `sketch` has the numbers of the users so far by size, `found_at` the number of users for which the latest limits
    were found, and `cut` how many have been cut off by them.
    """

    cells: list[list[Cell]] = field(default_factory=list)
    limits: list[Limits] = field(default_factory=list)
    sketch: dict[int, int] = field(default_factory=dict)
    found_at: int = 0
    cut: int = 0


class ArmName(NamedTuple):
    """An arm of any stretch: its name, which a variant may share with an arm of the rollout."""

    is_variant: bool
    name: str


@dataclass(slots=True)
class Point:
    """A moment of a chart, in seconds since 1970: the evidence of each guard, and the users of each arm.

    Arms are in the order in which they came, so that earlier points have fewer.
    Evidence is given as its natural logarithm. None was stored in place of no evidence at all, whose logarithm is -∞.
    """

    at: int
    evidence: Sequence[float | None]
    users: list[int]


@dataclass(slots=True)
class Observations:
    """The counts of a release and the positions up to which its environment's history was read.

    By stretch and arm, `exposed` has the users who were exposed, `new` those who were for the first time, `of_step`
    those who were for the first time in the step, and `entered` those who were for the first time in an arm of this
    name. `event` is the last segment of events that was read, and those up to `first_event` are from before the
    release. `latest_event` is the latest time of an event of an exposed user. `untimely` are events of exposed users
    that belong to no exposure by their time. `public_evaluations` and `public_events` were sent with keys of pages; if
    only servers' evaluations count, with keys that are not known to belong to servers. `failing_since` is the time, in
    seconds since 1970, since which the release cannot be counted or a guard cannot be judged; 0 if all can.
    `cuts_change` is the number of the last change of the flag, and of those that it needs, of which the cuts are known;
    -1 if none.
    """

    segment: int = 0
    unfinished: dict[int, int] = field(default_factory=dict)
    event: int = 0
    first_event: int = 0
    latest_event: int = 0
    began_at: int = 0
    stretches: list[Stretch] = field(default_factory=list)
    exposed: list[list[int]] = field(default_factory=list)
    new: list[list[int]] = field(default_factory=list)
    of_step: list[list[int]] = field(default_factory=list)
    entered: list[list[int]] = field(default_factory=list)
    ruled: int = 0
    aside: int = 0
    outside: int = 0
    unnamed: int = 0
    untimely: int = 0
    public_evaluations: int = 0
    public_events: int = 0
    users: int = 0
    rows: int = 0
    beyond: int = 0
    metrics: list[MetricCounts] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    every: int = 0
    is_behind: bool = False
    failing_since: int = 0
    cuts_change: int = -1

    def fits(self, segments: Sequence[Applied]) -> bool:
        """Return whether these counts are of such steps: not if the configuration was restored to another state."""
        if len(self.exposed) != len(self.stretches) or any(each.segment >= len(segments) for each in self.stretches):
            return False
        widths = [_width(segments[each.segment].arms) for each in self.stretches]
        return [len(each) for each in self.exposed] == widths

    def prepare(self, segments: Sequence[Applied], metrics: int) -> None:
        """Add what stretches and metrics lack."""
        for place in range(len(self.exposed), len(self.stretches)):
            width = _width(segments[self.stretches[place].segment].arms)
            for counts in (self.exposed, self.new, self.of_step, self.entered):
                counts.append([0] * width)
        while len(self.metrics) < metrics:
            self.metrics.append(MetricCounts())
        for metric in self.metrics:
            for place in range(len(metric.cells), len(self.stretches)):
                metric.cells.append([Cell() for _ in self.exposed[place]])

    def compared(self, segments: Sequence[Applied]) -> "Iterator[Compared]":
        """The stretches in which users are compared."""
        for place, stretch in enumerate(self.stretches):
            applied = segments[stretch.segment]
            arms = compared_arms(applied, stretch.buckets)
            if arms is not None:
                yield Compared(place, applied.step, arms)

    def users_by_arm(self, segments: Sequence[Applied]) -> dict[ArmName, int]:
        """The users who were exposed to each arm, in the order in which the arms came."""
        found: dict[ArmName, int] = {}
        for stretch, entered in zip(self.stretches, self.entered, strict=False):
            arms = segments[stretch.segment].arms
            for name, users in zip(arms.names if arms else (), entered, strict=False):
                key = ArmName(arms is not None and arms.by_variant, name)
                found[key] = found.get(key, 0) + users
        return found

    def add_point(self, point: Point) -> None:
        """Add a point to the charts, which have the newest one and so many before it.

        When there are too many, every other one goes, and they come half as often.
        """
        if len(self.points) > 1 and self.points[-1].at - self.points[-2].at < self.every:
            self.points[-1] = point
            return
        self.points.append(point)
        if len(self.points) > POINTS_MAX:
            self.points = self.points[::2]
            self.every = max(1, 2 * self.every)


@dataclass(frozen=True, slots=True)
class Compared:
    """A stretch in which users are compared: its place, its step, and its arms with the shares of those compared."""

    place: int
    step: int
    arms: Arms


def _width(arms: Arms | None) -> int:
    return len(arms.names) if arms else 0
