"""Decisions in another form, each of which is converted once and kept."""

from dataclasses import replace

import pytest

from flagstaff.evaluation.history.decisions import MOST_KNOWN, DecisionForms
from flagstaff.evaluation.history.layout import Decider, Decision, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from tests.support.builders import make_flag

PLAIN = LayoutFlag(make_flag().id, "plain", 50, Outcome.NOT_IN_ROLLOUT)
RULED = replace(
    PLAIN,
    key="ruled",
    deciders=(Decider(Outcome.ATTRIBUTES_RULE, make_flag().id),),
    has_bucket=True,
    variants=("red", "blue"),
)
VARIED = replace(PLAIN, key="varied", variants=("new", "old"))
ON, OFF = (LayoutFlag(make_flag().id, str(each), 0, each) for each in (Outcome.ON, Outcome.OFF))
LAYOUT = Layout((PLAIN, RULED, VARIED), (ON, OFF))
RECORDED = bytes((7, 101, 8, 30, 1, 0))


class Conversions:
    """Forms of decisions that are the decisions themselves, and the keys of those that were converted."""

    def __init__(self) -> None:
        self.converted: list[str] = []
        self.forms = DecisionForms(self._convert)

    def _convert(self, decision: Decision) -> Decision:
        self.converted.append(decision.flag.key)
        return decision

    def of(self, layout: Layout, recorded: bytes) -> list[str]:
        """Read an evaluation, and return the keys of the flags whose decisions were converted for it."""
        self.converted.clear()
        assert list(self.forms.of_layout(layout)(recorded)) == layout.decisions(recorded)
        return sorted(self.converted)


ALL = sorted(each.key for each in (PLAIN, RULED, VARIED, ON, OFF))


def test_only_what_differs_from_earlier_evaluations_is_converted() -> None:
    conversions = Conversions()
    assert conversions.of(LAYOUT, RECORDED) == ALL
    assert conversions.of(LAYOUT, RECORDED) == []
    assert conversions.of(replace(LAYOUT), RECORDED) == [], "an equal layout of another segment"
    assert conversions.of(LAYOUT, bytes((9, 101, 8, 30, 1, 0))) == ["plain"]
    assert conversions.of(LAYOUT, bytes((9, 101, 8, 31, 1, 0))) == ["ruled"]
    assert conversions.of(LAYOUT, bytes((9, 101, 8, 31, 1, 1))) == ["varied"]


def test_layouts_do_not_share_their_forms() -> None:
    conversions = Conversions()
    conversions.of(LAYOUT, RECORDED)
    other = Layout((replace(PLAIN, rollout_percentage=5), RULED, VARIED), (OFF,))
    assert conversions.of(other, RECORDED) == sorted([PLAIN.key, RULED.key, VARIED.key, OFF.key])


def test_what_is_forgotten_is_converted_again() -> None:
    conversions = Conversions()
    conversions.of(LAYOUT, RECORDED)
    conversions.forms.forget()
    assert conversions.of(LAYOUT, RECORDED) == ALL


@pytest.mark.parametrize(("beyond", "converted"), [(0, []), (1, [ON.key])])
def test_all_forms_are_forgotten_once_more_are_known_than_are_kept(beyond: int, converted: list[str]) -> None:
    conversions = Conversions()
    constant = (OFF,) * (MOST_KNOWN + beyond - 2)
    conversions.of(Layout((PLAIN,), constant), b"\7")
    conversions.of(Layout((), (ON,)), b"")
    assert conversions.of(Layout((), (ON,)), b"") == converted
