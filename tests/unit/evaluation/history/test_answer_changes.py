"""The changes of a user's answers are the same if the comparison is interrupted, as it is between pages."""

from uuid import UUID

from hypothesis import example, given
from hypothesis import strategies as st

from flagstaff.evaluation.history.answer_changes import AnswerChanges
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.evaluation.outcomes import Outcome
from tests.support.builders import AT, make_flag

FLAGS = [LayoutFlag(make_flag().id, key, 50, Outcome.NOT_IN_ROLLOUT) for key in ("a", "b")]
LAYOUTS = [Layout((FLAGS[0],), ()), Layout((FLAGS[1],), ()), Layout(tuple(FLAGS), ())]
IN, OUT = 0, 99


def evaluation(number: int, layout: Layout, recorded: bytes) -> RecordedEvaluation:
    return RecordedEvaluation(UUID(int=number), AT, "ada", None, layout, recorded)


some_evaluations = st.lists(st.tuples(st.sampled_from(LAYOUTS), st.sampled_from([IN, OUT]), st.sampled_from([IN, OUT])))


def newest_first(drawn: list[tuple[Layout, int, int]]) -> list[RecordedEvaluation]:
    return [
        evaluation(len(drawn) - place, layout, bytes(drawn_bytes)[: len(layout.recorded)])
        for place, (layout, *drawn_bytes) in enumerate(drawn)
    ]


def compared(evaluations: list[RecordedEvaluation], resumed: AnswerChanges | None = None) -> AnswerChanges:
    changes = AnswerChanges()
    if resumed is not None:
        changes.resume(resumed.open_ends())
    for each in evaluations:
        changes.add(each)
    return changes


@example([(LAYOUTS[2], IN, IN), (LAYOUTS[0], OUT, IN), (LAYOUTS[2], OUT, IN)], 2)
@given(some_evaluations, st.integers(0, 20))
def test_a_comparison_that_is_resumed_finds_the_other_changes(drawn: list[tuple[Layout, int, int]], place: int) -> None:
    evaluations = newest_first(drawn)
    first = compared(evaluations[:place])
    rest = compared(evaluations[place:], resumed=first)
    assert first.found + rest.found == compared(evaluations).found


def test_what_is_known_is_not_counted_again() -> None:
    first = compared(newest_first([(LAYOUTS[2], IN, IN), (LAYOUTS[2], OUT, IN), (LAYOUTS[0], IN, IN)]))
    assert [(each.before.flag.key, each.after.outcome.enabled) for each in first.found] == [("a", True), ("a", False)]
    assert first.compared == 5
    assert compared([], resumed=first).compared == 0
