"""Groups of evaluations whose columns belong together, and evaluations whose bytes are read with their layout."""

from typing import Any
from uuid import UUID

import pytest

from flagstaff.evaluation.history.layout import Decision, Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordedEvaluation, RecordGroup
from flagstaff.evaluation.outcomes import Outcome
from tests.support.builders import AT, make_flag

ROLLOUT = LayoutFlag(make_flag().id, "rollout", 50, Outcome.NOT_IN_ROLLOUT)
ON = LayoutFlag(make_flag().id, "on", 0, Outcome.ON)
LAYOUT = Layout((ROLLOUT,), (ON,))


@pytest.mark.parametrize("column", ["times", "users", "emails", "recorded", "attributes"])
def test_columns_that_differ_in_length_are_refused(column: str) -> None:
    columns: dict[str, Any] = {
        "times": [1],
        "users": ["ada"],
        "emails": [None],
        "recorded": [b"\0"],
        "attributes": [b"{}"],
    }
    RecordGroup(UUID(int=1), LAYOUT, **columns)
    with pytest.raises(ValueError, match="differ in length"):
        RecordGroup(UUID(int=1), LAYOUT, **{**columns, column: []})


def test_an_evaluation_has_the_decisions_of_its_layout() -> None:
    evaluation = RecordedEvaluation(UUID(int=1), AT, "ada", None, LAYOUT, b"\7")
    decisions = [Decision(ROLLOUT, Outcome.IN_ROLLOUT, bucket=7), Decision(ON, Outcome.ON)]
    assert evaluation.decisions() == list(evaluation.each_decision()) == decisions
    assert [evaluation.decision_about(found) for found in ((0, ROLLOUT), (None, ON))] == decisions


@pytest.mark.parametrize(
    ("attributes", "has_all", "known"),
    [
        (None, False, {"user_id"}),
        ({}, False, {"user_id", "plan"}),
        ({}, True, {"user_id", "plan", "other"}),
    ],
)
def test_an_evaluation_knows_the_attributes_that_were_kept(
    attributes: dict[str, Any] | None, has_all: bool, known: set[str]
) -> None:
    layout = Layout((), (), ("plan",))
    evaluation = RecordedEvaluation(UUID(int=1), AT, "ada", None, layout, b"", attributes, has_all)
    assert {name for name in ("user_id", "plan", "other") if evaluation.knows(name)} == known
