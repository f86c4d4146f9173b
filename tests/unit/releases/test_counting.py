"""Counting for a release: the order in which evaluations and events arrive does not change the sums."""

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest

from flagstaff.database.tables import microseconds
from flagstaff.evaluation.history.layout import Decision, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.metrics.metrics import Kind
from flagstaff.releases.buckets import ALL_BUCKETS, NO_BUCKETS, Cuts
from flagstaff.releases.counting import (
    TOLERANCE,
    CountedEvent,
    Counting,
    Seen,
    Timeline,
    add_number,
    group_first,
    hold_for_all,
    needs_limits,
    set_limits,
)
from flagstaff.releases.observations import (
    ASIDE,
    EXPOSED_MAX,
    OUTSIDE,
    POINTS_MAX,
    RULED,
    Cell,
    Done,
    MetricCounts,
    Observations,
    Point,
    Stretch,
)
from flagstaff.releases.releases import Applied, Arms
from flagstaff.releases.stretches import STRETCHES_MAX, add_stretches
from tests.support.builders import make_release

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
BEGAN = microseconds(START)
HOUR = 3_600_000_000
FLAG = UUID(int=7)
KINDS = (Kind.BINARY, Kind.COUNT, Kind.VALUE)


def step(number: int, percentage: int) -> Applied:
    at = START + timedelta(hours=number)
    arms = Arms(("off", "on"), (1 - percentage / 100, percentage / 100), by_variant=False)
    return Applied(number, at, at, arms=arms if percentage else None, rollout_percentage=percentage)


SEGMENTS = [step(0, 10), step(1, 50), step(2, 0)]


def counting(counted: Observations | None = None) -> Counting:
    counted = counted or Observations()
    counted.stretches = counted.stretches or [
        Stretch(place, microseconds(each.at)) for place, each in enumerate(SEGMENTS)
    ]
    counted.prepare(SEGMENTS, len(KINDS))
    return Counting(counted, FLAG, Timeline(SEGMENTS, counted.stretches), KINDS)


def decision(outcome: Outcome, percentage: int, variant: str | None = None) -> Decision:
    return Decision(LayoutFlag(FLAG, "new-checkout", percentage, Outcome.OFF), outcome, variant=variant)


@pytest.mark.parametrize(
    ("at", "outcome", "percentage", "found"),
    [
        (-1, Outcome.IN_ROLLOUT, 10, None),
        (0, Outcome.IN_ROLLOUT, 10, (0, 1)),
        (0, Outcome.NOT_IN_ROLLOUT, 10, (0, 0)),
        (HOUR - 1, Outcome.IN_ROLLOUT, 10, (0, 1)),
        (HOUR, Outcome.IN_ROLLOUT, 50, (1, 1)),
        (HOUR, Outcome.IN_ROLLOUT, 10, None),  # the earlier state, from an instance without the change
        (HOUR, Outcome.USER_ID_RULE, 50, (1, RULED)),
        (HOUR, Outcome.OFF, 50, None),
        (HOUR, Outcome.PREREQUISITE, 50, None),
        (2 * HOUR, Outcome.IN_ROLLOUT, 0, None),
    ],
)
def test_an_evaluation_is_of_the_step_that_was_in_force_and_of_the_arm_that_it_says(
    at: int, outcome: Outcome, percentage: int, found: tuple[int, int] | None
) -> None:
    assert counting().timeline.find_arm(BEGAN + at, decision(outcome, percentage)) == found


def test_of_a_flag_with_variants_the_variant_is_the_arm() -> None:
    arms = Arms(("blue", "green"), (0.5, 0.5), by_variant=True)
    timeline = Timeline([Applied(0, START, START, arms=arms)], [Stretch(0, BEGAN)])
    assert timeline.find_arm(BEGAN, decision(Outcome.ON, 0, "green")) == (0, 1)
    assert timeline.find_arm(BEGAN, decision(Outcome.ON, 0, "red")) is None
    assert timeline.find_arm(BEGAN, decision(Outcome.OFF, 0)) is None
    # The earlier state, from an instance without the change, or with another clock.
    assert timeline.find_arm(BEGAN, decision(Outcome.IN_ROLLOUT, 50, "green")) is None


def test_of_many_evaluations_of_a_user_the_first_of_each_step_and_arm_counts() -> None:
    seen = [("ada", Seen(0, 1, at)) for at in (5, 3, 9)] + [("ada", Seen(1, 1, 4)), ("grace", Seen(0, 0, 1))]
    assert group_first(seen) == {"ada": [Seen(0, 1, 3), Seen(1, 1, 4)], "grace": [Seen(0, 0, 1)]}


