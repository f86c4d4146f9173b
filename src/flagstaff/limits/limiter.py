"""The sliding window that limits evaluations and the account endpoints. For one event loop: it takes no lock.

We do not use `limits` 5.8 (moving window, in memory) because it is too slow for the hot path. Measured per hit with
CPython 3.11: 4 to 12 µs there, 0.23 µs here; a whole evaluation takes 8 µs of Python. The tests compare the two.

Several instances can share a limit (shared_limits.py). A hit costs the same then: the exchange makes a key's next hit
look closer, which notes that the key has changed.
"""

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from math import ceil

from flagstaff.limits.changed_windows import ChangedWindows
from flagstaff.limits.exchange import SLOTS
from flagstaff.limits.window import Window


class SlidingWindow:
    """At most `count` hits of a key within any `window_seconds`.

    It never allows more, except by `hit_many`, and a key waits at most 1/240 of the window longer than by the exact
    rule. It holds `capacity` keys, a few hundred bytes each; beyond that the least recently active key is dropped.
    """

    def __init__(
        self,
        count: int,
        window_seconds: float,
        clock: Callable[[], float] = time.monotonic,
        capacity: int = 200_000,
    ) -> None:
        self.window_seconds = window_seconds
        self._count = count
        self._slot_seconds = window_seconds / SLOTS
        self._longest_wait_seconds = ceil(window_seconds)
        self._clock = clock
        self._capacity = capacity
        self._windows: OrderedDict[Hashable, Window] = OrderedDict()
        self._changed: ChangedWindows | None = None
        self._participants = 1
        self._first_look = count

    def __len__(self) -> int:
        """The number of keys that are held."""
        return len(self._windows)

    def hit(self, key: Hashable) -> int:
        """Count a hit and return 0, or refuse it and return the whole seconds until one would be allowed."""
        now = self._clock()
        window = self._windows.get(key)
        if window is None:
            return self._open(key, now)
        if now >= window.look_at:
            self._turn(key, window, now)
        if window.total >= window.look_from:
            seconds = self._seconds_until_room(key, window, now)
            if seconds > 0:
                # A sum of floats may be slightly too large; no wait is longer than the window.
                return min(ceil(seconds), self._longest_wait_seconds)
        window.total += 1
        window.latest = now
        return 0

    def hit_many(self, key: Hashable, hits: int) -> int:
        """Count several hits at once if one is allowed, and return 0, or refuse them as `hit` does.

        They may exceed the limit: otherwise more hits than the limit would be refused for ever.
        """
        wait_seconds = self.hit(key)
        if not wait_seconds:
            self._windows[key].total += hits - 1
        return wait_seconds

    def forgive(self, key: Hashable) -> None:
        """Take back the latest hit of a key, if it still counts."""
        window = self._windows.get(key)
        if window is None or not window.take_back():
            return
        if self._changed is not None:
            self._changed.track(key, window)
        elif not window.total:
            del self._windows[key]

    def known(self, key: Hashable) -> int:
        """The hits of a key within the window, as far as this instance knows; a later call knows others' requests."""
        now = self._clock()
        window = self._windows.get(key)
        if window is not None:
            self._turn(key, window, now)
        elif self._changed is None:
            return 0
        else:
            self._open(key, now)
            window = self._windows[key]
            window.take_back()
        window.forget_old(now, self.window_seconds)
        return window.total

    def share(self, begin: Callable[[], None], hurry: Callable[[], None]) -> ChangedWindows:
        """From now on, note the keys that change.

        `begin` is called when the other instances should know of the first, and `hurry` when they should at once.
        """
        self._changed = ChangedWindows(self._capacity, begin, hurry)
        return self._changed

    def share_among(self, participants: int) -> None:
        """Set the number of instances that count hits: the more, the sooner each tells of many hits of a key."""
        self._participants = participants
        self._first_look = self._next_look(0)

    def add_told(self, window: Window, hits: Sequence[tuple[float, int]], position: object) -> None:
        """Add the hits that other instances have told, as ages in seconds and numbers, oldest first."""
        window.position = position
        if hits:
            now = self._clock()
            if now >= window.slot_ends:
                window.turn(now, self._slot_seconds, self.window_seconds)
            recent = [(now - age, number) for age, number in hits if age < self.window_seconds]
            window.add_told(recent, window.slot_ends - self._slot_seconds)
        window.look_from = self._next_look(window.total)

    def _next_look(self, total: int) -> int:
        """The total at which the others are told at once: after a quarter of this instance's part of what is left."""
        if self._participants == 1:
            return self._count
        return min(self._count, total + max(1, (self._count - total) // (4 * self._participants)))

    def _open(self, key: Hashable, now: float) -> int:
        # Each new key removes two stale ones, so that a flood is cleared as fast as it came.
        for _ in range(2):
            if self._windows and now >= next(iter(self._windows.values())).latest + self.window_seconds:
                self._windows.popitem(last=False)
        if len(self._windows) >= self._capacity:
            self._windows.popitem(last=False)
        window = self._windows[key] = Window(now, now + self._slot_seconds, self._first_look)
        if self._changed is not None:
            self._changed.add(key, window)
        return 0

    def _turn(self, key: Hashable, window: Window, now: float) -> None:
        """Start another slot if one has ended; once per slot, which keeps the least active key first."""
        if self._changed is not None:
            self._changed.track(key, window)
        if now >= window.slot_ends:
            window.turn(now, self._slot_seconds, self.window_seconds)
            window.look_at = window.slot_ends
            self._windows.move_to_end(key)

    def _seconds_until_room(self, key: Hashable, window: Window, now: float) -> float:
        window.forget_old(now, self.window_seconds)
        if window.total < self._count:
            if self._changed is not None and window.look_from < self._count:
                window.look_from = self._count
                self._changed.prioritise(key, window)
            return 0
        oldest = window.older[0] if window.older else window.latest
        return oldest + self.window_seconds - now
