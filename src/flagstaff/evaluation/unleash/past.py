"""Remembers the flags that changed in an environment's last states, so that clients need not get the others."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

MAX_STEPS = 100
MAX_CHANGES = 1_000
"""The most changes of flags that are remembered, in all steps together."""


class _Step(NamedTuple):
    """The entity tag of a state, and the keys of the flags that changed when the next one followed."""

    tag: str
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Past:
    """The steps from one state to the next, up to the present one."""

    steps: tuple[_Step, ...] = ()

    def followed_by(self, tag: str, changed: Sequence[str]) -> "Past":
        """The past after another step. The oldest ones are forgotten if there are too many."""
        steps = [*self.steps, _Step(tag, tuple(changed))][-MAX_STEPS:]
        remembered = sum(len(step.changed) for step in steps)
        while remembered > MAX_CHANGES:
            remembered -= len(steps.pop(0).changed)
        return Past(tuple(steps))

    def since(self, tags: Collection[str]) -> list[str] | None:
        """The keys of all flags that have changed since the oldest state with one of these tags; None if none is known.

        They include flags that are again as they were then: the client may have got a state in between from a stream.
        """
        for place, step in enumerate(self.steps):
            if step.tag in tags:
                return sorted({key for each in self.steps[place:] for key in each.changed})
        return None