def test_a_user_is_new_once_and_exposed_once_in_each_step() -> None:
    work = counting()
    for seen in (Seen(0, 0, 1), Seen(0, 0, 2), Seen(1, 1, HOUR), Seen(0, 0, 3)):
        work.expose("ada", seen)
    assert work.counted.new[:2] == [[1, 0], [0, 0]]
    assert work.counted.exposed[:2] == [[1, 0], [0, 1]]
    assert work.counted.entered[:2] == [[1, 0], [0, 1]]
    work.expose("grace", Seen(0, 1, 1))
    work.expose("grace", Seen(1, 1, HOUR))
    assert work.counted.exposed[:2] == [[1, 1], [0, 2]]
    assert work.counted.entered[:2] == [[1, 1], [0, 1]]
    assert (work.counted.users, work.counted.aside) == (2, 0)


def test_a_user_who_is_seen_in_two_arms_of_a_step_is_set_aside_with_what_was_counted() -> None:
    work = counting()
    work.expose("ada", Seen(0, 0, BEGAN))
    assert work.add_event(CountedEvent(0, "ada", BEGAN + 1, None))
    assert work.add_event(CountedEvent(2, "ada", BEGAN + 1, 7.0))
    work.expose("ada", Seen(0, 1, BEGAN + 2))
    assert (work.counted.aside, work.counted.exposed[0], work.counted.new[0]) == (1, [0, 0], [0, 0])
    assert work.counted.metrics[0].cells[0][0] == Cell()
    assert work.counted.metrics[2].cells[0][0] == Cell()
    assert work.counted.metrics[2].sketch == {}
    assert work.exposures["ada"][0].arm == ASIDE
    work.expose("ada", Seen(1, 1, BEGAN + HOUR))
    assert not work.add_event(CountedEvent(0, "ada", BEGAN + HOUR + 1, None))


def test_a_user_who_matches_a_rule_is_left_out_until_it_no_longer_does() -> None:
    work = counting()
    work.expose("ada", Seen(0, RULED, BEGAN))
    assert (work.counted.ruled, work.counted.new[0]) == (1, [0, 0])
    assert not work.add_event(CountedEvent(0, "ada", BEGAN + 1, None))
    work.expose("ada", Seen(1, 1, BEGAN + HOUR))
    assert (work.counted.ruled, work.counted.new[1]) == (0, [0, 1])


def test_an_event_counts_in_its_step_and_at_most_a_minute_before_the_exposure() -> None:
    work = counting()
    exposed = BEGAN + TOLERANCE + 10
    work.expose("ada", Seen(0, 1, exposed))
    for at, counts in ((BEGAN + 9, False), (BEGAN + HOUR, False), (BEGAN + 10, True), (exposed, True)):
        assert work.add_event(CountedEvent(0, "ada", at, None)) is counts
    assert not work.add_event(CountedEvent(0, "grace", BEGAN + 20, None))
    assert work.counted.metrics[0].cells[0][1].users == 1
    assert work.counted.untimely == 2


def test_an_event_stamped_before_a_step_began_counts_for_the_exposure_that_follows() -> None:
    """The application's clock is behind, or the error was sent before the evaluation."""
    work = counting()
    work.expose("ada", Seen(1, 1, BEGAN + HOUR + 5))
    assert work.add_event(CountedEvent(0, "ada", BEGAN + HOUR - 5, None))
    assert work.counted.metrics[0].cells[1][1].users == 1
    work.expose("ada", Seen(0, 0, BEGAN))  # this one arrives late: the step before was in force
    work.add_earlier_event(CountedEvent(0, "ada", BEGAN + HOUR - 5, None))
    assert [[cell.users for cell in each] for each in work.counted.metrics[0].cells[:2]] == [[1, 0], [0, 0]]


