"""How long guards take: after how many users each finds a harm of some size, and what it cannot find. Pure.

The evidence is computed as in a release (`statistics/`), from the counts that are expected after so many users.
About two of three such releases have found the harm by then: more than half, because chance may help at each look.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import Enum, StrEnum, auto
from math import ceil, exp, log

from flagstaff.flags.flags import Flag
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.buckets import Cuts, compared_arms, range_of
from flagstaff.releases.judging import COUNTED_LEAST, weigh_step
from flagstaff.releases.plans import Guard, Step, plan
from flagstaff.releases.releases import Applied, Release, arms_of
from flagstaff.releases.statistics import binary, means
from flagstaff.releases.statistics.binary import EventSplit
from flagstaff.releases.statistics.means import BURN_IN, Block, Moments

OPEN_DAYS = 28.0
"""The time in which a step without a next one is asked what it finds."""
DAYS_MAX = 366.0
_RATIOS_UP, _RATIOS_DOWN = (2.0, 1.5, 3.0), (0.5, 0.75, 0.9)
_SHARES, _DEVIATIONS = (0.1, 0.05, 0.2), (0.2, 0.1, 0.5)
_MEAN_LEAST = 0.01  # standard deviations, below which a share of the mean says little
_USERS_MAX = 2.0**30
_RATIO_MAX, _DEVIATIONS_MAX = 100.0, 100.0
_HALVINGS = 30


class Source(StrEnum):
    """Where the numbers of users without the flag come from."""

    RELEASE = "release"
    """The users of the release who do not have the flag."""
    EVENTS = "events"
    """The latest users of the flag, and their events in the same time."""
    GIVEN = "given"


class Missing(Enum):
    """The reason why nothing is known of users without the flag."""

    USERS = auto()
    """The flag was not evaluated."""
    EVENTS = auto()
    """Too few of its users had an event."""


@dataclass(frozen=True, slots=True)
class Basis:
    """The numbers of users without the flag: the share with an event, and the mean and its standard deviation.

    A value has them of the users with an event, and a count of all. `users` are those with an event who were seen.
    """

    source: Source
    users: int = 0
    rate: float | None = None
    mean: float | None = None
    deviation: float | None = None

    def is_enough_for(self, kind: Kind) -> bool:
        """Return whether evidence can be computed from it."""
        if kind is Kind.BINARY:
            return bool(self.rate)
        return self.mean is not None and bool(self.deviation)


@dataclass(frozen=True, slots=True)
class Traffic:
    """The users who evaluate the flag in a day, and how their number grows with the days.

    Many of them return, so after d days there are `users_per_day` d^`growth`.
    """

    users_per_day: float
    growth: float = 1.0
    is_given: bool = False

    def users_in(self, days: float) -> float:
        """The users in so many days."""
        return self.users_per_day * (days if days <= 1 else days**self.growth)

    def days_for(self, users: float) -> float | None:
        """The days until there are so many users; None if it takes more than a year."""
        ratio = users / self.users_per_day
        if ratio <= 1:
            return ratio
        exponent = log(ratio) / self.growth if self.growth else DAYS_MAX
        return exp(exponent) if exponent <= log(DAYS_MAX) else None


@dataclass(frozen=True, slots=True)
class Find:
    """A harm, as a ratio of rates or a difference of means, and after how many users and days it is found.

    None if it is never found, or takes more than a year, or nothing is known of the traffic. What is tolerated is
    never found.
    """

    effect: float
    users: int | None
    days: float | None
    is_tolerated: bool = False


@dataclass(frozen=True, slots=True)
class StepOutlook:
    """A guard's findings in a step: in the arm that takes longest, with this share of the users who are compared.

    `least` is the smallest harm that is found in `days` of the step; None if none is, or nothing is known of the
    traffic. With no `arm`, nobody can be compared in the step.
    """

    step: int
    days: float
    arm: str | None = None
    share: float = 0.0
    finds: Sequence[Find] = ()
    least: float | None = None
    has_traffic: bool = False


@dataclass(frozen=True, slots=True)
class GuardOutlook:
    """A guard's findings in each step that divides users; in none without a basis."""

    guard: Guard
    metric: Metric
    basis: Basis | Missing
    steps: Sequence[StepOutlook]


