"""Tests of the checker: it finds every violation, and nothing else. Times are small numbers."""

import json
from collections import Counter
from dataclasses import replace

import pytest

from tests.faults.checker import find_violations
from tests.faults.counts import LOST_NANOSECONDS, find_miscounts
from tests.faults.deliveries import find_wrong
from tests.faults.histories import Asked, Evaluation, New, Outcome, Toggle
from tests.faults.news import find_unmarked
from tests.faults.releasing import STEPS, find_wrong_steps
from tests.support.receiver import Message

CREATED = Toggle("flag", 0, 0, 1, 201, Outcome.MADE, enabled=True, revision=1)


def toggle(started: int, ended: int, *, to: bool, **values: object) -> Toggle:
    made = Toggle("flag", 0, started, ended, 200, Outcome.MADE, enabled=to)
    return replace(made, **values)  # type: ignore[arg-type]


def unknown(started: int, ended: int) -> Toggle:
    return Toggle("flag", 0, started, ended, 503, Outcome.UNKNOWN)


def refused(started: int, ended: int) -> Toggle:
    return Toggle("flag", 0, started, ended, 503, Outcome.REFUSED)


def evaluation(started: int, ended: int, *, on: bool, **values: object) -> Evaluation:
    seen = Evaluation(1, "ada", started, ended, 200, frozenset({"flag"} if on else ()))
    return replace(seen, **values)  # type: ignore[arg-type]


def violates(*history: Toggle | Evaluation, marks_allowed: bool = True) -> bool:
    toggles = [CREATED, *(each for each in history if isinstance(each, Toggle))]
    evaluations = [each for each in history if isinstance(each, Evaluation)]
    return bool(find_violations(toggles, evaluations, marks_allowed=marks_allowed))


def test_an_evaluation_that_begins_after_the_answer_must_see_the_new_state() -> None:
    assert violates(toggle(10, 20, to=False), evaluation(21, 22, on=True))
    assert not violates(toggle(10, 20, to=False), evaluation(21, 22, on=False))


@pytest.mark.parametrize("on", [True, False])
def test_an_evaluation_that_begins_before_the_answer_may_see_either_state(on: bool) -> None:
    assert not violates(toggle(10, 20, to=False), evaluation(15, 30, on=on))
    assert not violates(toggle(10, 20, to=False), evaluation(20, 21, on=on))


def test_an_evaluation_that_ends_before_the_change_begins_sees_the_old_state() -> None:
    assert violates(toggle(10, 20, to=False), evaluation(5, 9, on=False))


@pytest.mark.parametrize("on", [True, False])
def test_a_change_of_unknown_outcome_allows_either_state(on: bool) -> None:
    assert not violates(unknown(10, 20), evaluation(30, 31, on=on))
    assert not violates(unknown(10, 20), unknown(40, 50), evaluation(60, 61, on=on))


def test_the_next_change_that_was_made_ends_the_doubt() -> None:
    assert violates(unknown(10, 20), toggle(30, 40, to=True), evaluation(41, 42, on=False))
    assert not violates(unknown(10, 20), toggle(30, 40, to=True), evaluation(41, 42, on=True))


def test_a_refused_change_leaves_the_state_as_it_was() -> None:
    assert violates(refused(10, 20), evaluation(21, 22, on=False))
    assert not violates(refused(10, 20), evaluation(21, 22, on=True))


@pytest.mark.parametrize("on", [True, False])
def test_a_long_evaluation_may_see_any_state_since_it_began(on: bool) -> None:
    history = (toggle(10, 20, to=False), toggle(30, 40, to=True), toggle(50, 60, to=False))
    assert not violates(*history, evaluation(35, 100, on=on))
    assert not violates(*history, evaluation(25, 30, on=on))


def test_a_state_that_returned_is_told_apart_by_its_revision() -> None:
    history = (toggle(10, 20, to=False, revision=2), toggle(30, 40, to=True, revision=3))
    assert violates(*history, evaluation(41, 42, on=True, revision=1))
    assert not violates(*history, evaluation(41, 42, on=True, revision=3))
    assert not violates(*history, evaluation(41, 42, on=True, revision=4))


def test_writes_of_one_turn_are_held_to_the_first_answer_of_any_of_them() -> None:
    history = (toggle(10, 40, to=False, turn=1), toggle(11, 20, to=False, turn=1), toggle(12, 60, to=False, turn=1))
    assert violates(*history, evaluation(21, 22, on=True))
    assert not violates(*history, evaluation(21, 22, on=False))
    assert not violates(*history, evaluation(15, 22, on=True))


def test_a_write_of_unknown_outcome_is_in_doubt_only_until_one_of_its_turn_was_made() -> None:
    doubtful = toggle(10, 20, to=False, turn=1, outcome=Outcome.UNKNOWN)
    assert not violates(doubtful, evaluation(21, 22, on=True))
    assert not violates(doubtful, evaluation(21, 22, on=False))
    assert violates(doubtful, toggle(30, 40, to=False, turn=1), evaluation(41, 42, on=True))
    assert violates(toggle(30, 40, to=False, turn=1), doubtful, evaluation(41, 42, on=True))


