"""Counting for a release: the order in which evaluations and events arrive does not change the sums."""

import random
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from flagstaff.database.tables import microseconds
from flagstaff.evaluation.history.layout import Decision, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.metrics.metrics import Kind
from flagstaff.releases.counting import (
    CountedEvent,
    Counting,
    Seen,
    Timeline,
    group_first,
    needs_scale,
    number_of,
    set_scale,
)
from flagstaff.releases.observations import (
    ASIDE,
    EXPOSED_MAX,
    POINTS_MAX,
    RULED,
    Cell,
    Done,
    MetricCounts,
    Observations,
    Point,
)
from flagstaff.releases.releases import Applied, Arms

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
    counted.prepare([each.arms for each in SEGMENTS], len(KINDS))
    return Counting(counted, FLAG, Timeline(SEGMENTS, [microseconds(each.at) for each in SEGMENTS]), KINDS)


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
    timeline = Timeline([Applied(0, START, START, arms=arms)], [BEGAN])
    assert timeline.find_arm(BEGAN, decision(Outcome.ON, 0, "green")) == (0, 1)
    assert timeline.find_arm(BEGAN, decision(Outcome.ON, 0, "red")) is None
    assert timeline.find_arm(BEGAN, decision(Outcome.OFF, 0)) is None


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
    work.set_aside_events()
    assert (work.counted.aside, work.counted.exposed[0], work.counted.new[0]) == (1, [0, 0], [0, 0])
    assert work.counted.metrics[0].cells[0][0] == Cell()
    assert work.counted.metrics[2].cells[0][0] == Cell()
    assert work.exposures["ada"].arm == ASIDE
    work.expose("ada", Seen(1, 1, BEGAN + HOUR))
    assert not work.add_event(CountedEvent(0, "ada", BEGAN + HOUR + 1, None))


def test_a_user_who_matches_a_rule_is_left_out_until_it_no_longer_does() -> None:
    work = counting()
    work.expose("ada", Seen(0, RULED, BEGAN))
    assert (work.counted.ruled, work.counted.new[0]) == (1, [0, 0])
    assert not work.add_event(CountedEvent(0, "ada", BEGAN + 1, None))
    work.expose("ada", Seen(1, 1, BEGAN + HOUR))
    assert (work.counted.ruled, work.counted.new[1]) == (0, [0, 1])


def test_an_event_counts_after_its_exposure_and_in_its_step_only() -> None:
    work = counting()
    work.expose("ada", Seen(0, 1, BEGAN + 10))
    for at, counts in ((9, False), (HOUR, False), (10, True), (11, False)):
        assert work.add_event(CountedEvent(0, "ada", BEGAN + at, None)) is counts
    assert not work.add_event(CountedEvent(0, "grace", BEGAN + 20, None))
    assert work.counted.metrics[0].cells[0][1].users == 1


def test_the_first_event_of_a_user_counts_in_the_step_in_which_it_happened() -> None:
    work = counting()
    work.expose("ada", Seen(0, 0, BEGAN))
    work.expose("ada", Seen(1, 1, BEGAN + HOUR))
    assert work.add_event(CountedEvent(0, "ada", BEGAN + HOUR + 5, None))
    assert [[cell.users for cell in cells] for cells in work.counted.metrics[0].cells[:2]] == [[0, 0], [0, 1]]


def test_numbers_count_in_the_first_step_of_a_user_so_that_steps_are_independent() -> None:
    work = counting()
    work.expose("ada", Seen(0, 0, BEGAN))
    assert work.add_event(CountedEvent(2, "ada", BEGAN + 1, 4.0))
    assert work.add_event(CountedEvent(2, "ada", BEGAN + 2, 8.0))
    work.expose("ada", Seen(1, 1, BEGAN + HOUR))
    assert not work.add_event(CountedEvent(2, "ada", BEGAN + HOUR + 1, 100.0))
    assert work.counted.metrics[2].cells[0][0] == Cell(1, 2, 6.0, 36.0)


