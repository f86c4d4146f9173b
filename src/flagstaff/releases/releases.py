"""Releases: plans that are carried out, with what they have applied, and the guards that have acted."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from flagstaff.flags.flags import Flag
from flagstaff.releases.plans import NAMED_RULES, Action, Counts, Guard, Step, Threshold, WhenLate

WATCHED_FOR = timedelta(days=90)
"""For how long the last step of a release is watched: as long as events are kept."""
LATE_AFTER = timedelta(minutes=1)
"""The time after which a step is late."""
APPLIED_MAX = 200
"""The number of times that steps and changes by hand can divide users in another way: each time it counts anew."""
_DIVIDING = frozenset({"rollout_percentage", "variants", "stickiness", "bucketing_key", "fallthrough"})


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

    A skipped step itself has `is_skipped`, and has changed nothing. `hashed_key` is the key that was hashed with the
    users; earlier versions have not stored it.
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
    hashed_key: str | None = None

    def divides_as(self, flag: Flag) -> bool:
        """Return whether a flag divides its users as this step did."""
        mine = (self.arms, self.rollout_percentage, self.stickiness, self.hashed_key)
        return mine == (arms_of(flag), flag.rollout_percentage, flag.stickiness, flag.hashed_key)


@dataclass(frozen=True, slots=True)
class Alarm:
    """A guard or a threshold that has acted, or a split that is not as asked, which has no metric. `words` say why.

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
class Release:
    """A release of one flag. It acts for the author, who made it, or has resumed it after another one lost the right.

    With `token_id`, the author has used that access token. It is paused and `lost_authority` if the author or the token
    may not change the flag any more.

    `counts_from` is the moment from which the next step's `after_seconds` count, and `due_at` is when it is due; None
    if nothing is. `mark` is the number of the flag's last change that the release knows. People
    were told that it cannot be watched since `unwatched_since`; None if it can, or if they were not told.
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
    token_id: UUID | None
    token_name: str | None
    lost_authority: bool
    applied: tuple[Applied, ...]
    alarms: tuple[Alarm, ...]
    counts_from: datetime
    due_at: datetime | None
    paused_at: datetime | None
    ended_at: datetime | None
    mark: int
    created_at: datetime
    updated_at: datetime
    split_action: Action = Action.PAUSE
    unwatched_since: datetime | None = None
    counts: Counts = Counts.ALL

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
    def remaining(self) -> "Release":
        """The release with the steps that have not begun, which it makes when it is resumed."""
        begun = self.running.step + 1 if self.running else 0
        return replace(self, steps=self.steps[begun:])

    @property
    def needs_flag_on(self) -> bool:
        """True if it has had the flag on, and its next step changes it without turning it on.

        While the flag is off, steps would go on to the last one although nobody gets the flag, and nothing is watched.
        """
        running, step = self.running, self.next_step
        if running is None or step is None or self.steps[step].changes.get("enabled") is True:
            return False
        begun = self.steps[: running.step + 1]
        had_arms = any(each.arms is not None for each in self.applied)
        return had_arms or any(each.changes.get("enabled") is True for each in begun)

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
    lost_authority: bool = False
    unwatched_since: datetime | None = None
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
        release.lost_authority,
        release.unwatched_since,
        release.steps if is_new else None,
        release.guards if is_new else None,
        release.thresholds if is_new else None,
    )


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


def with_present(release: Release, flag: Flag, clock: datetime) -> tuple[Applied, ...]:
    """The steps of a release: if its flag divides users in another way than the last one, it does so from now on.

    So guards go on watching when somebody has changed the flag by hand. Beyond `APPLIED_MAX`, they stop.
    """
    running = release.running
    if running is None:
        return release.applied
    if running.divides_as(flag) or len(release.applied) > APPLIED_MAX:
        return release.applied
    is_last = len(release.applied) == APPLIED_MAX  # nothing is counted from then on
    present = Applied(
        step=running.step,
        at=clock,
        due_at=clock,
        arms=None if is_last else arms_of(flag),
        rollout_percentage=flag.rollout_percentage,
        stickiness=flag.stickiness,
        hashed_key=flag.hashed_key,
    )
    return (*release.applied, present)
