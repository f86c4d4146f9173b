"""Releases: changes of a flag in steps, each at its time, and guards that turn the flag off when it hurts users."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from flagstaff.audit.recorded_values import read_value
from flagstaff.flags.flags import Flag
from flagstaff.metrics.request_metrics import Measure

STEPS_MAX, GUARDS_MAX, THRESHOLDS_MAX = 20, 10, 10
THRESHOLD_MINUTES_MAX = 60
AHEAD_MAX = timedelta(days=366)
AFTER_SECONDS_MAX = 90 * 86_400
LEAST_USERS_MAX = 1_000_000
TOLERATES_MAX = 10.0
RULES_MAX = 20
WATCHED_FOR = timedelta(days=90)
"""For how long the last step of a release is watched: as long as events are kept."""
LATE_AFTER = timedelta(minutes=1)
"""The time after which a step is late."""
APPLIED_MAX = 200
"""The number of times that conflicts can pause a release and it can be resumed: each time it counts anew."""
_DIVIDING = frozenset({"rollout_percentage", "variants", "stickiness", "bucketing_key", "fallthrough"})
NAMED_RULES = "rules"
"""The name under which a step's changes have those of rules."""
FALSE_ALARM_RATE = 0.05


class State(StrEnum):
    """The state of a release."""

    SCHEDULED = "scheduled"
    """No step was applied."""
    RUNNING = "running"
    PAUSED = "paused"
    """A person, a guard or a conflict has paused it."""
    DONE = "done"
    STOPPED = "stopped"
    """A guard has turned the flag off."""
    CANCELLED = "cancelled"
    FAILED = "failed"
    """A step could not be applied."""


OPEN_STATES = (State.SCHEDULED, State.RUNNING, State.PAUSED)


class Action(StrEnum):
    """The action of a guard whose evidence reaches the threshold."""

    TURN_OFF = "turn_off"
    PAUSE = "pause"
    NOTIFY = "notify"


class WhenLate(StrEnum):
    """The treatment of a step whose time has passed, after an outage: it is applied late, or skipped."""

    RUN = "run"
    SKIP = "skip"


@dataclass(frozen=True, slots=True)
class Step:
    """A step: what it changes, in the form of the API, and when.

    Either `at` is given, or `after_seconds`, which count from the moment at which the step before was applied; for the
    first step, from the release's creation. With `least_users`, it also waits until the step before has exposed so many
    new users. `changes` are fields of the flag, and `rules`.
    """

    changes: Mapping[str, Any]
    at: datetime | None = None
    after_seconds: int | None = None
    least_users: int | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """A metric that is watched, and what happens when it is worse with the flag.

    `tolerates` is the share by which it may be worse: 0.1 tolerates a ratio of 1.1.
    """

    metric: str
    action: Action
    tolerates: float = 0.0


@dataclass(frozen=True, slots=True)
class Threshold:
    """A limit for a measure of a request metric over so many whole minutes, and what happens when it is passed.

    Only series with all of `labels` count. Either `above` or `below` is given. It compares nothing, and has no bound on
    false alarms.
    """

    request_metric: str
    measure: Measure
    action: Action
    minutes: int
    labels: tuple[tuple[str, str], ...] = ()
    above: float | None = None
    below: float | None = None

    @property
    def limit(self) -> float:
        """The value that must not be passed."""
        limit = self.below if self.above is None else self.above
        assert limit is not None
        return limit

    def is_passed_by(self, value: float) -> bool:
        """Return whether a value is beyond the limit."""
        return value < self.limit if self.above is None else value > self.limit


@dataclass(frozen=True, slots=True)
class Arms:
    """The groups that a step divides users into, the control first, and the share of each. The shares add up to 1.

    The arms of a rollout are `off` and `on`; of a flag that is on for everyone, its variants with a weight.
    """

    names: tuple[str, ...]
    shares: tuple[float, ...]
    by_variant: bool

    @property
    def treated_share(self) -> float:
        """The share of the users that are not in the control."""
        return 1 - self.shares[0]


@dataclass(frozen=True, slots=True)
class Applied:
    """A step that was applied. `skipped` are the steps before it whose times had passed as well.

    A skipped step itself has `is_skipped`, and has changed nothing.
    """

    step: int
    at: datetime
    due_at: datetime
    is_late: bool = False
    is_skipped: bool = False
    skipped: tuple[int, ...] = ()
    arms: Arms | None = None
    rollout_percentage: int = 0
    stickiness: str = "default"