def test_a_write_that_changed_nothing_has_a_revision_that_later_answers_have_too() -> None:
    found = replace(toggle(10, 20, to=True, revision=5), flag="other")
    for revision, count in ((4, 1), (5, 0)):
        seen = evaluation(21, 22, on=True, revision=revision)
        assert len(find_violations([CREATED], [seen], [found], marks_allowed=True)) == count


def test_a_marked_answer_is_excused_only_where_marks_are_allowed() -> None:
    history = (toggle(10, 20, to=False), evaluation(21, 22, on=True, stale="3"))
    assert not violates(*history)
    assert violates(*history, marks_allowed=False)


def test_answers_other_than_200_are_not_looked_at() -> None:
    assert not violates(toggle(10, 20, to=False), evaluation(21, 22, on=True, status=503))


def test_flags_are_looked_at_one_by_one() -> None:
    other = replace(CREATED, flag="other")
    seen = evaluation(5, 6, on=True)
    assert find_violations([CREATED, other], [seen], marks_allowed=True)
    assert not find_violations([CREATED, other], [replace(seen, on=frozenset({"flag", "other"}))], marks_allowed=True)


def test_two_clients_that_change_one_flag_at_the_same_time_are_a_mistake_of_the_run() -> None:
    with pytest.raises(AssertionError, match="two clients"):
        violates(toggle(10, 20, to=False), toggle(15, 25, to=True))


def test_an_answer_without_what_was_created_before_needs_a_mark() -> None:
    missed = Asked(1, "a flag", New("new", is_environment=False, ended=20), 21, knows=False, is_marked=False)
    (found,) = find_unmarked([missed])
    assert "the answer for a flag lacked new without a mark" in found
    assert not find_unmarked(
        [replace(missed, knows=True), replace(missed, is_marked=True), replace(missed, started=20)]
    )


def miscounts(*evaluations: Evaluation, recorded: dict[str, int], **known: dict[int, object]) -> list[str]:
    values = {"kills": {}, "dropped": {}, **known}
    return find_miscounts(evaluations, Counter(recorded), **values)  # type: ignore[arg-type]


def test_an_answered_evaluation_is_in_the_history_exactly_once() -> None:
    seen = evaluation(1, 2, on=True)
    assert not miscounts(seen, recorded={"ada": 1})
    assert miscounts(seen, recorded={"ada": 2})
    assert miscounts(seen, recorded={})


def test_an_evaluation_without_an_answer_is_there_at_most_once() -> None:
    seen = evaluation(1, 2, on=True, status=0)
    assert not miscounts(seen, recorded={})
    assert not miscounts(seen, recorded={"ada": 1})
    assert miscounts(seen, recorded={"ada": 2})


def test_a_refused_evaluation_is_not_there() -> None:
    assert miscounts(evaluation(1, 2, on=True, status=503), recorded={"ada": 1})


def test_a_kill_excuses_the_last_second_of_its_instance_only() -> None:
    seen = evaluation(1, 2, on=True)
    assert not miscounts(seen, recorded={}, kills={1: [2 + LOST_NANOSECONDS]})
    assert miscounts(seen, recorded={}, kills={1: [3 + LOST_NANOSECONDS]})
    assert miscounts(seen, recorded={}, kills={2: [2]})


def test_what_an_instance_says_that_it_dropped_is_excused() -> None:
    first, second = evaluation(1, 2, on=True), evaluation(3, 4, on=True, user="eve")
    assert not miscounts(first, second, recorded={}, dropped={1: 2})
    assert miscounts(first, second, recorded={}, dropped={1: 1})


def message_of(number: int, message_id: str) -> Message:
    """A message about a change."""
    return Message({"webhook-id": message_id}, json.dumps({"data": {"id": str(number)}}).encode())


def test_messages_that_are_missing_overtaken_or_renamed_are_found() -> None:
    first, second, third = (message_of(number, f"m{number}") for number in (1, 2, 3))
    numbers = ["1", "2", "3"]
    assert find_wrong(numbers, [first, first, second, first, third, message_of(9, "lost")]) == []
    assert find_wrong(numbers, [first, third]) == ["1 of 3 changes were not sent, first 2"]
    assert find_wrong(numbers, [first, third, second]) == ["the change 3 came before 2"]
    assert find_wrong(numbers, [first, second, third, message_of(1, "other")]) == ["the change 1 came under two ids"]


def test_steps_that_were_applied_twice_or_lost_are_found() -> None:
    applied = list(range(STEPS))
    actions = [*["flag.updated", "release.step_applied"] * STEPS, "release.warned"]
    shares = [50 + place for place in range(STEPS)]
    assert find_wrong_steps(applied, actions, shares) == []
    (lost,) = find_wrong_steps(applied[:-1], actions, shares)
    assert lost.startswith(f"the steps {applied[:-1]} were applied")
    assert find_wrong_steps([*applied, applied[-1]], actions, shares) != []
    (twice,) = find_wrong_steps(applied, [*actions, "release.warned"], shares)
    assert twice == "release.warned is 2 times in the audit trail, and not 1"
    (again,) = find_wrong_steps(applied, actions, [*shares, 51])
    assert again.startswith("the flag was changed to shares of")
