"""Counts evaluations and events for a release: who was exposed to which arm, and who had events then. Pure.

A user is exposed in a step at the first evaluation after it began whose result came from the rollout, or from the
weights of variants, and not from a rule. An event counts if it happened after that and before the next step. The order
in which evaluations and events arrive does not matter.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.metrics.metrics import Kind
from flagstaff.releases.observations import (
    ASIDE,
    EXPOSED_MAX,
    RULED,
    Cell,
    Done,
    Exposure,
    MetricCounts,
    Observations,
)
from flagstaff.releases.releases import Applied
from flagstaff.releases.statistics.means import BURN_IN, Scale, find_scale

_BY_RULE = frozenset(RULE_OUTCOMES.values())
_BY_ROLLOUT = {Outcome.NOT_IN_ROLLOUT: "off", Outcome.IN_ROLLOUT: "on"}
_BY_WEIGHT = (Outcome.ON, Outcome.IN_ROLLOUT)
_EVENTS_LEAST = 20  # users with events that a scale needs


@dataclass(frozen=True, slots=True)
class Timeline:
    """The steps of a release that were in force, with the times at which they began, in microseconds, in order."""

    segments: Sequence[Applied]
    began: Sequence[int]

    def find(self, at: int) -> int:
        """The place of the step that was in force at a time; -1 before the first."""
        return bisect_right(self.began, at) - 1

    def find_arm(self, at: int, decision: Decision) -> tuple[int, int] | None:
        """The step in force and the arm of an evaluation; None if it says nothing about the step.

        An instance may have answered with the state before for a moment: the percentage that was recorded tells.
        """
        place = self.find(at)
        applied = self.segments[place] if place >= 0 else None
        if applied is None or applied.arms is None:
            return None
        if decision.outcome in _BY_RULE:
            return place, RULED
        if applied.arms.by_variant:
            is_known = decision.outcome in _BY_WEIGHT and decision.variant in applied.arms.names
            return (place, applied.arms.names.index(decision.variant or "")) if is_known else None
        name = _BY_ROLLOUT.get(decision.outcome)
        if name is None or decision.flag.rollout_percentage != applied.rollout_percentage:
            return None
        return place, applied.arms.names.index(name)


@dataclass(slots=True)
class Seen:
    """The first evaluation of a user in a step: the step, the arm and the time in microseconds."""

    step: int
    arm: int
    at: int


@dataclass(frozen=True, slots=True)
class CountedEvent:
    """An event of a metric, by its place among the release's."""

    metric: int
    unit: str
    at: int
    value: float | None


