"""Filters of the history test bytes, and agree with the decisions that the bytes stand for."""

from dataclasses import replace
from itertools import product
from uuid import UUID

import pytest

from flagstaff.evaluation.history.filters import Check, FlagFilter
from flagstaff.evaluation.history.layout import Decider, Decision, Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from tests.support.builders import make_flag

RULES = [Decider(Outcome.ATTRIBUTES_RULE, make_flag().id), Decider(Outcome.USER_ID_RULE, make_flag().id)]
PLAIN = LayoutFlag(make_flag().id, "plain", 50, Outcome.NOT_IN_ROLLOUT)
RULED = LayoutFlag(make_flag().id, "ruled", 0, Outcome.NO_RULE, (*RULES, RULES[0]), has_bucket=True)
VARIED = replace(RULED, id=make_flag().id, key="varied", deciders=(RULES[1],), variants=("a", "b"))
ON = LayoutFlag(make_flag().id, "on", 0, Outcome.ON)
OFF = LayoutFlag(make_flag().id, "off", 0, Outcome.OFF)
LAYOUT = Layout((PLAIN, RULED, VARIED), (ON, OFF))
EVALUATIONS = [
    bytes((plain, ruled, varied, 7, 8, variant))
    for plain, ruled, varied, variant in product((49, 50, 100), (100, 101, 102, 103), (100, 101), (0, 1))
]


def passes(wanted: FlagFilter, recorded: bytes) -> bool:
    checks = wanted.search(LAYOUT)
    return checks is not None and all(each.passes[recorded[each.column]] for each in checks.of_all)


def agrees(wanted: FlagFilter, decision: Decision) -> bool:
    """Return whether a decision about the flag is what a filter asks for."""
    return (
        wanted.enabled in (None, decision.outcome.enabled)
        and wanted.rule_id in (None, decision.rule_id)
        and wanted.variant in (None, decision.variant)
    )


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("enabled", [None, True, False])
@pytest.mark.parametrize("rule_id", [None, RULES[0].rule_id, RULES[1].rule_id, make_flag().id])
@pytest.mark.parametrize("variant", [None, "a", "b", "c"])
def test_a_filter_finds_the_evaluations_with_such_a_decision(
    place: int, enabled: bool | None, rule_id: UUID | None, variant: str | None
) -> None:
    flag = (*LAYOUT.recorded, *LAYOUT.constant)[place]
    for named in ({"flag_id": flag.id}, {"key": flag.key}):
        wanted = FlagFilter(**named, enabled=enabled, rule_id=rule_id, variant=variant)
        for recorded in EVALUATIONS:
            assert passes(wanted, recorded) is agrees(wanted, LAYOUT.decisions(recorded)[place])


def test_a_rule_alone_names_its_flag() -> None:
    only = Layout((PLAIN, VARIED), (ON,))
    wanted = FlagFilter(rule_id=RULES[1].rule_id)
    found = wanted.search(only)
    assert found is not None
    passes = bytes(101) + b"\1" + bytes(154)
    assert (found.of_all, found.place, found.of_one) == ([Check(1, passes)], 1, [Check(0, passes)])


def test_a_flag_or_rule_that_a_layout_does_not_have_finds_nothing() -> None:
    for wanted in (FlagFilter(key="other"), FlagFilter(flag_id=make_flag().id), FlagFilter(rule_id=make_flag().id)):
        assert wanted.search(LAYOUT) is None
