"""Finds where the answers of flags changed between the evaluations of one user.

A flag is compared with its own last answer, because an evaluation may have decided other flags only. So a flag that was
created or deleted between two evaluations has not changed.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from flagstaff.evaluation.history.layout import Decision
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.values.lists import empty


class Answer(NamedTuple):
    """A result of a flag: True if it is on, and the key of its variant."""

    enabled: bool
    variant: str | None

    @classmethod
    def of(cls, decision: Decision) -> "Answer":
        """The answer in a decision."""
        return cls(decision.outcome.enabled, decision.variant)


class AnswerChange(NamedTuple):
    """A flag's answer in one evaluation and in the next one that decided the flag."""

    earlier: RecordedEvaluation
    later: RecordedEvaluation
    before: Decision
    after: Decision


@dataclass(slots=True)
class _Run:
    """Successive evaluations with equal results: the oldest so far."""

    oldest: RecordedEvaluation


class AnswerChanges:
    """The changes between evaluations that are added from the newest on."""

    def __init__(self) -> None:
        self.found: list[AnswerChange] = []
        self.compared = 0
        self._known: dict[UUID, tuple[Decision, _Run]] = {}
        self._last: _Run | None = None

    @property
    def oldest(self) -> RecordedEvaluation | None:
        """The evaluation that was added last."""
        return self._last.oldest if self._last else None

    def open_ends(self) -> list[RecordedEvaluation]:
        """The evaluations with the last answer of each flag so far, newest first.

        A comparison that begins with these goes on as this one would.
        """
        runs = {id(run): run for _, run in self._known.values()}
        return sorted((run.oldest for run in runs.values()), key=lambda each: each.id, reverse=True)

    def resume(self, ends: Iterable[RecordedEvaluation]) -> None:
        """Begin with evaluations whose changes are known, newest first."""
        for evaluation in ends:
            self.add(evaluation)
        self.found.clear()
        self.compared = 0

    def free(self) -> None:
        """Free the last answer of each flag, when nothing more is compared."""
        self._last = None
        return empty(self._known)

    def add(self, evaluation: RecordedEvaluation) -> None:
        """Compare an evaluation with those that are newer."""
        last = self._last
        if last and last.oldest.layout is evaluation.layout and last.oldest.recorded == evaluation.recorded:
            last.oldest = evaluation
            return
        run = self._last = _Run(evaluation)
        for decision in evaluation.each_decision():
            after, since = self._known.get(decision.flag.id, (decision, run))
            if Answer.of(decision) != Answer.of(after):
                self.found.append(AnswerChange(evaluation, since.oldest, decision, after))
            self._known[decision.flag.id] = decision, run
            self.compared += 1
