"""Plans of releases: changes of a flag in steps, each at its time, and guards that turn it off when it hurts users."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from flagstaff.audit.recorded_values import read_value
from flagstaff.flags.flags import Flag
from flagstaff.metrics.request_metrics import Measure
from flagstaff.projects.sdk_keys import KeyKind

STEPS_MAX, GUARDS_MAX, THRESHOLDS_MAX = 20, 10, 10
THRESHOLD_MINUTES_MAX = 60
AHEAD_MAX = timedelta(days=366)
AFTER_SECONDS_MAX = 90 * 86_400
LEAST_USERS_MAX = 1_000_000
TOLERATES_MAX = 10.0
RULES_MAX = 20
NAMED_RULES = "rules"
"""The name under which a step's changes have those of rules."""
FALSE_ALARM_RATE = 0.05


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
    users. `changes` are fields of the flag, and `rules`.
    """

    changes: Mapping[str, Any]
    at: datetime | None = None
    after_seconds: int | None = None
    least_users: int | None = None


@dataclass(frozen=True, slots=True)
class Guard:
    """A metric that is watched, and what happens when it is worse with the flag.

    `tolerates` is the share by which it may be worse: 0.1 tolerates a ratio of 1.1, and of a mean a tenth of the size
    of the control's. `tolerates_amount` is a difference of means, in the metric's unit.
    """

    metric: str
    action: Action
    tolerates: float = 0.0
    tolerates_amount: float = 0.0


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


class Counts(StrEnum):
    """The SDK keys whose evaluations and events count for a release: anybody can use the keys of pages."""

    ALL = "all"
    SERVER_KEYS = "server_keys"

    def has(self, kind: KeyKind | None) -> bool:
        """Return whether what was sent with a kind of key counts. A key that is not known may be a page's."""
        return self is Counts.ALL or kind is KeyKind.SERVER


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan with which a release is created."""

    name: str | None
    steps: tuple[Step, ...]
    guards: tuple[Guard, ...] = ()
    thresholds: tuple[Threshold, ...] = ()
    false_alarm_rate: float = FALSE_ALARM_RATE
    when_late: WhenLate = WhenLate.RUN
    split_action: Action = Action.PAUSE
    """What happens when users are not split as the steps ask."""
    counts: Counts = Counts.ALL


def alter(flag: Flag, changes: Mapping[str, Any]) -> Flag:
    """A flag with a step's changes, except changes of rules."""
    return replace(flag, **read_changes(changes))


def read_changes(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of the flag that a step changes, as the domain has them."""
    return {name: read_value(name, value) for name, value in changes.items() if name != NAMED_RULES}


def read_rule(edit: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a rule that a step changes, as the domain has them."""
    return {name: read_value(name, value) for name, value in edit.items() if name not in ("id", "delete")}


def plan(flag: Flag, steps: Sequence[Step]) -> Iterator[Flag]:
    """The flag as it will be after each step, unless somebody else changes it."""
    for step in steps:
        flag = alter(flag, step.changes)
        yield flag
