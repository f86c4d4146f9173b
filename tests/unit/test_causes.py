"""The memory that the search for a cause uses."""

import asyncio
import gc
import itertools
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

from flagstaff.changes.changes import Actor, Change, NumberedChange, Scope, recorded
from flagstaff.evaluation.explanations.deciding import Decider
from flagstaff.evaluation.history.answer_changes import Answer
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.flags.flags import Flag, Rule
from flagstaff.insight.causes import Kind, ResultChange
from flagstaff.insight.past_states import PastStates, Trail
from flagstaff.insight.replays import find_cause
from tests.support.builders import AT, make_environment, make_flag, make_rule

_CHANGES = 30


async def test_however_many_states_are_tried_few_are_kept() -> None:
    environment = make_environment()
    flag = make_flag(environment)
    off, rule = replace(flag, enabled=False), make_rule(flag)
    states = [replace(rule, priority=n) for n in range(_CHANGES)]
    scope = Scope(flag.project_id, environment.id, flag.id, flag.key)
    changes = [_change(1, "flag.toggled", scope, flag, off)]
    for number, (before, after) in enumerate(itertools.pairwise(states), start=2):
        changes.append(_change(number, "rule.updated", scope, before, after))
    past = PastStates.read(Trail(environment, [off, states[-1]], changes))
    earlier, later = _evaluation(0), _evaluation(60)
    work = find_cause(past, ResultChange(flag.key, earlier, later, Answer(True, None), Answer(False, None)))
    kept = 0
    gc.freeze()  # so that only objects of this test are counted
    finding = asyncio.ensure_future(work)
    while not finding.done():
        kept = max(kept, sum(type(each) is Decider for each in gc.get_objects()))
        await asyncio.sleep(0)
    cause = finding.result()
    assert cause.kind is Kind.CHANGE
    assert [each.number for each in cause.changes] == [1]
    assert 0 < kept <= 3


def _evaluation(seconds: int) -> RecordedEvaluation:
    return RecordedEvaluation(uuid4(), AT + timedelta(seconds=seconds), "ada", None, Layout((), (), ()), b"", {})


def _change(number: int, action: str, scope: Scope, before: Flag | Rule, after: Flag | Rule) -> NumberedChange:
    at = AT + timedelta(seconds=20)
    made = Change(at, Actor(None, None), action, after.id, scope, recorded(before), recorded(after))
    return NumberedChange(number, made)
