"""Compares how a flag is decided before and after a change, for evaluations that the history has recorded."""

from collections.abc import Sequence
from enum import StrEnum

from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.subset import evaluate_flag, find_flag
from flagstaff.evaluation.targets import NO_CONTENTS

Answer = tuple[bool, str | None, str | None]
"""A result of a flag: True if it is on, and the key and the value of the variant."""


class Effect(StrEnum):
    """The effect of a change on a user."""

    NONE = "none"
    TURNED_ON = "turned_on"
    TURNED_OFF = "turned_off"
    VARIANT_CHANGED = "variant_changed"
    UNKNOWN = "unknown"


class Comparison:
    """Compares two versions of a flag; each snapshot has one, with all flags that it needs."""

    def __init__(self, before: EnvironmentSnapshot, after: EnvironmentSnapshot, key: str) -> None:
        self._versions = [_Version(before, key), _Version(after, key)]
        self._attributes = sorted(
            {name for each in (before, after) if each.targeting is not None for name in each.targeting.attributes}
        )

    def unknown_in(self, evaluation: RecordedEvaluation) -> Sequence[str]:
        """The attributes that either version looks at, and that were not kept with the evaluation, by name."""
        return [name for name in self._attributes if not evaluation.knows(name)]

    def effect(self, evaluation: RecordedEvaluation) -> Effect:
        """The change's effect on the user; UNKNOWN if an attribute that either version looks at was not kept."""
        if self.unknown_in(evaluation):
            return Effect.UNKNOWN
        before, after = (version.answer(evaluation) for version in self._versions)
        if before == after:
            return Effect.NONE
        if before[0] == after[0]:
            return Effect.VARIANT_CHANGED
        return Effect.TURNED_ON if after[0] else Effect.TURNED_OFF


class _Version:
    """One version of the flag."""

    def __init__(self, snapshot: EnvironmentSnapshot, key: str) -> None:
        flag = find_flag(snapshot, key)
        assert flag is not None
        self._snapshot, self._flag = snapshot, flag
        self._values = snapshot.contents.get(key, NO_CONTENTS).values

    def answer(self, evaluation: RecordedEvaluation) -> Answer:
        """The result of an evaluation of the same user."""
        _, recorded = evaluate_flag(
            self._snapshot, self._flag, evaluation.user_id, evaluation.user_email, evaluation.values()
        )
        (decision,) = self._flag.layout.decisions(recorded)
        value = None if decision.variant is None else self._values[decision.variant]
        return decision.outcome.enabled, decision.variant, value
