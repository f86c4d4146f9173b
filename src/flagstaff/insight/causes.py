"""Causes: why a flag's result changed between two recorded evaluations of a user.

replays.py finds them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from typing import Any

from flagstaff.changes.changes import NumberedChange
from flagstaff.evaluation.explanations.tracing import Subject
from flagstaff.evaluation.history.answer_changes import Answer
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.evaluation.targets import BUILT_IN

SLACK = timedelta(seconds=5)
"""By how much the clocks of the instances that evaluated and changed may differ. A change may also have been seen a
moment before its call returned."""
ATTRIBUTES_MAX = 20


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
        return subject_of(self.values_before)

    @property
    def subject_after(self) -> Subject:
        """The user of the later evaluation."""
        return subject_of(self.values_after)


def find_differences(result: ResultChange, names: Collection[str]) -> list[AttributeDifference]:
    """The differences between two users in what a flag looks at: the id, the email, attributes and the time."""
    before, after = result.values_before, result.values_after
    looked_at = (set(names) - BUILT_IN) | {"user_id", "user_email"}
    found = (AttributeDifference(name, before.get(name), after.get(name)) for name in sorted(looked_at))
    return [each for each in found if each.before != each.after][:ATTRIBUTES_MAX]


def _values(evaluation: RecordedEvaluation, other: RecordedEvaluation) -> dict[str, Any]:
    """The user of an evaluation as attributes; what was not given is left out.

    An attribute that was not kept is taken from the other evaluation: it is likelier the same than missing.
    """
    kept = {name: value for name, value in other.values().items() if not evaluation.knows(name)}
    named = {"user_id": evaluation.user_id, "user_email": evaluation.user_email}
    return {**kept, **evaluation.values(), **{name: value for name, value in named.items() if value is not None}}


def subject_of(values: Mapping[str, Any]) -> Subject:
    """The user with these attributes."""
    rest = {name: value for name, value in values.items() if name not in BUILT_IN}
    return Subject(values.get("user_id"), values.get("user_email"), rest)