def test_an_event_that_was_counted_before_a_stretch_is_known_stays_where_it_is() -> None:
    """The application's clock is ahead, and the next step, or another cut of the buckets, is not known yet."""
    release = make_release(applied=tuple(SEGMENTS[:2]))
    cuts = Cuts(frozenset(), by_variants=False, changed_at=START)
    counted = Observations()

    def work(applied: int) -> Counting:
        known = replace(release, applied=release.applied[:applied])
        add_stretches(counted, known, cuts)
        counted.prepare(known.segments, len(KINDS))
        return Counting(counted, FLAG, Timeline(known.segments, counted.stretches), KINDS)

    first = work(1)
    first.expose("ada", Seen(0, 0, BEGAN + HOUR - TOLERANCE))
    first.opened.clear()
    early = CountedEvent(2, "ada", BEGAN + HOUR + 2_000_000, 7.0)
    assert first.add_event(early)
    second = work(2)
    second.exposures, second.done = first.exposures, first.done
    second.expose("ada", Seen(1, 1, BEGAN + HOUR + 20_000_000))
    second.add_earlier_event(early)
    assert [[cell.events for cell in each] for each in counted.metrics[2].cells] == [[1, 0], [0, 0]]
    assert counted.untimely == 0
    assert second.add_event(CountedEvent(2, "ada", BEGAN + HOUR + 20_000_001, 7.0))
    assert [[cell.events for cell in each] for each in counted.metrics[2].cells] == [[1, 0], [0, 1]]


def test_a_user_whose_bucket_decides_whether_it_is_compared_is_left_out_and_counted() -> None:
    work = counting()
    work.timeline.stretches[0].low, work.timeline.stretches[0].high = 5, 30
    for bucket, found in ((4, OUTSIDE), (5, 1), (29, 0), (30, OUTSIDE)):
        outcome = Outcome.IN_ROLLOUT if bucket < 10 else Outcome.NOT_IN_ROLLOUT
        made = decision(outcome, 10)._replace(bucket=bucket)
        assert work.timeline.find_arm(BEGAN, made) == (0, found)
    work.expose("ada", Seen(0, OUTSIDE, BEGAN))
    assert (work.counted.outside, work.counted.new[0]) == (1, [0, 0])
    assert next(work.counted.compared(SEGMENTS)).arms.shares == pytest.approx((0.8, 0.2))


def test_the_first_event_of_a_user_counts_in_the_step_in_which_it_happened() -> None:
    work = counting()
    work.expose("ada", Seen(0, 0, BEGAN))
    work.expose("ada", Seen(1, 1, BEGAN + HOUR))
    assert work.add_event(CountedEvent(0, "ada", BEGAN + HOUR + 5, None))
    cells = work.counted.metrics[0].cells
    assert [[cell.users for cell in cells] for cells in cells[:2]] == [[0, 0], [0, 1]]
    assert work.add_event(
        CountedEvent(0, "ada", BEGAN + 5, None)
    )  # it arrives after the user was seen in the next step
    assert [[cell.users for cell in each] for each in cells[:2]] == [[1, 0], [0, 0]]
    assert [[cell.before for cell in each] for each in cells[:2]] == [[0, 0], [0, 1]]


def test_numbers_count_in_each_step_in_which_their_user_was_exposed() -> None:
    work = counting()
    work.expose("ada", Seen(0, 0, BEGAN))
    assert work.add_event(CountedEvent(2, "ada", BEGAN + 1, 4.0))
    assert work.add_event(CountedEvent(2, "ada", BEGAN + 2, 8.0))
    work.expose("ada", Seen(1, 1, BEGAN + HOUR))
    assert work.add_event(CountedEvent(2, "ada", BEGAN + HOUR + 1, 100.0))
    assert work.counted.metrics[2].cells[0][0] == Cell(1, 2, 6.0, 36.0)
    assert work.counted.metrics[2].cells[1][1] == Cell(1, 1, 100.0, 10_000.0)


def add_numbers(counts: MetricCounts, numbers: list[float]) -> list[Done]:
    done = [Done(1, number, len(counts.limits) - 1) for number in numbers]
    for place, each in enumerate(done):
        add_number(counts, counts.cells[0][place % 2], each, Kind.VALUE, 1)
    return done


def test_limits_are_found_among_the_first_users_and_count_them_again() -> None:
    counts = MetricCounts([[Cell(), Cell()]])
    done = add_numbers(counts, [1.0 + place % 5 for place in range(499)] + [1e9])
    assert not needs_limits(MetricCounts([[Cell()]]), 10_000, Kind.VALUE)
    assert not needs_limits(counts, 10_000, Kind.BINARY)
    assert needs_limits(counts, 0, Kind.VALUE)
    rows = [(0, place % 2, each) for place, each in enumerate(done)]
    after = [each for _, each in set_limits(counts, rows, 0, Kind.VALUE)]
    assert {each.limits for each in after} == {0}
    (limits,) = counts.limits
    assert 1.0 >= limits.low > 0.9
    assert 5.0 <= limits.high < 5.5
    blocks = [cell.blocks[0] for cell in counts.cells[0]]
    assert sum(each.users for each in blocks) == 500
    assert sum(each.total for each in blocks) == pytest.approx(sum(min(each.total, limits.high) for each in done))
    assert sum(cell.total for cell in counts.cells[0]) == sum(each.total for each in done)
    assert not needs_limits(counts, 0, Kind.VALUE)


