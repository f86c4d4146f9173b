"""Filters for the evaluations of the history."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from flagstaff.evaluation.history.layout import RULE_BASE, Layout, LayoutFlag


class Check(NamedTuple):
    """A test of a column of the recorded bytes: it must be one of the bytes for which `passes` is 1."""

    column: int
    passes: bytes


class Checks(NamedTuple):
    """The tests that evaluations of a layout must pass: one for all flags, and one for the flag in a place alone.

    Without a place, every evaluation passes.
    """

    of_all: Sequence[Check] = ()
    place: int | None = None
    of_one: Sequence[Check] = ()


@dataclass(frozen=True, slots=True)
class FlagFilter:
    """Evaluations of a flag by its id, or else of those that had its key, or else of any flag that the rule decided.

    `enabled` narrows them to those with the flag on, or off, `variant` to those with this variant, and `rule_id` to
    those in which the rule matched. Only the flags for which a layout lists what can decide them record the rule.
    """

    flag_id: UUID | None = None
    key: str | None = None
    enabled: bool | None = None
    rule_id: UUID | None = None
    variant: str | None = None

    def search(self, layout: Layout) -> Checks | None:
        """Return the tests that the bytes of an evaluation with this layout must pass; None if no evaluation can match.

        A layout may have thousands of flags and rules, so this is for a thread.
        """
        for position, flag in enumerate(layout.recorded):
            if self._is(flag):
                of_all = self._checks(layout, position, flag)
                of_one = self._checks(layout.alone(position), 0, flag)
                return None if of_all is None or of_one is None else Checks(of_all, position, of_one)
        if self.rule_id is not None or self.variant is not None:
            return None
        for place, flag in enumerate(layout.constant, len(layout.recorded)):
            if self._is(flag):
                return Checks(place=place) if self.enabled in (None, flag.default.enabled) else None
        return None

    def _is(self, flag: LayoutFlag) -> bool:
        if self.flag_id is None and self.key is None:
            return any(decider.rule_id == self.rule_id for decider in flag.deciders)
        return flag.id == self.flag_id if self.flag_id is not None else flag.key == self.key

    def _checks(self, layout: Layout, position: int, flag: LayoutFlag) -> list[Check] | None:
        checks = []
        if self.enabled is not None or self.variant is not None:
            is_on = flag.on_by_byte
            checks.append(Check(position, bytes(not on for on in is_on) if self.enabled is False else is_on))
        if self.rule_id is not None:
            places = [place for place, decider in enumerate(flag.deciders) if decider.rule_id == self.rule_id]
            if not places:
                return None
            checks.append(Check(position, _table(RULE_BASE + place for place in places)))
        if self.variant is not None:
            if self.enabled is False or self.variant not in flag.variants:
                return None
            checks.append(Check(layout.variant_columns[position], _table((flag.variants.index(self.variant),))))
        return checks


def _table(passing: Iterable[int]) -> bytes:
    table = bytearray(256)
    for byte in passing:
        table[byte] = 1
    return bytes(table)


@dataclass(frozen=True, slots=True)
class EvaluationFilter:
    """A filter of evaluations; None means any. `since` is inclusive, `until` is exclusive."""

    user_id: str | None = None
    user_email: str | None = None
    flag: FlagFilter | None = None
    since: datetime | None = None
    until: datetime | None = None
