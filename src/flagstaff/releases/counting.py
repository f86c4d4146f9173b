"""Counts evaluations and events for a release: who was exposed to which arm, and who had events then. Pure.

A user is exposed in a stretch at the first evaluation after it began whose result came from the rollout, or from the
weights of variants, and not from a rule. An event counts for the stretch that was in force when it happened, if its
user was exposed there, at most `TOLERANCE` later. The order in which evaluations and events arrive does not matter:
what a user adds to the sums follows from its exposures and events alone, and is taken back and added anew when these
change.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.outcomes import RULE_OUTCOMES, Outcome
from flagstaff.metrics.metrics import Kind
from flagstaff.releases.observations import (
    ASIDE,
    EXPOSED_MAX,
    LIMITS_MAX,
    OUTSIDE,
    RULED,
    Cell,
    Done,
    Exposure,
    MetricCounts,
    Observations,
    Stretch,
    Sums,
)
from flagstaff.releases.plans import Counts
from flagstaff.releases.releases import Applied
from flagstaff.releases.statistics.limits import find_limits, place_of
from flagstaff.releases.statistics.means import BURN_IN

TOLERANCE = 60_000_000
"""By how many microseconds an event may be stamped earlier than its user's exposure, because clocks differ."""
_BY_RULE = frozenset(RULE_OUTCOMES.values())
_BY_ROLLOUT = {Outcome.NOT_IN_ROLLOUT: "off", Outcome.IN_ROLLOUT: "on"}
_BY_WEIGHT = (Outcome.ON, Outcome.IN_ROLLOUT)
_EVENTS_LEAST = 20  # users with events that limits need
_CUT_MOST = 0.05  # the share of users who are cut off above which limits no longer fit

DoneKey = tuple[int, str]


@dataclass(frozen=True, slots=True)
class Timeline:
    """The stretches of a release, in the order in which they began, and its steps that were in force."""

    segments: Sequence[Applied]
    stretches: Sequence[Stretch]
    began: Sequence[int] = field(init=False)
    events_from: Sequence[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "began", [each.began for each in self.stretches])
        object.__setattr__(self, "events_from", [max(each.began, each.events_from) for each in self.stretches])

    def find(self, at: int) -> int:
        """The place of the stretch that was in force at a time; -1 before the first."""
        return bisect_right(self.began, at) - 1

    def find_of_event(self, at: int) -> int:
        """The place of the stretch for which an event at a time counts; -1 before the first."""
        return bisect_right(self.events_from, at) - 1

    def applied(self, place: int) -> Applied:
        """The step of a stretch."""
        return self.segments[self.stretches[place].segment]

    def find_arm(self, at: int, decision: Decision) -> tuple[int, int] | None:
        """The stretch in force and the arm of an evaluation; None if it says nothing about the step.

        An instance may have answered with the state before for a moment: the percentage that was recorded tells.
        """
        place = self.find(at)
        arms = self.applied(place).arms if place >= 0 else None
        if arms is None:
            return None
        if decision.outcome in _BY_RULE:
            return place, RULED
        if decision.outcome not in _BY_WEIGHT and decision.outcome not in _BY_ROLLOUT:
            return None
        if decision.flag.rollout_percentage != self.applied(place).rollout_percentage:
            return None
        if arms.by_variant:
            is_known = decision.outcome in _BY_WEIGHT and decision.variant in arms.names
            return (place, arms.names.index(decision.variant or "")) if is_known else None
        name = _BY_ROLLOUT.get(decision.outcome)
        if name is None:
            return None
        if decision.bucket is not None and decision.bucket not in self.stretches[place].buckets:
            return place, OUTSIDE
        return place, arms.names.index(name)


