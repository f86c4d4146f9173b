"""The plan of a release: its arms and times, and how another person's change affects it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from flagstaff.flags.flags import Fallthrough, Flag
from flagstaff.flags.variants import Variant
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.releases.conflicts import find_conflict
from flagstaff.releases.flag_changes_store import MadeChange
from flagstaff.releases.judging import Hold, conclude, find_hold
from flagstaff.releases.observations import Observations, Stretch
from flagstaff.releases.plans import Action, Guard, Step, plan
from flagstaff.releases.releases import Applied, Arms, Release, State, arms_of
from flagstaff.releases.runner import find_due
from tests.support.builders import make_environment, make_flag, make_release

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
BLUE, GREEN, NONE = Variant("blue", 300, '"b"'), Variant("green", 100, '"g"'), Variant("none", 0, '"n"')


def flag(**values: Any) -> Flag:
    return make_flag(make_environment(), **{"enabled": True, **values})


@pytest.mark.parametrize(
    ("values", "arms"),
    [
        ({"enabled": False, "rollout_percentage": 50}, None),
        ({"rollout_percentage": 0}, None),
        ({"rollout_percentage": 100}, None),
        ({"rollout_percentage": 50, "fallthrough": Fallthrough.OFF}, None),
        ({"rollout_percentage": 5}, (("off", "on"), (0.95, 0.05))),
        ({"variants": (BLUE,)}, None),
        ({"variants": (BLUE, NONE)}, None),
        ({"variants": (BLUE, GREEN, NONE)}, (("blue", "green"), (0.75, 0.25))),
        ({"rollout_percentage": 5, "variants": (BLUE, GREEN)}, (("off", "on"), (0.95, 0.05))),
        ({"rollout_percentage": 100, "variants": (BLUE, GREEN)}, (("blue", "green"), (0.75, 0.25))),
    ],
)
def test_a_flag_divides_its_users_by_its_rollout_or_else_by_its_variants(values: Any, arms: Any) -> None:
    found = arms_of(flag(**values))
    assert (found and (found.names, found.shares)) == arms


def test_a_plan_is_the_flag_after_each_step() -> None:
    steps = [Step({"rollout_percentage": 5}), Step({"enabled": False, "rules": []})]
    first, second = plan(flag(), steps)
    assert (first.rollout_percentage, first.enabled) == (5, True)
    assert (second.rollout_percentage, second.enabled) == (5, False)


def release(*steps: Step, applied: tuple[Applied, ...] = (), state: State = State.RUNNING) -> Release:
    return make_release(*steps, id=UUID(int=1), applied=applied, state=state, counts_from=NOW).with_due(NOW)


def at(**shift: float) -> Step:
    return Step({"enabled": True}, at=NOW + timedelta(**shift))


def after(seconds: int) -> Step:
    return Step({"enabled": True}, after_seconds=seconds)


@pytest.mark.parametrize(
    ("steps", "elapsed", "found"),
    [
        ([at(hours=1)], 3599, None),
        ([at(hours=1)], 3600, (0, (), False)),
        ([at(hours=1)], 3661, (0, (), True)),
        ([after(60)], 59, None),
        ([after(60)], 60, (0, (), False)),
        ([after(60), after(0)], 60, (0, (), False)),
        ([at(hours=1), at(hours=2), at(hours=3)], 7200, (1, (0,), True)),
        ([after(0), at(hours=1), after(5)], 3600, (1, (0,), True)),
        ([at(hours=1), Step({}, at=NOW + timedelta(hours=2), least_users=5)], 9000, (0, (), True)),
    ],
)
def test_a_step_is_due_at_its_time_and_takes_those_along_whose_times_are_over(
    steps: list[Step], elapsed: int, found: Any
) -> None:
    due = find_due(release(*steps), NOW + timedelta(seconds=elapsed))
    assert (due and (due.step, due.folded, due.is_late)) == found


def test_a_step_that_was_held_back_is_not_late_when_it_begins() -> None:
    waiting = replace(release(at(hours=1), at(hours=2)), due_at=NOW + timedelta(hours=5))
    due = find_due(waiting, NOW + timedelta(hours=5, seconds=3))
    assert due is not None
    assert (due.step, due.folded, due.is_late) == (0, (), False)


def watched(*new: int) -> tuple[Release, Observations]:
    """Return a release at 50 % whose next step waits for ten users, and the users of both arms."""
    arms = Arms(("off", "on"), (0.5, 0.5), by_variant=False)
    applied = (Applied(0, NOW, NOW, arms=arms, rollout_percentage=50),)
    steps = (after(0), Step({"rollout_percentage": 100}, after_seconds=0, least_users=10))
    found = replace(release(*steps, applied=applied), guards=(Guard("errors", Action.TURN_OFF),))
    counted = Observations(stretches=[Stretch(0, 0)])
    counted.prepare(found.segments, 1)
    counted.new[0], counted.of_step[0] = list(new), list(new)
    return found, counted


METRIC = Metric(uuid4(), uuid4(), "errors", "Errors", None, Kind.BINARY, Better.DOWN, None, NOW, NOW)


@pytest.mark.parametrize(
    ("new", "treated", "hold"),
    [((4, 5), 0, Hold.USERS), ((5, 5), 0, None), ((20, 20), 6, Hold.EVIDENCE), ((900, 100), 0, Hold.SPLIT)],
)
def test_a_step_waits_for_users_for_the_evidence_and_for_the_split(
    new: tuple[int, int], treated: int, hold: Hold | None
) -> None:
    found, counted = watched(*new)
    counted.metrics[0].cells[0][1].users = treated
    assert find_hold(found, conclude(found, counted, {"errors": METRIC})) is hold
    if hold is not Hold.SPLIT:
        counted.is_behind = True
        assert find_hold(found, conclude(found, counted, {"errors": METRIC})) is Hold.COUNTING


def test_after_the_last_step_nothing_is_due() -> None:
    done = release(after(0), applied=(Applied(0, NOW, NOW),))
    assert done.next_step is None
    assert find_due(done, NOW + timedelta(days=9)) is None
    assert done.with_due(NOW).due_at == NOW + timedelta(days=90)


def made(action: str, before: Any = None, after: Any = None, by: UUID | None = None) -> MadeChange:
    return MadeChange(1, action, uuid4(), before, after, "grace@example.com", by)


ON, OFF = {"enabled": True, "name": "a"}, {"enabled": False, "name": "a"}
FIRST = (Applied(0, NOW, NOW),)


@pytest.mark.parametrize(
    ("change", "applied", "words"),
    [
        (made("flag.toggled", ON, OFF), (), "grace@example.com turned the flag off."),
        (made("flag.toggled", OFF, ON), (), None),
        (made("flag.toggled", OFF, ON), FIRST, "grace@example.com changed enabled, which this release changes too."),
        (made("flag.updated", ON, {**ON, "name": "b"}), FIRST, None),
        (made("flag.archived", ON, ON), (), "grace@example.com archived the flag."),
        (made("flag.toggled", ON, OFF, by=UUID(int=1)), FIRST, None),
        (made("flag.toggled", ON, OFF, by=UUID(int=2)), FIRST, "grace@example.com turned the flag off."),
        (made("rule.updated", {}, {}), FIRST, None),
        (made("release.paused", {}, {}), FIRST, None),
    ],
)
def test_a_change_conflicts_with_what_the_release_has_changed(change: Any, applied: Any, words: str | None) -> None:
    assert find_conflict(release(after(0), after(9), applied=applied), [change]) == words


def test_a_change_of_a_rule_conflicts_with_a_release_that_changes_rules() -> None:
    rules = Step({"rules": [{"id": str(uuid4()), "enabled": False}]}, after_seconds=0)
    found = find_conflict(release(rules, rules, applied=FIRST), [made("rule.updated", {}, {})])
    assert found == "grace@example.com changed a rule of the flag, and this release changes rules too."
