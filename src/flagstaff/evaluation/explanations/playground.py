"""Decides flags for many users at once, to show the answers side by side. deciding.py has them decided."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from flagstaff.evaluation.explanations.deciding import needs_of, portions, prepare
from flagstaff.evaluation.explanations.flag_sets import FlagSet
from flagstaff.evaluation.explanations.tracing import DecidedFlag, Subject
from flagstaff.flags.flags import Flag
from flagstaff.flags.prerequisites import with_needed
from flagstaff.values.lists import empty

Difference = tuple[object, ...]
"""In what the answers of one flag can differ."""


@dataclass(slots=True)
class FlagAnswers:
    """The different answers of a flag, in the order in which users get them, and for each user which one it is."""

    flag: Flag
    answers: list[DecidedFlag] = field(default_factory=list)
    of_users: list[int] = field(default_factory=list)
    _places: dict[Difference, int] = field(default_factory=dict)

    def add(self, decided: DecidedFlag) -> None:
        """The answer for the next user."""
        decision = decided.decision
        difference = (decision.outcome, decision.prerequisite, decision.variant, decided.rank)
        place = self._places.setdefault(difference, len(self.answers))
        if place == len(self.answers):
            self.answers.append(decided)
        self.of_users.append(place)


def decide_for_each(
    flag_set: FlagSet, subjects: Sequence[Subject], keys: Sequence[str]
) -> Iterator[FlagAnswers | None]:
    """The answers of the flags with these keys that are in the set, in this order, for these users.

    The flags are used up. None stands where another user has been decided, so that a turn can end there.
    """
    known = [key for key in keys if key in flag_set.flags]
    needs = needs_of(flag_set)
    try:
        for some in portions(flag_set, known):
            decider = prepare(flag_set, with_needed(needs, some))
            found = {key: FlagAnswers(flag_set.flags[key].flag) for key in some}
            for subject in subjects:
                for answers, decided in zip(found.values(), decider.decide(subject, found), strict=True):
                    answers.add(decided)
                yield None
            yield from found.values()
            decider.free()
    finally:
        empty(needs, flag_set.flags)