@dataclass(frozen=True, slots=True)
class Outlook:
    """The findings of a release's guards, and when they are made."""

    traffic: Traffic | None
    guards: Sequence[GuardOutlook]


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step that divides users: how, and for how many days, which is open after the last step.

    `compared` is the share of the users whom their buckets let be compared.
    """

    applied: Applied
    days: float
    compared: float


def planned_steps(release: Release, flag: Flag, cuts: Cuts, now: datetime) -> Iterator[PlannedStep]:
    """The steps that divide users, from the one in force on; `flag` is the flag as it is now."""
    running = release.running
    first = 0 if release.next_step is None else release.next_step
    if running is not None and release.is_open:
        yield from _planned(running, _days_of(release.steps, running.step), cuts)
    if release.next_step is None:
        return
    for place, after in enumerate(plan(flag, release.steps[first:]), first):
        arms = arms_of(after)
        applied = Applied(place, now, now, arms=arms, rollout_percentage=after.rollout_percentage)
        yield from _planned(applied, _days_of(release.steps, place), cuts)


def _planned(applied: Applied, days: float, cuts: Cuts) -> Iterator[PlannedStep]:
    if applied.arms is not None:
        buckets = range_of(applied, cuts)
        arms = compared_arms(applied, buckets)
        yield PlannedStep(replace(applied, arms=arms), days, (buckets.high - buckets.low) / 100 if arms else 0.0)


def _days_of(steps: Sequence[Step], place: int) -> float:
    if place + 1 >= len(steps):
        return OPEN_DAYS
    present, following = steps[place], steps[place + 1]
    if following.after_seconds is not None:
        return following.after_seconds / 86_400
    if present.at is not None and following.at is not None:
        return (following.at - present.at) / timedelta(days=1)
    return OPEN_DAYS


def find_outlook(
    release: Release,
    metrics: Sequence[tuple[Guard, Metric, Basis | Missing]],
    steps: Sequence[PlannedStep],
    traffic: Traffic | None,
) -> Outlook:
    """Compute each guard's findings in each step that divides users."""
    guards = []
    for guard, metric, basis in metrics:
        found: list[StepOutlook] = []
        if isinstance(basis, Basis) and basis.is_enough_for(metric.kind):
            found = [_look_ahead(release, guard, metric, basis, step, traffic) for step in steps]
        guards.append(GuardOutlook(guard, metric, basis, found))
    return Outlook(traffic, guards)


def _look_ahead(
    release: Release, guard: Guard, metric: Metric, basis: Basis, step: PlannedStep, traffic: Traffic | None
) -> StepOutlook:
    arms = step.applied.arms
    if arms is None:
        return StepOutlook(step.applied.step, step.days, has_traffic=traffic is not None)
    control, *others = arms.shares
    place = 1 + others.index(min(others))
    threshold = log(len(release.guards) / release.false_alarm_rate) + log(len(others))
    case = _Case(guard, metric, basis, control, arms.shares[place], weigh_step(release.steps), threshold)
    finds = []
    for effect in case.effects():
        users = case.users_for(effect)
        needed = None if users is None else users / step.compared
        days = traffic.days_for(needed) if traffic and needed is not None else None
        finds.append(Find(effect, None if needed is None else ceil(needed), days, case.tolerates(effect)))
    least = case.least_for(traffic.users_in(step.days) * step.compared) if traffic else None
    return StepOutlook(
        step.applied.step, step.days, arms.names[place], arms.shares[place], finds, least, traffic is not None
    )


