"""Subsets of an environment's flags, decided alone, compared with the evaluation of all flags."""

import json
from typing import Any

from hypothesis import given

from flagstaff.conditions.conditions import Condition
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.evaluation.subset import all_flags, decide_part, evaluate_flag, find_flag
from flagstaff.flags.flags import Flag, Rule
from tests.support.builders import make_flag, make_segment
from tests.support.examples import times_the_examples
from tests.support.strategies import ENVIRONMENT, addresses, attributes, some_segments, targeted_flags, users


def test_a_flag_that_does_not_exist_is_not_found() -> None:
    snapshot = compile_environment(ENVIRONMENT, [TargetedFlag(make_flag(ENVIRONMENT, key="flag"))])
    assert find_flag(snapshot, "fla") is None
    assert find_flag(snapshot, "flag") is find_flag(snapshot, "flag")


@times_the_examples(3)
@given(targeted_flags(), users, addresses, attributes, some_segments)
def test_a_flag_is_decided_alone_as_it_is_among_all(
    flags: list[tuple[Flag, list[Rule]]],
    user_id: str | None,
    user_email: str | None,
    custom: dict[str, Any],
    segments: dict[str, tuple[Condition, ...]],
) -> None:
    made = [make_segment(key=key, conditions=conditions) for key, conditions in segments.items()]
    snapshot = compile_environment(ENVIRONMENT, [TargetedFlag(*each) for each in flags], made)
    body, recorded = evaluate(snapshot, user_id, user_email, custom)
    assert decide_part(snapshot, all_flags(snapshot), user_id, user_email, custom).recorded == recorded

    for decision in snapshot.layout.decisions(recorded):
        alone = find_flag(snapshot, decision.flag.key)
        assert alone is not None
        answer, own = evaluate_flag(snapshot, alone, user_id, user_email, custom)
        assert json.loads(answer) == json.loads(body)["flags"][decision.flag.key]
        assert alone.layout.decisions(own) == [decision]