def test_limits_are_found_anew_when_users_double_and_hold_for_later_users_only() -> None:
    counts = MetricCounts([[Cell(), Cell()]])
    assert [*set_limits(counts, [(0, 0, each) for each in add_numbers(counts, [1.0, 2.0] * 250)], 0, Kind.VALUE)]
    add_numbers(counts, [1.0, 2.0] * 249)
    assert not needs_limits(counts, 0, Kind.VALUE)
    add_numbers(counts, [9.0, 9.5])
    assert needs_limits(counts, 0, Kind.VALUE)
    before = [dict(cell.blocks) for cell in counts.cells[0]]
    assert not [*set_limits(counts, (), 0, Kind.VALUE)]
    assert len(counts.limits) == 2
    assert [dict(cell.blocks) for cell in counts.cells[0]] == before


def test_limits_are_found_anew_when_a_shift_would_not_be_seen() -> None:
    counts = MetricCounts([[Cell(), Cell()]])
    assert [*set_limits(counts, [(0, 0, each) for each in add_numbers(counts, [1.0, 2.0] * 5_000)], 0, Kind.VALUE)]
    add_numbers(counts, [30.0, 60.0] * 200)
    assert not needs_limits(counts, 0, Kind.VALUE)
    add_numbers(counts, [30.0, 60.0] * 50)
    assert needs_limits(counts, 0, Kind.VALUE)
    assert not [*set_limits(counts, (), 0, Kind.VALUE)]
    assert counts.limits[1].high > 60


def test_a_rare_number_is_bounded_by_what_was_seen_and_not_cut_to_nothing() -> None:
    counts = MetricCounts([[Cell(), Cell()]])
    done = add_numbers(counts, [0.0] * 500)
    assert not [*set_limits(counts, [(0, 0, each) for each in done], 0, Kind.VALUE)]
    assert counts.limits == []
    assert not needs_limits(counts, 0, Kind.VALUE)
    add_numbers(counts, [1.0, 0.0])
    assert needs_limits(counts, 0, Kind.VALUE)
    assert not [*set_limits(counts, (), 0, Kind.VALUE)]
    assert counts.limits[0].low == 0
    assert counts.limits[0].high >= 1
    assert counts.limits[0].deviation > 0


@pytest.mark.parametrize("is_of_zeros", [False, True])
def test_counts_that_were_all_alike_are_compared_when_they_differ_with_the_users_before(*, is_of_zeros: bool) -> None:
    counts = MetricCounts([[Cell(), Cell()]])
    done = [Done(1, 1.0) for _ in range(600)]
    for place, each in enumerate(done):
        add_number(counts, counts.cells[0][place % 2], each, Kind.COUNT, 1)
    assert needs_limits(counts, 600, Kind.COUNT)
    assert not [*set_limits(counts, [(0, 0, each) for each in done], 600, Kind.COUNT)]
    assert (counts.limits, counts.found_at) == ([], 600)
    more = [] if is_of_zeros else [Done(3, 3.0) for _ in range(19)]
    for each in more:
        add_number(counts, counts.cells[0][0], each, Kind.COUNT, 1)
    assert not needs_limits(counts, 619, Kind.COUNT)
    if not is_of_zeros:
        more.append(Done(3, 3.0))
        add_number(counts, counts.cells[0][0], more[-1], Kind.COUNT, 1)
    assert needs_limits(counts, 620, Kind.COUNT)
    assert hold_for_all(counts, Kind.COUNT)
    rows = [(0, place % 2, each) for place, each in enumerate(done)] + [(0, 0, each) for each in more]
    assert {each.limits for _, each in set_limits(counts, rows, 620, Kind.COUNT)} == {0}
    assert len(counts.limits) == 1
    assert [cell.blocks[0].users for cell in counts.cells[0]] == [300 + len(more), 300]
    assert not needs_limits(counts, 5_000, Kind.COUNT)
    assert not hold_for_all(counts, Kind.COUNT)


def test_beyond_the_bound_users_are_not_counted_but_told_of() -> None:
    work = counting(Observations(rows=EXPOSED_MAX))
    work.expose("ada", Seen(0, 1, BEGAN))
    assert (work.counted.users, work.counted.beyond, work.changed_exposures) == (0, 1, {})


