"""How long guards take: monotone, in accord with what judges releases, and finite where little is known."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from math import inf, log
from statistics import median
from uuid import UUID

import pytest

from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.bases import basis_of_release, find_basis, gather_numbers
from flagstaff.releases.buckets import Cuts
from flagstaff.releases.observations import Done, Observations
from flagstaff.releases.outlook import (
    OPEN_DAYS,
    Basis,
    GuardOutlook,
    Missing,
    Outlook,
    Source,
    StepOutlook,
    Traffic,
    find_outlook,
    planned_steps,
)
from flagstaff.releases.outlook_wording import say_guard_outlook, say_span
from flagstaff.releases.plans import Action, Guard, Step, WhenLate
from flagstaff.releases.releases import Release, State
from flagstaff.releases.statistics import binary
from flagstaff.releases.statistics.binary import EventSplit
from tests.support.builders import make_flag

NOBODY, NOW = UUID(int=0), datetime(2026, 11, 20, 10, tzinfo=UTC)
UNCUT = Cuts(frozenset(), by_variants=False, changed_at=NOW)
RATE = Basis(Source.GIVEN, rate=0.02)
MEAN = Basis(Source.GIVEN, mean=100.0, deviation=30.0)
TRAFFIC = Traffic(1_400)
A_DAY = Step({"rollout_percentage": 100}, after_seconds=86_400)


def metric_of(kind: Kind = Kind.BINARY, better: Better = Better.DOWN, unit: str | None = None) -> Metric:
    """A metric of errors."""
    return Metric(NOBODY, NOBODY, "errors", "Errors", None, kind, better, unit, NOW, NOW)


def release_of(*steps: Step, guards: tuple[Guard, ...] = (Guard("errors", Action.TURN_OFF),)) -> Release:
    """A release that has not begun."""
    return Release(
        *(NOBODY,) * 4, None, steps, guards, (), 0.05, WhenLate.RUN, State.SCHEDULED, None, None, None, None, None,
        lost_authority=False, applied=(), alarms=(), counts_from=NOW, due_at=NOW, paused_at=None, ended_at=None,
        mark=0, created_at=NOW, updated_at=NOW,
    )  # fmt: skip


def step_at(percentage: int) -> Step:
    """A step that turns the flag on for some users."""
    return Step({"enabled": True, "rollout_percentage": percentage}, after_seconds=0)


def look(
    release: Release,
    basis: Basis | Missing = RATE,
    *,
    metric: Metric | None = None,
    traffic: Traffic | None = TRAFFIC,
    cuts: Cuts = UNCUT,
) -> Outlook:
    """Look ahead with one guard."""
    flag = make_flag(enabled=False)
    return find_outlook(
        release,
        [(guard, metric or metric_of(), basis) for guard in release.guards[:1]],
        [*planned_steps(release, flag, cuts, NOW)],
        traffic,
    )


def of_step(found: Outlook, place: int = 0) -> StepOutlook:
    """What the guard finds in a step."""
    (guard,) = found.guards
    return guard.steps[place]


def test_a_harm_is_found_after_as_many_users_as_half_to_four_fifths_of_such_releases_need() -> None:
    found = of_step(look(release_of(step_at(50), A_DAY)))
    generator, needed = random.Random(7), []
    expected = found.finds[0].users
    assert expected is not None
    for _ in range(200):
        treated = control = users = 0
        while binary.log_evidence([EventSplit(treated, control, 0.5)], harm_is_more=True) < log(20):
            for _ in range(20):
                has_flag = generator.random() < 0.5
                had_event = generator.random() < (0.04 if has_flag else 0.02)
                treated += has_flag and had_event
                control += had_event and not has_flag
            users += 20
        needed.append(users)
    assert 0.5 < sum(each <= expected for each in needed) / len(needed) < 0.8
    assert median(needed) < expected < 2 * median(needed)


def test_a_smaller_harm_and_a_smaller_share_take_more_users() -> None:
    doubled, half, tripled = of_step(look(release_of(step_at(50), A_DAY))).finds
    assert [doubled.effect, half.effect, tripled.effect] == [2.0, 1.5, 3.0]
    assert (half.users or 0) > (doubled.users or 0) > (tripled.users or 0) > 0
    smaller = of_step(look(release_of(step_at(10), A_DAY))).finds[0].users
    assert (smaller or 0) > (doubled.users or 0)


def test_what_is_not_found_in_the_time_of_a_step_is_said() -> None:
    found = look(release_of(step_at(10), replace(A_DAY, after_seconds=3 * 86_400)))
    step, (guard,) = of_step(found), found.guards
    assert (step.days, step.arm, step.share) == (3.0, "on", pytest.approx(0.1))
    assert step.least is not None
    assert step.least > 2
    (users, days) = (step.finds[0].users, step.finds[0].days)
    assert users is not None
    assert days == pytest.approx(users / 1_400, rel=1e-3)
    assert say_guard_outlook(guard, found) == (
        "Errors: at 10 % of the users and a rate of 2 %, doubling is found after about 6,200 users: 4.4 days at "
        "today's traffic. In the 3 days of this step, less than 2.22 times the rate is not found."
    )


def test_the_last_step_has_no_end_and_a_step_for_everyone_finds_nothing() -> None:
    (guard,) = look(release_of(step_at(10), Step({"rollout_percentage": 50}, after_seconds=3600))).guards
    assert [(each.step, each.days) for each in guard.steps] == [(0, pytest.approx(1 / 24)), (1, OPEN_DAYS)]
    (guard,) = look(release_of(step_at(100))).guards
    assert guard.steps == []


def test_several_guards_need_more_users_and_so_do_steps_of_a_mean() -> None:
    one = of_step(look(release_of(step_at(50), A_DAY))).finds[0].users
    guards = (Guard("errors", Action.TURN_OFF), Guard("other", Action.NOTIFY))
    two = of_step(look(release_of(step_at(50), A_DAY, guards=guards))).finds[0].users
    assert one is not None
    assert two is not None
    assert two > one
    value = metric_of(Kind.VALUE)
    single = of_step(look(release_of(step_at(50), A_DAY), MEAN, metric=value)).finds[1].users
    ramp = release_of(step_at(50), *(Step({"rollout_percentage": each}, after_seconds=60) for each in (60, 70, 80)))
    several = of_step(look(ramp, MEAN, metric=value)).finds[1].users
    assert single is not None
    assert several is not None
    assert several > single


def test_a_mean_is_looked_for_on_its_harmful_side() -> None:
    for better, sign in ((Better.DOWN, 1), (Better.UP, -1)):
        found = of_step(look(release_of(step_at(50), A_DAY), MEAN, metric=metric_of(Kind.VALUE, better)))
        assert [each.effect for each in found.finds] == [sign * 10.0, sign * 5.0, sign * 20.0]
        assert all(each.users is not None and each.users >= 500 for each in found.finds)
        assert found.least is not None
        assert sign * found.least > 0


def test_fewer_purchases_are_found_too() -> None:
    found = look(release_of(step_at(50), A_DAY), Basis(Source.EVENTS, rate=0.1), metric=metric_of(better=Better.UP))
    assert [each.effect for each in of_step(found).finds] == [0.5, 0.75, 0.9]
    assert of_step(found).least is not None
    assert "halving is found after" in say_guard_outlook(found.guards[0], found)


def test_what_is_tolerated_is_never_found() -> None:
    tolerant = release_of(step_at(50), A_DAY, guards=(Guard("errors", Action.TURN_OFF, 4.0),))
    found = look(tolerant)
    assert [(each.users, each.days) for each in of_step(found).finds] == [(None, None)] * 3
    assert "never found, because the guard tolerates it" in say_guard_outlook(found.guards[0], found)


def test_users_whom_a_rule_leaves_out_are_needed_as_well() -> None:
    alone = of_step(look(release_of(step_at(50), A_DAY)))
    cut = of_step(look(release_of(step_at(50), A_DAY), cuts=replace(UNCUT, percentages=frozenset({30}))))
    assert cut.share == pytest.approx(20 / 70)
    assert (cut.finds[0].users or 0) > (alone.finds[0].users or 0) > 0
    found = look(release_of(step_at(50), A_DAY), cuts=replace(UNCUT, percentages=frozenset({50})))
    assert of_step(found).arm is None
    assert "nobody can be compared" in say_guard_outlook(found.guards[0], found)


@pytest.mark.parametrize(
    ("basis", "kind", "says"),
    [
        (Missing.USERS, Kind.BINARY, "the flag was not evaluated in the last day"),
        (Missing.EVENTS, Kind.BINARY, "too few of its users had an event in the last day"),
        (Basis(Source.EVENTS, 900, 1.0, 5.0, None), Kind.VALUE, "all numbers are alike so far"),
        (Basis(Source.EVENTS, 900, 1.0), Kind.BINARY, "all users have it"),
        (Basis(Source.EVENTS, 900, 0.8), Kind.BINARY, "1.12 times the rate is found after about"),
        (Basis(Source.GIVEN, 0, 1e-9), Kind.BINARY, "never found, because it would take too many users"),
    ],
)
def test_what_is_missing_is_said(basis: Basis | Missing, kind: Kind, says: str) -> None:
    found = look(release_of(step_at(50), A_DAY), basis, metric=metric_of(kind))
    assert says in say_guard_outlook(found.guards[0], found)


def test_without_traffic_the_time_is_not_known() -> None:
    found = look(release_of(step_at(50), A_DAY), traffic=None)
    assert of_step(found).finds[0].users is not None
    assert of_step(found).finds[0].days is None
    assert "was not evaluated in the last seven days" in say_guard_outlook(found.guards[0], found)


def test_users_who_return_make_it_take_longer_or_for_ever() -> None:
    assert Traffic(1_000).days_for(500) == 0.5
    assert Traffic(1_000).days_for(4_000) == pytest.approx(4)
    assert Traffic(1_000, 0.5).days_for(4_000) == pytest.approx(16)
    assert Traffic(1_000, 0.5).users_in(16) == pytest.approx(4_000)
    assert Traffic(1_000, 0.0).days_for(1_001) is None
    assert Traffic(1_000, 0.01).days_for(1e9) is None
    assert Traffic(0.01).days_for(1e9) is None
    found = look(release_of(step_at(10), A_DAY), traffic=Traffic(50, 0.1))
    assert "which is more than a year at today's traffic" in say_guard_outlook(found.guards[0], found)


@pytest.mark.parametrize("mean", [0.0, 1e-9, -100.0, 1e15, -1e15])
@pytest.mark.parametrize("deviation", [1e-9, 1.0, 1e15])
@pytest.mark.parametrize("kind", [Kind.VALUE, Kind.COUNT])
def test_extreme_numbers_give_finite_answers(mean: float, deviation: float, kind: Kind) -> None:
    basis = Basis(Source.GIVEN, 0, 1e-6, mean, deviation)
    found = look(release_of(step_at(1), A_DAY), basis, metric=metric_of(kind, unit="ms"), traffic=Traffic(1e9))
    for each in of_step(found).finds:
        assert abs(each.effect) < inf
    assert say_guard_outlook(found.guards[0], found)


def test_the_latest_events_give_a_basis_of_the_users_of_the_flag() -> None:
    events = [("errors", f"u-{number}", 0, None, None, 1) for number in range(30)] * 2
    events += [("errors", f"\x1fcompany\x1f{number}", 0, None, None, 1) for number in range(7)]
    users = {f"u-{number}" for number in range(20)}
    by_id = gather_numbers(events, users)["errors"]
    assert by_id.keys() == users
    assert find_basis(metric_of(), [*by_id.values()], 400) == Basis(Source.EVENTS, 20, 0.05)
    assert find_basis(metric_of(), [*by_id.values()][:4], 400) is Missing.EVENTS
    assert find_basis(metric_of(), [], 0) is Missing.USERS
    count = find_basis(metric_of(Kind.COUNT), [*by_id.values()], 400)
    assert isinstance(count, Basis)
    assert count.mean == pytest.approx(0.1)
    values = [Done(2, 2.0 * number) for number in range(100)]
    value = find_basis(metric_of(Kind.VALUE), values, 400)
    assert isinstance(value, Basis)
    assert value.mean == pytest.approx(49.5, rel=0.1)
    assert value.deviation == pytest.approx(29, rel=0.1)


def test_a_release_without_users_is_no_basis() -> None:
    counted = Observations()
    counted.prepare([], 1)
    assert basis_of_release(release_of(step_at(50), A_DAY), counted, 0, Kind.BINARY) is None


@pytest.mark.parametrize(
    ("days", "said"),
    [
        (0.0001, "less than a minute"),
        (1 / 24, "60 minutes"),
        (1 / 12, "2 hours"),
        (3.14, "3.1 days"),
        (28.0, "28 days"),
    ],
)
def test_times_are_said_in_their_largest_unit(days: float, said: str) -> None:
    assert say_span(days) == said


def test_a_metric_that_no_step_divides_says_so() -> None:
    found = Outlook(None, [GuardOutlook(Guard("errors", Action.NOTIFY), metric_of(), RATE, [])])
    assert "no step that is still to come divides users" in say_guard_outlook(found.guards[0], found)
