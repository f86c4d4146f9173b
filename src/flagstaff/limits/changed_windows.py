"""The windows of one limit that have changed since the other instances were told."""

from collections import deque
from collections.abc import Callable, Hashable
from typing import NamedTuple

from flagstaff.limits.exchange import FROM_NOW
from flagstaff.limits.window import AT_NEXT_HIT, Window


class Change(NamedTuple):
    """A window that is being told, and the number of its hits since the last time."""

    key: Hashable
    window: Window
    hits: int


class ChangedWindows:
    """Windows that wait until the others are told, the urgent ones first, then in the order of their changes.

    At most `capacity` wait. Beyond that, the one that has waited longest waits again after its next hit.
    """

    def __init__(self, capacity: int, begin: Callable[[], None], hurry: Callable[[], None]) -> None:
        """`begin` is called when one waits and none did before, and `hurry` when there is an urgent one."""
        self._capacity = capacity
        self._begin = begin
        self._hurry = hurry
        self._urgent: deque[tuple[Hashable, Window]] = deque()
        self._waiting: deque[tuple[Hashable, Window]] = deque()

    def __len__(self) -> int:
        """The number of keys that wait."""
        return len(self._waiting)

    def add(self, key: Hashable, window: Window) -> None:
        """Add a window that does not wait."""
        if len(self._waiting) >= self._capacity:
            self._waiting.popleft()[1].look_at = AT_NEXT_HIT
        if not self._waiting:
            self._begin()
        self._waiting.append((key, window))

    def track(self, key: Hashable, window: Window) -> None:
        """Add a window, unless it waits already."""
        if window.look_at == AT_NEXT_HIT:
            window.look_at = window.slot_ends
            self.add(key, window)

    def prioritise(self, key: Hashable, window: Window) -> None:
        """Put a window that waits before those that are not urgent."""
        self._urgent.append((key, window))
        self._hurry()

    def take(self, most: int) -> list[Change]:
        """At most this many windows that wait, which then wait no longer: their next hits make them wait again."""
        taken: list[Change] = []
        while len(taken) < most and (line := self._urgent or self._waiting):
            key, window = line.popleft()
            if window.look_at != AT_NEXT_HIT:  # otherwise it was taken when it was urgent
                taken.append(Change(key, window, window.total - window.told))
                window.told = window.total
                window.look_at = AT_NEXT_HIT
        return taken


def skip(changes: list[Change]) -> None:
    """Leave out what was to be told: the others may or may not know it, and nobody is told twice."""
    for change in changes:
        change.window.position = FROM_NOW
