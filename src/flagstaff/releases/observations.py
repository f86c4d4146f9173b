"""The counts of a release: users by arm and step, and those among them who had events.

Positions in the history say up to where it was read. Counts and positions are stored together, so that each evaluation
and each event is counted once, whichever process ends when. Everything that guards and results need is here, so that a
page costs the same with a thousand users and with a million.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from flagstaff.releases.releases import Arms
from flagstaff.releases.statistics.means import Scale

EXPOSED_MAX = 5_000_000
"""The number of users that are counted for a release; the results say so if there are more."""
POINTS_MAX = 240
RULED, ASIDE = -1, -2
"""The arms of users who were left out: by a rule, or because they were seen in two arms."""


@dataclass(slots=True)
class Exposure:
    """The time of a user's first exposure in its latest step (in microseconds), the arm, and the first step."""

    first_step: int
    step: int
    arm: int
    at: int


@dataclass(slots=True)
class Done:
    """The events of a user for a metric, in which step and arm."""

    step: int
    arm: int
    events: int
    total: float


@dataclass(slots=True)
class Cell:
    """The users of an arm in a step who had events of a metric: how many, and the sum of their numbers and squares.

    A user's number is the mean of the values, or the count; it is cut off at the scale's limits.
    """

    users: int = 0
    events: int = 0
    total: float = 0.0
    squares: float = 0.0


@dataclass(slots=True)
class MetricCounts:
    """The counts of a metric: cells by step and arm. The scale is found among the first users."""

    cells: list[list[Cell]] = field(default_factory=list)
    scale: Scale | None = None


@dataclass(slots=True)
class Point:
    """A moment of a chart, in seconds since 1970: the evidence of each guard, and the users of each arm.

    Evidence is given as its natural logarithm. None was stored in place of no evidence at all, whose logarithm is -∞.
    """

    at: int
    evidence: Sequence[float | None]
    users: list[int]


@dataclass(slots=True)
class Observations:
    """The counts of a release and the positions up to which its environment's history was read.

    `exposed` has, by segment (a step that was in force) and arm, the users who were exposed in it, and `new` those who
    were exposed for the first time. `entered` has those who were in no arm of this name just before, so that its sum
    counts each user of an arm once. `event` is the last segment of events
    that was read, and those up to `first_event` are from before the release.
    """

    segment: int = 0
    unfinished: dict[int, int] = field(default_factory=dict)
    event: int = 0
    first_event: int = 0
    began_at: int = 0
    exposed: list[list[int]] = field(default_factory=list)
    new: list[list[int]] = field(default_factory=list)
    entered: list[list[int]] = field(default_factory=list)
    ruled: int = 0
    aside: int = 0
    unnamed: int = 0
    users: int = 0
    beyond: int = 0
    metrics: list[MetricCounts] = field(default_factory=list)
    points: list[Point] = field(default_factory=list)
    every: int = 0

    def fits(self, arms: list[Arms | None]) -> bool:
        """Return whether these counts are of such steps: not if the configuration was restored to another state."""
        widths = [len(each.names) if each else 0 for each in arms]
        return len(self.exposed) <= len(arms) and [len(each) for each in self.exposed] == widths[: len(self.exposed)]

    def prepare(self, arms: list[Arms | None], metrics: int) -> None:
        """Add what segments and metrics lack."""
        for place, each in enumerate(arms):
            width = len(each.names) if each else 0
            if place == len(self.exposed):
                self.exposed.append([0] * width)
                self.new.append([0] * width)
                self.entered.append([0] * width)
        while len(self.metrics) < metrics:
            self.metrics.append(MetricCounts())
        for metric in self.metrics:
            for place in range(len(metric.cells), len(arms)):
                metric.cells.append([Cell() for _ in self.exposed[place]])

    def add_point(self, point: Point) -> None:
        """Add a point to the charts. When there are too many, every other one goes, and they come half as often."""
        if self.points and point.at - self.points[-1].at < self.every:
            return
        self.points.append(point)
        if len(self.points) > POINTS_MAX:
            self.points = self.points[::2]
            self.every = max(1, 2 * self.every)