@dataclass(slots=True)
class Counting:
    """One piece of counting: sums, and the rows of users that it has read and changes.

    `exposures` and `done` must have the rows of all users that are added, as far as there are any.
    """

    counted: Observations
    flag_id: UUID
    timeline: Timeline
    kinds: Sequence[Kind]
    exposures: dict[str, Exposure] = field(default_factory=dict)
    done: dict[tuple[int, str], Done] = field(default_factory=dict)
    changed_exposures: dict[str, Exposure] = field(default_factory=dict)
    changed_done: dict[tuple[int, str], Done] = field(default_factory=dict)
    opened: dict[str, int | None] = field(default_factory=dict)
    """The users whose events from before are to be looked for, and the time before which they are; None for any."""
    aside: list[str] = field(default_factory=list)

    def expose(self, unit: str, seen: Seen) -> None:
        """Add an evaluation of a user."""
        present, counted = self.exposures.get(unit), self.counted
        if present is None:
            if counted.users >= EXPOSED_MAX:
                counted.beyond += 1
                return
            counted.users += 1
            self._put(unit, Exposure(seen.step, seen.step, seen.arm, seen.at))
            self._count(seen, None, is_new=True)
            self.opened[unit] = None
        elif present.arm == ASIDE or seen.step < present.step:
            return
        elif seen.step > present.step:
            was_left_out = present.arm == RULED
            if was_left_out:
                counted.ruled -= 1
            first = seen.step if was_left_out else present.first_step
            self._put(unit, Exposure(first, seen.step, seen.arm, seen.at))
            self._count(seen, present, is_new=was_left_out)
            self.opened[unit] = None
        elif seen.arm == present.arm:
            if seen.at < present.at:
                self.opened.setdefault(unit, present.at)
                self._put(unit, Exposure(present.first_step, present.step, present.arm, seen.at))
        elif RULED not in (seen.arm, present.arm):
            self._set_aside(unit, present)

    def add_event(self, event: CountedEvent) -> bool:
        """Add an event, if its user was exposed before it in the same step; return whether it counted."""
        exposure = self.exposures.get(event.unit)
        if exposure is None or exposure.arm < 0 or event.at < exposure.at:
            return False
        if self.timeline.find(event.at) != exposure.step:
            return False
        key = event.metric, event.unit
        done, kind = self.done.get(key), self.kinds[event.metric]
        if kind is Kind.BINARY:
            if done is not None:
                return False
            self._do(key, Done(exposure.step, exposure.arm, 1, 0.0))
            cell = self._cell(event.metric, exposure.step, exposure.arm)
            cell.users += 1
            cell.events += 1
            return True
        if exposure.step != exposure.first_step:
            return False  # a user counts once, in its first step, so that steps are independent
        value = 1.0 if event.value is None else event.value
        before = done or Done(exposure.step, exposure.arm, 0, 0.0)
        after = Done(before.step, before.arm, before.events + 1, before.total + value)
        self._do(key, after)
        cell, scale = self._cell(event.metric, after.step, after.arm), self.counted.metrics[event.metric].scale
        if before.events:
            _add(cell, number_of(before, kind), scale, -1)
        else:
            cell.users += 1
        _add(cell, number_of(after, kind), scale, 1)
        cell.events += 1
        return True

    def set_aside_events(self) -> None:
        """Take back the events of users who were set aside; `done` must have them."""
        for unit in self.aside:
            for metric, kind in enumerate(self.kinds):
                done = self.done.get((metric, unit))
                if done is None or not done.events:
                    continue
                cell, scale = self._cell(metric, done.step, done.arm), self.counted.metrics[metric].scale
                cell.users -= 1
                cell.events -= done.events
                if kind is not Kind.BINARY:
                    _add(cell, number_of(done, kind), scale, -1)
                self._do((metric, unit), Done(done.step, done.arm, 0, 0.0))
        self.aside.clear()

    def _set_aside(self, unit: str, present: Exposure) -> None:
        counted = self.counted
        counted.exposed[present.step][present.arm] -= 1
        if present.first_step == present.step:
            counted.new[present.step][present.arm] -= 1
            counted.entered[present.step][present.arm] -= 1
        counted.aside += 1
        self._put(unit, Exposure(present.first_step, present.step, ASIDE, present.at))
        self.opened.pop(unit, None)
        self.aside.append(unit)

    def _count(self, seen: Seen, before: Exposure | None, *, is_new: bool) -> None:
        if seen.arm == RULED:
            self.counted.ruled += 1
            return
        self.counted.exposed[seen.step][seen.arm] += 1
        name = self._name(seen.step, seen.arm)
        if before is None or before.arm == RULED or self._name(before.step, before.arm) != name:
            self.counted.entered[seen.step][seen.arm] += 1
        if is_new:
            self.counted.new[seen.step][seen.arm] += 1

    def _put(self, unit: str, exposure: Exposure) -> None:
        self.exposures[unit] = self.changed_exposures[unit] = exposure

    def _do(self, key: tuple[int, str], done: Done) -> None:
        self.done[key] = self.changed_done[key] = done

    def _name(self, step: int, arm: int) -> str:
        arms = self.timeline.segments[step].arms
        return arms.names[arm] if arms else ""

    def _cell(self, metric: int, step: int, arm: int) -> Cell:
        return self.counted.metrics[metric].cells[step][arm]


def number_of(done: Done, kind: Kind) -> float:
    """A user's number: the mean of its values, or its count."""
    return done.total / done.events if kind is Kind.VALUE else done.total


def needs_scale(counts: MetricCounts, new_users: int, kind: Kind) -> bool:
    """Return whether there are enough users to find the scale of a metric, which was not found yet."""
    if kind is Kind.BINARY or counts.scale is not None:
        return False
    with_events = sum(cell.users for step in counts.cells for cell in step)
    users = with_events if kind is Kind.VALUE else new_users
    return users >= BURN_IN and with_events >= _EVENTS_LEAST


def set_scale(counts: MetricCounts, done: Iterable[Done], new_users: int, kind: Kind) -> None:
    """Find the scale of a metric among the first users, and count them again with it."""
    found = [each for each in done if each.events]
    numbers = [number_of(each, kind) for each in found]
    # Users without an event count as 0 if events are counted.
    counts.scale = find_scale(
        numbers, zeros=max(0, new_users - len(numbers)) if kind is Kind.COUNT else 0, grow=kind is Kind.COUNT
    )
    for step in counts.cells:
        for cell in step:
            cell.total = cell.squares = 0.0
    for each, number in zip(found, numbers, strict=True):
        _add(counts.cells[each.step][each.arm], number, counts.scale, 1)


def _add(cell: Cell, number: float, scale: Scale | None, sign: int) -> None:
    kept = number if scale is None else scale.cut(number)
    cell.total += sign * kept
    cell.squares += sign * kept * kept


def group_first(seen: Iterable[tuple[str, Seen]]) -> dict[str, list[Seen]]:
    """The first evaluation of each user with each arm of each step, oldest first: the others add nothing."""
    found: dict[str, dict[tuple[int, int], Seen]] = {}
    for unit, each in seen:
        of_unit = found.setdefault(unit, {})
        known = of_unit.get((each.step, each.arm))
        if known is None or each.at < known.at:
            of_unit[each.step, each.arm] = each
    return {unit: sorted(each.values(), key=_time) for unit, each in found.items()}


_time: Callable[[Seen], int] = lambda seen: seen.at  # noqa: E731 -- a key, used once


def make_events(rows: Iterable[tuple[str, str, int, float | None]], places: Mapping[str, int]) -> list[CountedEvent]:
    """Stored events, whose metrics have a place each."""
    return [CountedEvent(places[metric], unit, at, value) for metric, unit, at, value in rows]