@dataclass(frozen=True, slots=True)
class Alarm:
    """A guard or a threshold that has acted, or a split that is not as asked, which has no action. `words` say why.

    A guard has its `metric`, and a threshold its `request_metric`, whose value is the evidence, and its place among the
    release's thresholds.
    """

    metric: str | None
    action: Action | None
    at: datetime
    evidence: float
    threshold: float
    words: str
    request_metric: str | None = None
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan with which a release is created."""

    name: str | None
    steps: tuple[Step, ...]
    guards: tuple[Guard, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    false_alarm_rate: float = FALSE_ALARM_RATE
    when_late: WhenLate = WhenLate.RUN


@dataclass(frozen=True, slots=True)
class Release:
    """A release of one flag. `author_id` made it, and it acts for that account.

    `counts_from` is the moment from which the next step's `after_seconds` count, and `due_at` is when it is due; None
    if nothing is. `mark` is the number of the flag's last change that the release knows.
    """

    id: UUID
    project_id: UUID
    environment_id: UUID
    flag_id: UUID
    name: str | None
    steps: tuple[Step, ...]
    guards: tuple[Guard, ...]
    thresholds: tuple[Threshold, ...]
    false_alarm_rate: float
    when_late: WhenLate
    state: State
    reason: str | None
    author_id: UUID | None
    author_email: str | None
    applied: tuple[Applied, ...]
    alarms: tuple[Alarm, ...]
    counts_from: datetime
    due_at: datetime | None
    paused_at: datetime | None
    ended_at: datetime | None
    mark: int
    created_at: datetime
    updated_at: datetime

    @property
    def is_open(self) -> bool:
        """True if it has not ended."""
        return self.state in OPEN_STATES

    @property
    def next_step(self) -> int | None:
        """The place of the step that comes next; None after the last."""
        done = 1 + max((each.step for each in self.applied), default=-1)
        return done if done < len(self.steps) else None

    @property
    def running(self) -> Applied | None:
        """The step that is in force: the last one that was applied and not skipped."""
        return self.segments[-1] if self.segments else None

    @property
    def segments(self) -> list[Applied]:
        """The steps that were in force, oldest first; each is in force until the next."""
        return [each for each in self.applied if not each.is_skipped]

    @property
    def watched(self) -> list[str]:
        """The keys of the metrics that its guards watch, in their order."""
        return [guard.metric for guard in self.guards]

    @property
    def alarmed(self) -> frozenset[str | None]:
        """The metrics whose guards have acted; None if the split has been found wrong."""
        return frozenset(alarm.metric for alarm in self.alarms if alarm.request_metric is None)

    @property
    def waiting_thresholds(self) -> dict[int, Threshold]:
        """The thresholds that have not acted, by their places."""
        acted = {alarm.place for alarm in self.alarms}
        return {place: each for place, each in enumerate(self.thresholds) if place not in acted}

    @property
    def fields(self) -> frozenset[str]:
        """The fields of the flag that it changes, and `enabled`, which a guard changes.

        If users are counted for it, also those that decide how users are divided.
        """
        own = frozenset(name for step in self.steps for name in step.changes if name != NAMED_RULES) | {"enabled"}
        return own | _DIVIDING if self.is_observed else own

    @property
    def changes_rules(self) -> bool:
        """True if it changes rules."""
        return any(step.changes.get(NAMED_RULES) for step in self.steps)

    @property
    def is_observed(self) -> bool:
        """True if exposures and events are counted for it."""
        return bool(self.guards) or any(step.least_users for step in self.steps)

    @property
    def needs_watching(self) -> bool:
        """True if it has thresholds, or the step in force divides users, so that guards have something to compare."""
        running = self.running
        return bool(self.thresholds) or (bool(self.guards) and running is not None and running.arms is not None)

    def due_of(self, step: int) -> datetime:
        """Return the time at which a step that comes next is due, by its time alone."""
        wanted = self.steps[step]
        if wanted.at is not None:
            return wanted.at
        return self.counts_from + timedelta(seconds=wanted.after_seconds or 0)

    def with_due(self, now: datetime) -> "Release":
        """The same with the time at which it is to be looked at next, which is not before now.

        A step is late if nobody looks for a while after that.
        """
        if self.state not in (State.SCHEDULED, State.RUNNING):
            return replace(self, due_at=None)
        step = self.next_step
        if step is not None:
            return replace(self, due_at=max(self.due_of(step), now))
        running = self.running
        return replace(self, due_at=(running.at if running else now) + WATCHED_FOR)


@dataclass(frozen=True, slots=True)
class ReleaseRecord:
    """A release as the audit trail has it. Only its creation has the steps, guards and thresholds: they never change.

    `step` is the place of the last step that was applied or skipped.
    """

    id: UUID
    name: str | None
    state: State
    reason: str | None
    step: int | None
    is_late: bool
    steps: tuple[Step, ...] | None = None
    guards: tuple[Guard, ...] | None = None
    thresholds: tuple[Threshold, ...] | None = None


def record_of(release: Release, *, is_new: bool = False) -> ReleaseRecord:
    """A release as the audit trail has it."""
    last = release.applied[-1] if release.applied else None
    return ReleaseRecord(
        release.id,
        release.name,
        release.state,
        release.reason,
        last.step if last else None,
        last.is_late if last else False,
        release.steps if is_new else None,
        release.guards if is_new else None,
        release.thresholds if is_new else None,
    )


def alter(flag: Flag, changes: Mapping[str, Any]) -> Flag:
    """A flag with a step's changes, without those of rules."""
    return replace(flag, **read_changes(changes))


def read_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the flag that a step changes, as the domain has them."""
    return {name: read_value(name, value) for name, value in changes.items() if name != NAMED_RULES}


def read_rule(edit: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a rule that a step changes, as the domain has them."""
    return {name: read_value(name, value) for name, value in edit.items() if name not in ("id", "delete")}


def arms_of(flag: Flag) -> Arms | None:
    """The groups that a flag divides its users into; None if all get the same.

    A flag that is off divides nobody, and neither does one that is on for its rules only.
    """
    if not flag.enabled or flag.fallthrough != "rollout":
        return None
    if 0 < flag.rollout_percentage < 100:
        share = flag.rollout_percentage / 100
        return Arms(("off", "on"), (1 - share, share), by_variant=False)
    given = [variant for variant in flag.variants if variant.weight]
    if len(given) < 2:
        return None
    total = sum(variant.weight for variant in given)
    return Arms(
        tuple(variant.key for variant in given), tuple(variant.weight / total for variant in given), by_variant=True
    )


def plan(flag: Flag, steps: Sequence[Step]) -> Iterator[Flag]:
    """The flag as it will be after each step, unless somebody else changes it."""
    for step in steps:
        flag = alter(flag, step.changes)
        yield flag
