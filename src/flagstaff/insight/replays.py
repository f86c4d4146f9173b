"""Finds the causes of changed results.

Both evaluations are decided again in the past states of the flag: before and after each change to what decides it. The
state in which the earlier evaluation has its recorded result, and the same of the later one, tell whether a change made
the difference, or the user, or both; and going back from the later state tells which change it was.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from datetime import datetime

from flagstaff.changes.changes import NumberedChange
from flagstaff.concurrency.worker import in_worker
from flagstaff.evaluation.explanations.deciding import Decider, prepare
from flagstaff.evaluation.explanations.tracing import Subject
from flagstaff.evaluation.history.answer_changes import Answer
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.evaluation.targets import CURRENT_TIME
from flagstaff.insight.causes import (
    SLACK,
    UNAVAILABLE,
    AttributeDifference,
    Cause,
    Kind,
    ResultChange,
    find_differences,
    subject_of,
)
from flagstaff.insight.past_states import PastStates

STATES_MAX = 500
"""Between two evaluations; each may have to be compiled."""
POSSIBLE_MAX = 5
_KEPT = 3  # compiled states: the first, the last and the one that is tried; a state can have thousands of rules
_BESIDE = 10  # states that are tried before and after the one at the time of an evaluation


async def find_cause(states: PastStates, result: ResultChange) -> Cause:
    """Find the cause of a change."""
    changes = states.changes_of(result.flag_key)
    replay = _Replay(states, result, changes)
    try:
        return await _find_with(replay, result, changes)
    finally:
        await in_worker(replay.free)


async def _find_with(replay: "_Replay", result: ResultChange, changes: Sequence[NumberedChange]) -> Cause:
    times = [each.change.at for each in changes]
    start = await replay.find(result.subject_before, result.before, _places(times, result.earlier.evaluated_at))
    end = None
    if start is not None:
        later = (each for each in _places(times, result.later.evaluated_at) if each >= start)
        end = await replay.find(result.subject_after, result.after, later)
    if start is None or end is None:
        return _possible(result, changes, times, replay)
    if end - start > STATES_MAX:
        return UNAVAILABLE
    return await replay.explain(start, end)


class _Replay:
    """Decides the evaluations of one result in the states between changes. State 0 is before the first change."""

    def __init__(self, states: PastStates, result: ResultChange, changes: Sequence[NumberedChange]) -> None:
        self._states = states
        self._result = result
        self._changes = changes
        self._deciders: OrderedDict[int, Decider | None] = OrderedDict()
        self.attributes: set[str] = set()
        """The attributes that the flag looks at in one of the states that were decided."""

    async def find(self, subject: Subject, wanted: Answer, places: Iterable[int]) -> int | None:
        """The first of some states in which a user has an answer."""
        for place in places:
            answer = await self._answer(subject, place)
            if answer == wanted:
                return place
        return None

    async def explain(self, start: int, end: int) -> Cause:
        """The cause, if the earlier evaluation belongs to one state and the later one to another."""
        before, after = self._result.subject_before, self._result.subject_after
        wanted = self._result.after
        by_change = await self._answer(before, end) == wanted
        by_user = await self._answer(after, start) == wanted
        changes: Sequence[NumberedChange] = ()
        if by_change or not by_user:
            decisive = await self._find_decisive(before if by_change else after, start, end)
            changes = [self._changes[decisive - 1]]
        attributes: Sequence[AttributeDifference] = ()
        if by_user or not by_change:
            attributes = await self._find_attributes(start if by_user else end)
        kind = Kind.CHANGE_AND_USER
        if by_change != by_user:
            kind = Kind.CHANGE if by_change else Kind.USER
        # If the change alone turns the earlier result into the later one, the later user does not matter.
        needed = [self._result.earlier] if kind is Kind.CHANGE else [self._result.earlier, self._result.later]
        return Cause(kind, changes, attributes, self.unknown(needed))

    def unknown(self, needed: Sequence[RecordedEvaluation]) -> list[str]:
        """The attributes that the flag looks at and that were not kept with one of some evaluations."""
        return sorted(name for name in self.attributes if not all(each.knows(name) for each in needed))

    def free(self) -> None:
        """Free the compiled states."""
        while self._deciders:
            self._free_oldest()

    def _free_oldest(self) -> None:
        _, decider = self._deciders.popitem(last=False)
        if decider is not None:
            decider.free()

    async def _find_decisive(self, subject: Subject, start: int, end: int) -> int:
        """The state from which on the user has the later answer, up to another state."""
        for place in range(end - 1, start, -1):
            if await self._answer(subject, place) != self._result.after:
                return place + 1
        return start + 1

    async def _find_attributes(self, place: int) -> list[AttributeDifference]:
        """The differences between the users of which one alone has the later answer follow; or all of them."""
        differences = find_differences(self._result, self.attributes)
        before, decisive = self._result.values_before, []
        for each in differences:
            altered = {**before, each.name: each.after}
            if each.after is None:
                del altered[each.name]
            if await self._answer(subject_of(altered), place) == self._result.after:
                decisive.append(each)
        return decisive or differences

    async def _answer(self, subject: Subject, place: int) -> Answer | None:
        """The answer for a user in a state; None if there was no such flag."""
        return await in_worker(self._decide, subject, place)

    def _decide(self, subject: Subject, place: int) -> Answer | None:
        key = self._result.flag_key
        if place in self._deciders:
            self._deciders.move_to_end(place)
        else:
            if len(self._deciders) == _KEPT:
                self._free_oldest()
            self._deciders[place] = self._prepare(place)
        decider = self._deciders[place]
        if decider is None:
            return None
        self.attributes.update(decider.attributes)
        decided = decider.decide(subject, [key])
        return Answer.of(next(decided).decision)

    def _prepare(self, place: int) -> Decider | None:
        number = self._changes[place - 1].number if place else -1
        flag_set = self._states.rebuild(self._result.flag_key, number)
        if flag_set is None:
            return None
        return prepare(flag_set, list(flag_set.flags))


def _possible(
    result: ResultChange, changes: Sequence[NumberedChange], times: Sequence[datetime], replay: _Replay
) -> Cause:
    """The cause if an evaluation does not have its result in any state: what has changed in the meantime."""
    start = bisect_right(times, result.earlier.evaluated_at - SLACK)
    end = bisect_right(times, result.later.evaluated_at + SLACK)
    newest = [*reversed(changes[start:end])][:POSSIBLE_MAX]
    differences = [each for each in find_differences(result, replay.attributes) if each.name != CURRENT_TIME]
    kind = Kind.POSSIBLE if newest or differences else Kind.UNRECORDED
    return Cause(kind, newest, differences, replay.unknown([result.earlier, result.later]))


def _places(times: Sequence[datetime], at: datetime) -> list[int]:
    """The states that an evaluation may have seen, by their places: the likeliest first."""
    likely = bisect_right(times, at)
    first, last = bisect_right(times, at - SLACK), bisect_right(times, at + SLACK)
    beside = range(max(first, likely - _BESIDE), min(last, likely + _BESIDE) + 1)
    return sorted(beside, key=lambda each: abs(each - likely))