@dataclass(slots=True)
class Seen:
    """The first evaluation of a user in a stretch: the stretch, the arm and the time in microseconds."""

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
    """One piece of counting: sums, and the rows of users that it has read and changes, by user and by stretch.

    `exposures` and `done` must have the rows of all users that are added, as far as there are any.
    """

    counted: Observations
    flag_id: UUID
    timeline: Timeline
    kinds: Sequence[Kind]
    counts: Counts = Counts.ALL
    exposures: dict[str, dict[int, Exposure]] = field(default_factory=dict)
    done: dict[DoneKey, dict[int, Done]] = field(default_factory=dict)
    changed_exposures: dict[tuple[str, int], Exposure] = field(default_factory=dict)
    changed_done: dict[tuple[int, str, int], Done] = field(default_factory=dict)
    opened: dict[str, tuple[int, dict[int, Exposure]]] = field(default_factory=dict)
    """The users whose earlier events are to be looked for: from which time on, and their exposures before."""

    def changes(self, unit: str, seen: Seen) -> bool:
        """Return whether an evaluation of a user changes anything."""
        return is_news(self.exposures.get(unit, {}), seen)

    def expose(self, unit: str, seen: Seen) -> None:
        """Add an evaluation of a user."""
        if not self.changes(unit, seen):
            return
        counted, rows = self.counted, self.exposures.get(unit, {})
        present = rows.get(seen.step)
        if present is None and counted.rows >= EXPOSED_MAX:
            counted.beyond += 1
            return
        before = dict(rows)
        with self._counted_anew(unit):
            counted.rows += present is None
            counted.users += not rows
            merged = Exposure(seen.arm, seen.at) if present is None else _merge(present, seen)
            self.exposures.setdefault(unit, {})[seen.step] = merged
            self.changed_exposures[unit, seen.step] = merged
        if merged.arm >= 0:
            since, first = self.opened.get(unit, (merged.at, before))
            self.opened[unit] = min(since, merged.at), first

    def add_event(self, event: CountedEvent) -> bool:
        """Add an event that was not seen before; return whether it counted."""
        rows = self.exposures.get(event.unit, {})
        place = self._place_of(event.at, rows)
        if rows:
            self.counted.latest_event = max(self.counted.latest_event, event.at)
        if place is None:
            self.counted.untimely += _is_compared(rows)
            return False
        self._move(event, None, place)
        return True

    def add_earlier_event(self, event: CountedEvent) -> None:
        """Add an event that was seen before its user was exposed, or before an exposure that it belongs to."""
        _, before = self.opened[event.unit]
        rows = self.exposures[event.unit]
        old, new = self._place_of(event.at, before), self._place_of(event.at, rows)
        self.counted.latest_event = max(self.counted.latest_event, event.at)
        if old == new:
            return
        if old is None and _is_compared(before):
            self.counted.untimely -= 1
        self._move(event, old, new)

    def _place_of(self, at: int, rows: Mapping[int, Exposure]) -> int | None:
        """The stretch in which an event at a time counts, of a user with these exposures."""
        if not rows or any(each.arm == ASIDE for each in rows.values()):
            return None
        place = self.timeline.find_of_event(at)
        for each in sorted(rows):
            exposure = rows[each]
            if each >= place and exposure.arm >= 0:
                return each if at >= exposure.at - TOLERANCE else None
        return None

    def _move(self, event: CountedEvent, old: int | None, new: int | None) -> None:
        key = event.metric, event.unit
        value = 0.0 if self.kinds[event.metric] is Kind.BINARY else 1.0 if event.value is None else event.value
        with self._counted_anew(event.unit):
            for place, sign in ((old, -1), (new, 1)):
                if place is not None:
                    rows = self.done.setdefault(key, {})
                    present = rows.get(place, Done(0, 0.0))
                    limits = present.limits
                    if limits < 0:
                        limits = len(self.counted.metrics[event.metric].limits) - 1
                    done = Done(present.events + sign, present.total + sign * value, limits)
                    rows[place] = self.changed_done[event.metric, event.unit, place] = done

    @contextmanager
    def _counted_anew(self, unit: str) -> Iterator[None]:
        """Take back what a user has added to the sums, and add it again with what has changed."""
        self._count(unit, -1)
        yield
        self._count(unit, 1)

    def _count(self, unit: str, sign: int) -> None:
        counted, rows = self.counted, self.exposures.get(unit)
        if not rows:
            return
        if any(each.arm == ASIDE for each in rows.values()):
            counted.aside += sign
            return
        armed = [(place, rows[place].arm) for place in sorted(rows) if rows[place].arm >= 0]
        if not armed:
            if any(each.arm == RULED for each in rows.values()):
                counted.ruled += sign
            else:
                counted.outside += sign
            return
        self._count_exposed(armed, sign)
        for metric, kind in enumerate(self.kinds):
            done = self.done.get((metric, unit))
            if done:
                self._count_done(metric, kind, armed, done, sign)

    def _count_exposed(self, armed: Sequence[tuple[int, int]], sign: int) -> None:
        counted, steps, names = self.counted, set[int](), set[str]()
        for place, arm in armed:
            applied = self.timeline.applied(place)
            name = applied.arms.names[arm] if applied.arms else ""
            counted.exposed[place][arm] += sign
            if not steps:
                counted.new[place][arm] += sign
            if applied.step not in steps:
                counted.of_step[place][arm] += sign
            if name not in names:
                counted.entered[place][arm] += sign
            steps.add(applied.step)
            names.add(name)

    def _count_done(
        self, metric: int, kind: Kind, armed: Sequence[tuple[int, int]], done: Mapping[int, Done], sign: int
    ) -> None:
        counts, had_event = self.counted.metrics[metric], False
        for place, arm in armed:
            cell, each = counts.cells[place][arm], done.get(place)
            if kind is Kind.BINARY and had_event:
                cell.before += sign
            if each is None or not each.events:
                continue
            if kind is not Kind.BINARY:
                add_number(counts, cell, each, kind, sign)
            elif not had_event:  # only the first event of a user counts
                cell.users += sign
                cell.events += sign
            had_event = True


def is_news(exposures: Mapping[int, Exposure], seen: Seen) -> bool:
    """Return whether an evaluation changes anything for a user with these exposures, by stretch."""
    present = exposures.get(seen.step)
    if present is None:
        return True
    return present.arm != ASIDE and _merge(present, seen) != present