@dataclass(frozen=True, slots=True)
class _Case:
    """A guard in a step, with the shares of the control and of the arm, and the logarithm of the threshold."""

    guard: Guard
    metric: Metric
    basis: Basis
    control: float
    treated: float
    weight: float
    threshold: float

    @property
    def harm_is_more(self) -> bool:
        return self.metric.better is Better.DOWN

    def effects(self) -> list[float]:
        """The harms that are asked for: ratios of rates, or differences of means."""
        if self.metric.kind is Kind.BINARY:
            assert self.basis.rate is not None
            if not self.harm_is_more:
                return [*_RATIOS_DOWN]
            fitting = [each for each in _RATIOS_UP if each * self.basis.rate <= 1]
            # Of what nearly all users have, half of those who could have it as well.
            return fitting or [(1 + 1 / self.basis.rate) / 2] * (self.basis.rate < 1)
        sign = 1 if self.harm_is_more else -1
        mean, deviation = abs(self.basis.mean or 0.0), self.basis.deviation or 0.0
        if mean >= _MEAN_LEAST * deviation:
            return [sign * each * mean for each in _SHARES]
        return [sign * each * deviation for each in _DEVIATIONS]

    def tolerates(self, effect: float) -> bool:
        """Return whether the guard tolerates a harm."""
        share = self.guard.tolerates
        if self.metric.kind is Kind.BINARY:
            return (effect if self.harm_is_more else 1 / effect) <= 1 + share
        return abs(effect) <= share * abs(self.basis.mean or 0.0) + self.guard.tolerates_amount

    def users_for(self, effect: float) -> float | None:
        """The users after which a harm is found, among those compared; None if it never is."""
        high = 1.0
        while not self._is_found(high, effect):
            high *= 2
            if high > _USERS_MAX:
                return None
        low = high / 2
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._is_found(middle, effect) else (middle, high)
            if high - low < 1:
                break
        return high

    def least_for(self, users: float) -> float | None:
        """The smallest harm that is found among so many users; None if none is."""
        if self.metric.kind is Kind.BINARY:
            assert self.basis.rate is not None
            most = log(min(_RATIO_MAX, 1 / self.basis.rate)) if self.harm_is_more else -log(_RATIO_MAX)
        else:
            most = _DEVIATIONS_MAX if self.harm_is_more else -_DEVIATIONS_MAX
        if not self._is_found(users, self._effect_at(most)):
            return None
        low, high = 0.0, most
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self._is_found(users, self._effect_at(middle)) else (middle, high)
        return self._effect_at(high)

    def _effect_at(self, place: float) -> float:
        """The ratio with a logarithm, or the difference of so many standard deviations."""
        return exp(place) if self.metric.kind is Kind.BINARY else place * (self.basis.deviation or 0.0)

    def _is_found(self, users: float, effect: float) -> bool:
        if self.metric.kind is Kind.BINARY:
            return self._log_of_rates(users, effect) >= self.threshold
        return self._log_of_means(users, effect) >= self.threshold

    def _log_of_rates(self, users: float, ratio: float) -> float:
        rate = self.basis.rate or 0.0
        treated, control = users * self.treated * min(1.0, rate * ratio), users * self.control * rate
        split = EventSplit(treated, control, self.treated / (self.treated + self.control))
        return binary.log_evidence([split], harm_is_more=self.harm_is_more, tolerates=self.guard.tolerates)

    def _log_of_means(self, users: float, difference: float) -> float:
        rate = 1.0 if self.basis.rate is None else self.basis.rate
        numbered = users * rate if self.metric.kind is Kind.VALUE else users
        smaller = min(self.treated, self.control) / (self.treated + self.control)
        if numbered < BURN_IN or (self.metric.kind is Kind.COUNT and users * rate * smaller < COUNTED_LEAST):
            return 0.0
        mean, deviation = self.basis.mean or 0.0, self.basis.deviation or 0.0
        block = Block(
            _moments(numbered * self.treated, mean + difference, deviation),
            _moments(numbered * self.control, mean, deviation),
            deviation,
        )
        return means.log_evidence(
            [means.Step([block], self.weight)],
            harm_is_more=self.harm_is_more,
            tolerates=self.guard.tolerates,
            tolerates_amount=self.guard.tolerates_amount,
        )


def _moments(users: float, mean: float, deviation: float) -> Moments:
    """The sums of as many users, as they are expected."""
    return Moments(users, users * mean, max(0.0, users - 1) * deviation**2 + users * mean**2)
