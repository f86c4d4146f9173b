"""How many flags were on and off in recorded evaluations."""

from dataclasses import replace
from uuid import UUID

from flagstaff.evaluation.history.counts import OnCounts
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.evaluation.outcomes import Outcome
from tests.support.builders import AT, make_flag

HALF = LayoutFlag(make_flag().id, "half", 50, Outcome.NOT_IN_ROLLOUT)
FEW = replace(HALF, key="few", rollout_percentage=5)
ON, OFF = (LayoutFlag(make_flag().id, str(each), 0, each) for each in (Outcome.ON, Outcome.OFF))


def evaluation(layout: Layout, *recorded: int) -> RecordedEvaluation:
    return RecordedEvaluation(UUID(int=1), AT, "ada", None, layout, bytes(recorded))


def test_evaluations_of_several_layouts_are_counted_each_by_its_own() -> None:
    counts = OnCounts()
    layout, other = Layout((HALF, FEW), (ON, OFF, OFF)), Layout((FEW,), (ON, ON))
    for found, expected in (
        (evaluation(layout, 4, 4), (3, 2)),
        (evaluation(layout, 5, 5), (2, 3)),
        (evaluation(other, 5), (2, 1)),
        (evaluation(layout, 50, 50), (1, 4)),
        (evaluation(other, 4), (3, 0)),
    ):
        assert counts.count(found) == expected


def test_the_columns_of_variants_are_not_counted() -> None:
    varied = replace(HALF, key="varied", variants=("new", "old"))
    assert OnCounts().count(evaluation(Layout((varied, FEW), ()), 4, 60, 1)) == (1, 1)