def _merge(present: Exposure, seen: Seen) -> Exposure:
    """The exposure of a user in a stretch after another evaluation there."""
    if present.arm >= 0 and seen.arm >= 0 and seen.arm != present.arm:
        return Exposure(ASIDE, present.at)
    if (seen.arm >= 0) is (present.arm >= 0):
        # Of two reasons to leave a user out, the rule is told.
        return Exposure(max(seen.arm, present.arm), min(seen.at, present.at))
    return Exposure(seen.arm, seen.at) if seen.arm >= 0 else present


def _is_compared(rows: Mapping[int, Exposure]) -> bool:
    return any(each.arm >= 0 for each in rows.values()) and all(each.arm != ASIDE for each in rows.values())


def number_of(done: Done, kind: Kind) -> float:
    """A user's number: the mean of its values, or its count."""
    return done.total / done.events if kind is Kind.VALUE else done.total


def add_number(counts: MetricCounts, cell: Cell, done: Done, kind: Kind, sign: int) -> None:
    """Add a user's number to the sums of an arm, or take it back."""
    number = number_of(done, kind)
    cell.users += sign
    cell.events += sign * done.events
    cell.total += sign * number
    cell.squares += sign * number * number
    place = place_of(number)
    counts.sketch[place] = counts.sketch.get(place, 0) + sign
    if not counts.sketch[place]:
        del counts.sketch[place]
    if 0 <= done.limits < len(counts.limits):
        kept = counts.limits[done.limits].cut(number)
        if done.limits == len(counts.limits) - 1 and kept != number:
            counts.cut += sign
        sums = cell.blocks.setdefault(done.limits if kind is Kind.VALUE else 0, Sums())
        sums.users += sign
        sums.total += sign * kept
        sums.squares += sign * kept * kept


def needs_limits(counts: MetricCounts, exposed: int, kind: Kind) -> bool:
    """Return whether limits are to be found for the users from now on.

    They are at 500 users, 1,000, 2,000 and so on; before, if all users were alike and now differ, or if so many are cut
    off that a shift would not be seen.
    """
    if kind is Kind.BINARY or len(counts.limits) >= LIMITS_MAX:
        return False
    with_events = sum(counts.sketch.values())
    users = with_events if kind is Kind.VALUE else exposed
    if not counts.found_at:
        return users >= BURN_IN and with_events >= _EVENTS_LEAST
    if not counts.limits:
        if kind is Kind.VALUE:
            return len(counts.sketch) > 1
        most = max(counts.sketch.values(), default=0)
        return min(with_events, users - max(most, _zeros(counts, exposed, kind))) >= _EVENTS_LEAST
    if kind is Kind.COUNT:
        return False
    since = users - counts.found_at
    return users >= 2 * counts.found_at or (since >= BURN_IN and counts.cut > _CUT_MOST * since)


def hold_for_all(counts: MetricCounts, kind: Kind) -> bool:
    """Return whether the limits that are found next also hold for the users so far.

    They do if they are the first; of values, only if nobody has looked for any before. Of counts there is one block, in
    which users without a number are zeros.
    """
    return not (counts.limits if kind is Kind.COUNT else counts.found_at)


def _zeros(counts: MetricCounts, exposed: int, kind: Kind) -> int:
    """The users without an event, who count as 0 if events are counted."""
    return max(0, exposed - sum(counts.sketch.values())) if kind is Kind.COUNT else 0


def set_limits(
    counts: MetricCounts, rows: Iterable[tuple[int, int, Done]], exposed: int, kind: Kind
) -> Iterator[tuple[int, Done]]:
    """Find the limits of the users from now on; the first ones also hold for the users so far, given as rows.

    Yields the places of these rows and how they are then.
    """
    is_first = hold_for_all(counts, kind)
    counts.found_at = sum(counts.sketch.values()) if kind is Kind.VALUE else exposed
    limits = find_limits(counts.sketch, _zeros(counts, exposed, kind), grow=kind is Kind.COUNT)
    if limits is None:
        return
    counts.limits.append(limits)
    counts.cut = 0
    if not is_first:
        return
    for place, (stretch, arm, done) in enumerate(rows):
        after = Done(done.events, done.total, 0)
        cell = counts.cells[stretch][arm]
        add_number(counts, cell, done, kind, -1)
        add_number(counts, cell, after, kind, 1)
        yield place, after


def group_first(seen: Iterable[tuple[str, Seen]]) -> dict[str, list[Seen]]:
    """The first evaluation of each user with each arm of each stretch, oldest first: the others add nothing."""
    found: dict[str, dict[tuple[int, int], Seen]] = {}
    for unit, each in seen:
        of_unit = found.setdefault(unit, {})
        known = of_unit.get((each.step, each.arm))
        if known is None or each.at < known.at:
            of_unit[each.step, each.arm] = each
    return {unit: sorted(each.values(), key=_time) for unit, each in found.items()}


_time: Callable[[Seen], int] = lambda seen: seen.at  # noqa: E731 -- a key, used once


def make_events(
    rows: Iterable[tuple[str, str, int, float | None, object, object]], places: Mapping[str, int]
) -> list[CountedEvent]:
    """Stored events, whose metrics have a place each."""
    return [CountedEvent(places[metric], unit, at, value) for metric, unit, at, value, *_ in rows]
