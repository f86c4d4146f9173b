"""Causes: why a flag's result changed between two recorded evaluations of a user.

Both are decided again in the past states of the flag: before and after each change to what decides it. The state in
which the earlier evaluation has its recorded result, and that of the later one, tell whether a change made the
difference, or the user, or both; and going back from the later state tells which change it was.
"""

from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

from flagstaff.changes.changes import NumberedChange
from flagstaff.evaluation.explanations.deciding import Decider, prepare
from flagstaff.evaluation.explanations.tracing import Subject
from flagstaff.evaluation.history.answer_changes import Answer
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.evaluation.targets import BUILT_IN, CURRENT_TIME
from flagstaff.insight.past_states import PastStates

SLACK = timedelta(seconds=5)
"""By how much the clocks of the instances that evaluated and changed may differ. A change may also have been seen a
moment before its call returned."""
STATES_MAX = 500
"""Between two evaluations; each may have to be compiled."""
POSSIBLE_MAX = 5
ATTRIBUTES_MAX = 20
_KEPT = 3  # compiled states: the first, the last and the one that is tried; a state can have thousands of rules
_BESIDE = 10  # states that are tried before and after the one at the time of an evaluation


class Kind(StrEnum):
    """The kind of a cause."""

    CHANGE = "change"
    USER = "user"
    CHANGE_AND_USER = "change_and_user"
    POSSIBLE = "possible"
    UNRECORDED = "unrecorded"
    UNAVAILABLE = "unavailable"
    NOT_EXAMINED = "not_examined"


