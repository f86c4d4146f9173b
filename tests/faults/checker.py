"""Decides after a run whether an evaluation saw a state older than a change that was confirmed before it began.

The changes of one flag are made one after the other. Only the changes of one turn, which ask for the same state, may be
made at the same time. A change whose outcome is unknown may or may not be effective until the next confirmed change:
both states are allowed. A write that changed nothing must meet the same conditions as one that changed something.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from tests.faults.histories import Evaluation, Outcome, Toggle


@dataclass(frozen=True, slots=True)
class Violation:
    """An evaluation, and the latest change that it should have seen; None if only a mark is wrong."""

    evaluation: Evaluation
    toggle: Toggle | None
    why: str

    def __str__(self) -> str:
        seen = self.evaluation
        if self.toggle is None:
            return f"instance {seen.instance}: {self.why} ({seen.user})"
        late = (seen.started - self.toggle.ended) / 1e9
        return (
            f"instance {seen.instance}: {self.why}; it began {late:.3f} s after the change of {self.toggle.flag} to "
            f"{self.toggle.enabled} at instance {self.toggle.instance} was confirmed (revision {self.toggle.revision}, "
            f"answer {seen.revision}, {seen.user})"
        )


def find_violations(
    toggles: Iterable[Toggle],
    evaluations: Iterable[Evaluation],
    others: Iterable[Toggle] = (),
    *,
    marks_allowed: bool,
) -> list[Violation]:
    """Return all violations, in the order of the evaluations.

    `others` are writes that asked for no change of a flag, with the revision that they found. With `marks_allowed`,
    answers may be marked as stale; without it, a mark is a violation.
    """
    by_flag = defaultdict(list)
    for toggle in sorted(toggles, key=lambda each: each.started):
        by_flag[toggle.flag].append(toggle)
    registers = [_Register(each) for each in by_flag.values()]
    revisions = _Revisions([*(each for changes in by_flag.values() for each in changes), *others])
    found = []
    for evaluation in evaluations:
        if evaluation.status != 200:
            continue
        if evaluation.stale is not None:
            if not marks_allowed:
                found.append(Violation(evaluation, None, f"an answer was marked as {evaluation.stale} s old"))
            continue
        missed = revisions.missed_by(evaluation) or next(
            filter(None, (each.missed_by(evaluation) for each in registers)), None
        )
        if missed:
            found.append(missed)
    return found


class _Register:
    """The changes of one flag, in the order in which they began."""

    def __init__(self, toggles: Sequence[Toggle]) -> None:
        for before, after in pairwise(toggles):
            is_same_turn = before.turn is not None and before.turn == after.turn
            assert is_same_turn or before.ended <= after.started, (
                f"{after.flag} was changed by two clients at the same time"
            )
        self._toggles = [each for each in toggles if each.outcome is not Outcome.REFUSED]
        made = [place for place, each in enumerate(self._toggles) if each.outcome is Outcome.MADE]
        self._made = sorted(made, key=lambda place: self._toggles[place].ended)
        self._ends = [self._toggles[place].ended for place in self._made]

    def missed_by(self, evaluation: Evaluation) -> Violation | None:
        known = bisect_left(self._ends, evaluation.started) - 1
        if known < 0:
            return None
        place = self._made[known]
        latest = self._toggles[place]
        seen = latest.flag in evaluation.on
        if seen in self._allowed(place, evaluation.ended):
            return None
        return Violation(evaluation, latest, f"{latest.flag} was {'on' if seen else 'off'}")

    def _allowed(self, place: int, until: int) -> Collection[bool | None]:
        latest = self._toggles[place]
        states = {latest.enabled}
        for each in self._toggles[place + 1 :]:
            if each.started > until or len(states) == 2:
                break
            if latest.turn is None or each.turn != latest.turn:
                states |= {True, False} if each.enabled is None else {each.enabled}
        return states


class _Revisions:
    """The highest revision of all changes whose answer had been received by a time."""

    def __init__(self, toggles: Iterable[Toggle]) -> None:
        made = [each for each in toggles if each.outcome is Outcome.MADE and each.revision is not None]
        made.sort(key=lambda each: each.ended)
        self._ends = [each.ended for each in made]
        self._highest = list(accumulate(made, _newer))

    def missed_by(self, evaluation: Evaluation) -> Violation | None:
        known = bisect_left(self._ends, evaluation.started) - 1
        if known < 0 or evaluation.revision is None:
            return None
        latest = self._highest[known]
        if evaluation.revision >= (latest.revision or 0):
            return None
        return Violation(evaluation, latest, "the answer has an older revision")


def _newer(one: Toggle, other: Toggle) -> Toggle:
    return max(one, other, key=lambda each: each.revision or 0)