def test_charts_keep_so_many_points_and_the_newest_and_thin_out() -> None:
    counted = Observations(every=5)
    for at in range(20_000):
        counted.add_point(Point(at, [0.0], [at]))
        assert counted.points[-1].at == at
    assert len(counted.points) <= POINTS_MAX + 1
    assert counted.points[0].at == 0
    assert min(after.at - before.at for before, after in pairwise(counted.points[:-1])) >= 5


def by_hand(seen: list[tuple[str, Seen]], events: list[CountedEvent]) -> list[list[tuple[int, int]]]:
    """Return the users with an event, and those with one before, by step and arm, computed from everything at once."""
    cells = [[[0, 0], [0, 0]] for _ in range(2)]
    arms: dict[str, dict[int, set[int]]] = {}
    first: dict[tuple[str, int], int] = {}
    for unit, each in seen:
        arms.setdefault(unit, {}).setdefault(each.step, set()).add(each.arm)
        first[unit, each.step] = min(each.at, first.get((unit, each.step), each.at))
    for unit, of_steps in arms.items():
        if any(len(each) > 1 for each in of_steps.values()):
            continue
        steps = set()
        for event in (each for each in events if each.unit == unit):
            possible = [step for step in sorted(of_steps) if step >= (event.at - BEGAN) // HOUR]
            if possible and event.at >= first[unit, possible[0]] - TOLERANCE:
                steps.add(possible[0])
        if not steps:
            continue
        for step, (arm,) in of_steps.items():
            if step == min(steps):
                cells[step][arm][0] += 1
            elif step > min(steps):
                cells[step][arm][1] += 1
    return [[(users, before) for users, before in each] for each in cells]


Arrivals = list[tuple[str, Seen] | CountedEvent]


def make_arrivals(generator: random.Random) -> tuple[list[tuple[str, Seen]], list[CountedEvent], Arrivals]:
    users = [f"u-{number}" for number in range(30)]
    seen = []
    for unit in users:
        for number in range(2):
            arm = generator.randrange(2)
            for _ in range(generator.randrange(3)):
                at = BEGAN + number * HOUR + generator.randrange(HOUR)
                seen.append((unit, Seen(number, arm if generator.random() < 0.95 else 1 - arm, at)))
    near = [each.at - TOLERANCE + generator.randrange(-5, 5) for _, each in seen]
    times = [BEGAN + generator.randrange(2 * HOUR) for _ in users] + near
    events = [CountedEvent(0, generator.choice(users), at, None) for at in times for _ in range(2)]
    arrivals: Arrivals = [*seen, *events]
    generator.shuffle(arrivals)
    return seen, events, arrivals


@pytest.mark.parametrize("seed", range(40))
def test_whatever_the_order_of_arrival_the_users_with_an_event_are_the_same(seed: int) -> None:
    seen, events, arrivals = make_arrivals(random.Random(seed))
    counted = Observations()
    exposures: dict[Any, Any] = {}
    done: dict[Any, Any] = {}
    stored: list[CountedEvent] = []
    for start in range(0, len(arrivals), 7):  # as the observer reads: pieces, and earlier events when a user is exposed
        work = counting(counted)
        work.exposures, work.done = exposures, done
        some = arrivals[start : start + 7]
        for unit, firsts in group_first([each for each in some if not isinstance(each, CountedEvent)]).items():
            for each in firsts:
                work.expose(unit, each)
        for event in stored:
            if event.unit in work.opened:
                work.add_earlier_event(event)
        for arrived in some:
            if isinstance(arrived, CountedEvent):
                work.add_event(arrived)
                stored.append(arrived)
    cells = [[(cell.users, cell.before) for cell in each] for each in counted.metrics[0].cells[:2]]
    assert cells == by_hand(seen, events)


def test_beyond_the_bound_of_stretches_nobody_is_compared_for_the_rest_of_the_step() -> None:
    release = make_release(applied=(SEGMENTS[0],))
    counted = Observations()
    calm = Cuts(frozenset(), by_variants=False, changed_at=START, last_change=1)
    add_stretches(counted, release, calm)
    for number in range(2 * STRETCHES_MAX):
        at = START + timedelta(minutes=number)
        add_stretches(counted, release, replace(calm, passed=(at, at), last_change=number + 2))
    assert len(counted.stretches) <= STRETCHES_MAX + 1
    assert (counted.stretches[0].buckets, counted.stretches[-1].buckets) == (ALL_BUCKETS, NO_BUCKETS)
    assert all(before.began < after.began for before, after in pairwise(counted.stretches))