@dataclass(frozen=True, slots=True)
class AttributeDifference:
    """An attribute of the user with its values in both evaluations; None where it was not given."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class Cause:
    """The cause of a changed result.

    `changes` has the one that decided; for `POSSIBLE` the newest ones that may have. `attributes` are those that made
    the difference, as far as one of them alone does. The flag looks at `unknown` ones, which the history has not kept:
    unless there are none, the cause is not certain.
    """

    kind: Kind
    changes: Sequence[NumberedChange] = ()
    attributes: Sequence[AttributeDifference] = ()
    unknown: Sequence[str] = ()


UNAVAILABLE, NOT_EXAMINED = Cause(Kind.UNAVAILABLE), Cause(Kind.NOT_EXAMINED)


@dataclass(frozen=True, slots=True)
class ResultChange:
    """A flag that had one result in an evaluation of a user, and another one in a later evaluation."""

    flag_key: str
    earlier: RecordedEvaluation
    later: RecordedEvaluation
    before: Answer
    after: Answer

    @property
    def values_before(self) -> dict[str, Any]:
        """The user of the earlier evaluation, as attributes; of those that were not kept, the later values."""
        return _values(self.earlier, self.later)

    @property
    def values_after(self) -> dict[str, Any]:
        """The same of the later evaluation."""
        return _values(self.later, self.earlier)

    @property
    def subject_before(self) -> Subject:
        """The user of the earlier evaluation."""
        return _subject_of(self.values_before)

    @property
    def subject_after(self) -> Subject:
        """The user of the later evaluation."""
        return _subject_of(self.values_after)


def find_cause(states: PastStates, result: ResultChange) -> Generator[None, None, Cause]:
    """Find the cause of a change, in small steps."""
    changes = yield from states.changes_of(result.flag_key)
    replay = _Replay(states, result, changes)
    cause = yield from _find_with(replay, result, changes)
    yield from replay.free()
    return cause


def _find_with(
    replay: "_Replay", result: ResultChange, changes: Sequence[NumberedChange]
) -> Generator[None, None, Cause]:
    times = [each.change.at for each in changes]
    start = yield from replay.find(result.subject_before, result.before, _places(times, result.earlier.evaluated_at))
    end = None
    if start is not None:
        later = (each for each in _places(times, result.later.evaluated_at) if each >= start)
        end = yield from replay.find(result.subject_after, result.after, later)
    if start is None or end is None:
        return _possible(result, changes, times, replay)
    if end - start > STATES_MAX:
        return UNAVAILABLE
    return (yield from replay.explain(start, end))


class _Replay:
    """Decides the evaluations of one result in the states between changes. State 0 is before the first change."""

    def __init__(self, states: PastStates, result: ResultChange, changes: Sequence[NumberedChange]) -> None:
        self._states = states
        self._result = result
        self._changes = changes
        self._deciders: OrderedDict[int, Decider | None] = OrderedDict()
        self.attributes: set[str] = set()
        """The attributes that the flag looks at in one of the states that were decided."""

    def find(self, subject: Subject, wanted: Answer, places: Iterable[int]) -> Generator[None, None, int | None]:
        """The first of some states in which a user has an answer."""
        for place in places:
            answer = yield from self._answer(subject, place)
            if answer == wanted:
                return place
        return None

    def explain(self, start: int, end: int) -> Generator[None, None, Cause]:
        """The cause, if the earlier evaluation belongs to one state and the later one to another."""
        before, after = self._result.subject_before, self._result.subject_after
        wanted = self._result.after
        by_change = (yield from self._answer(before, end)) == wanted
        by_user = (yield from self._answer(after, start)) == wanted
        changes: Sequence[NumberedChange] = ()
        if by_change or not by_user:
            decisive = yield from self._find_decisive(before if by_change else after, start, end)
            changes = [self._changes[decisive - 1]]
        attributes: Sequence[AttributeDifference] = ()
        if by_user or not by_change:
            attributes = yield from self._find_attributes(start if by_user else end)
        kind = Kind.CHANGE_AND_USER
        if by_change != by_user:
            kind = Kind.CHANGE if by_change else Kind.USER
        # If the change alone turns the earlier result into the later one, the later user does not matter.
        needed = [self._result.earlier] if kind is Kind.CHANGE else [self._result.earlier, self._result.later]
        return Cause(kind, changes, attributes, self.unknown(needed))

    def unknown(self, needed: Sequence[RecordedEvaluation]) -> list[str]:
        """The attributes that the flag looks at and that were not kept with one of some evaluations."""
        return sorted(name for name in self.attributes if not all(each.knows(name) for each in needed))

    def free(self) -> Generator[None, None, None]:
        """Free the compiled states step by step, because freeing thousands of rules at once takes milliseconds."""
        while self._deciders:
            yield from self._free_oldest()

    def _free_oldest(self) -> Generator[None, None, None]:
        _, decider = self._deciders.popitem(last=False)
        yield
        if decider is not None:
            yield from decider.free()

    def _find_decisive(self, subject: Subject, start: int, end: int) -> Generator[None, None, int]:
        """The state from which on the user has the later answer, up to another state."""
        for place in range(end - 1, start, -1):
            if (yield from self._answer(subject, place)) != self._result.after:
                return place + 1
        return start + 1

    def _find_attributes(self, place: int) -> Generator[None, None, list[AttributeDifference]]:
        """The differences between the users of which one alone has the later answer follow; or all of them."""
        differences = find_differences(self._result, self.attributes)
        before, decisive = self._result.values_before, []
        for each in differences:
            altered = {**before, each.name: each.after}
            if each.after is None:
                del altered[each.name]
            if (yield from self._answer(_subject_of(altered), place)) == self._result.after:
                decisive.append(each)
        return decisive or differences

    def _answer(self, subject: Subject, place: int) -> Generator[None, None, Answer | None]:
        """The answer for a user in a state; None if there was no such flag."""
        key = self._result.flag_key
        if place in self._deciders:
            self._deciders.move_to_end(place)
        else:
            if len(self._deciders) == _KEPT:
                yield from self._free_oldest()
            self._deciders[place] = yield from self._prepare(place)
        decider = self._deciders[place]
        if decider is None:
            return None
        self.attributes.update(decider.attributes)
        decided = yield from decider.decide(subject, [key])
        return Answer.of(next(decided).decision)

    def _prepare(self, place: int) -> Generator[None, None, Decider | None]:
        number = self._changes[place - 1].number if place else -1
        flag_set = yield from self._states.rebuild(self._result.flag_key, number)
        if flag_set is None:
            return None
        return (yield from prepare(flag_set, list(flag_set.flags)))


def find_differences(result: ResultChange, names: Collection[str]) -> list[AttributeDifference]:
    """The differences between two users in what a flag looks at: the id, the email, attributes and the time."""
    before, after = result.values_before, result.values_after
    looked_at = (set(names) - BUILT_IN) | {"user_id", "user_email"}
    found = (AttributeDifference(name, before.get(name), after.get(name)) for name in sorted(looked_at))
    return [each for each in found if each.before != each.after][:ATTRIBUTES_MAX]


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


def _values(evaluation: RecordedEvaluation, other: RecordedEvaluation) -> dict[str, Any]:
    """The user of an evaluation as attributes; what was not given is left out.

    An attribute that was not kept is taken to be that of the other evaluation: it is likelier the same than missing.
    """
    kept = {name: value for name, value in other.values().items() if not evaluation.knows(name)}
    named = {"user_id": evaluation.user_id, "user_email": evaluation.user_email}
    return {**kept, **evaluation.values(), **{name: value for name, value in named.items() if value is not None}}


def _subject_of(values: Mapping[str, Any]) -> Subject:
    rest = {name: value for name, value in values.items() if name not in BUILT_IN}
    return Subject(values.get("user_id"), values.get("user_email"), rest)