def test_a_scale_is_found_among_the_first_users_and_counts_them_again() -> None:
    counts = MetricCounts([[Cell(), Cell()]])
    done = [Done(0, place % 2, 1, 1.0 + place % 5) for place in range(499)] + [Done(0, 0, 1, 1e9)]
    for each in done:
        cell = counts.cells[0][each.arm]
        cell.users += 1
        cell.total += number_of(each, Kind.VALUE)
    assert not needs_scale(MetricCounts([[Cell()]]), 10_000, Kind.VALUE)
    assert not needs_scale(counts, 10_000, Kind.BINARY)
    assert needs_scale(counts, 0, Kind.VALUE)
    set_scale(counts, done, 0, Kind.VALUE)
    assert counts.scale is not None
    assert (counts.scale.low, counts.scale.high) == (1.0, 5.0)
    assert sum(cell.total for cell in counts.cells[0]) == sum(min(each.total, 5.0) for each in done)
    assert not needs_scale(counts, 0, Kind.VALUE)


def test_beyond_the_bound_users_are_not_counted_but_told_of() -> None:
    work = counting(Observations(users=EXPOSED_MAX))
    work.expose("ada", Seen(0, 1, BEGAN))
    assert (work.counted.users, work.counted.beyond, work.changed_exposures) == (EXPOSED_MAX, 1, {})


def test_charts_keep_so_many_points_and_thin_out() -> None:
    counted = Observations(every=5)
    for at in range(0, 20_000, 5):
        counted.add_point(Point(at, [0.0], [at]))
    assert len(counted.points) <= POINTS_MAX + 1
    assert counted.points[0].at == 0
    assert counted.points[-1].at >= 20_000 - 2 * counted.every


def by_hand(seen: list[tuple[str, Seen]], events: list[CountedEvent]) -> list[list[int]]:
    """Return the users with an event by step and arm, computed from everything at once."""
    cells = [[0, 0], [0, 0]]
    arms: dict[tuple[str, int], set[int]] = {}
    first: dict[tuple[str, int], int] = {}
    for unit, each in seen:
        arms.setdefault((unit, each.step), set()).add(each.arm)
        first[unit, each.step] = min(each.at, first.get((unit, each.step), each.at))
    had = set()
    for event in sorted(events, key=lambda each: each.at):
        number = (event.at - BEGAN) // HOUR
        key = event.unit, number
        if event.unit in had or key not in first or event.at < first[key]:
            continue
        had.add(event.unit)
        cells[number][next(iter(arms[key]))] += 1
    return cells


@pytest.mark.parametrize("seed", range(20))
def test_whatever_the_order_of_arrival_the_users_with_an_event_are_the_same(seed: int) -> None:
    generator = random.Random(seed)
    users = [f"u-{number}" for number in range(30)]
    arm_of = {unit: generator.randrange(2) for unit in users}
    seen = [
        (unit, Seen(0, arm_of[unit], BEGAN + generator.randrange(HOUR)))
        for unit in users
        for _ in range(generator.randrange(3))
    ]
    events = [CountedEvent(0, unit, BEGAN + generator.randrange(HOUR), None) for unit in users for _ in range(2)]
    counted, exposures, done = Observations(), {}, {}
    arrivals: list[tuple[str, Seen] | CountedEvent] = [*seen, *events]
    generator.shuffle(arrivals)
    stored: list[CountedEvent] = []
    for start in range(0, len(arrivals), 7):  # as the observer reads: pieces, and earlier events when a user is exposed
        work = counting(counted)
        work.exposures, work.done = exposures, done
        some = arrivals[start : start + 7]
        for unit, firsts in group_first([each for each in some if not isinstance(each, CountedEvent)]).items():
            for each in firsts:
                work.expose(unit, each)
        for event in stored:
            before = work.opened.get(event.unit, 0)
            if event.unit in work.opened and (before is None or event.at < before):
                work.add_event(event)
        for arrived in some:
            if isinstance(arrived, CountedEvent):
                work.add_event(arrived)
                stored.append(arrived)
    cells = [[cell.users for cell in each] for each in counted.metrics[0].cells[:2]]
    assert cells == by_hand(seen, events)
