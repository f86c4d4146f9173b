"""One key's hits within the window of a limit: the data that the hot path of limiter.py reads and writes."""

from array import array
from collections.abc import Sequence

AT_NEXT_HIT = float("-inf")


class Window:
    """One key's hits. Hits in the same slot, 1/240 of the window, share the time of the slot's latest hit.

    `total` is `told` and the hits that the other instances do not know yet. Without other instances, `told` has no
    meaning.
    """

    __slots__ = ("latest", "look_at", "look_from", "older", "older_total", "position", "slot_ends", "told", "total")

    def __init__(self, now: float, slot_ends: float, look_from: int) -> None:
        self.total = 1
        self.latest = now
        self.slot_ends = slot_ends
        self.older_total = 0
        # Earlier slots as latest, hits, latest, hits, …; most keys never need it.
        self.older: array[float] | None = None
        # The next hit looks closer from this time on, and from this total on: at the end of the slot, and at the limit.
        # With other instances, it looks sooner.
        self.look_at = slot_ends
        self.look_from = look_from
        self.told = 0
        self.position: object = None  # up to where the hits of other instances are in `total`

    def turn(self, now: float, slot_seconds: float, window_seconds: float) -> None:
        """Close the slot that has ended, and start another."""
        hits = self.total - self.older_total
        if hits:
            if self.older is None:
                self.older = array("d")
            self.older.extend((self.latest, hits))
            self.older_total = self.total
        self.slot_ends = now + slot_seconds
        self.forget_old(now, window_seconds)

    def forget_old(self, now: float, window_seconds: float) -> None:
        """Remove the slots that have left the window."""
        older = self.older
        if not older or now < older[0] + window_seconds:
            return
        old = forgotten = 0
        while old < len(older) and now >= older[old] + window_seconds:
            forgotten += int(older[old + 1])
            old += 2
        del older[:old]
        self.older_total -= forgotten
        self.total -= forgotten
        self.told -= forgotten

    def take_back(self) -> bool:
        """Remove the latest hit, if there is one."""
        if not self.total:
            return False
        if self.older and self.total == self.older_total:
            self.older_total -= 1
            self.older[-1] -= 1
            if not self.older[-1]:
                del self.older[-2:]
        self.total -= 1
        return True

    def add_told(self, hits: Sequence[tuple[float, int]], slot_began: float) -> None:
        """Add hits of other instances, as their times and numbers, oldest first; negative numbers take hits back."""
        earlier: list[tuple[float, int]] = []
        for moment, number in _without_taken_back(hits):
            if number < 0:
                self.told -= sum(self.take_back() for _ in range(-number))
                continue
            if moment < slot_began:
                earlier.append((moment, number))
                self.older_total += number
            else:
                self.latest = max(self.latest, moment)
            self.total += number
            self.told += number
        if earlier:
            older = self.older or array("d")
            slots = sorted([*zip(older[::2], (int(each) for each in older[1::2]), strict=True), *earlier])
            self.older = array("d", [part for slot in slots for part in slot])


def _without_taken_back(hits: Sequence[tuple[float, int]]) -> list[tuple[float, int]]:
    """The same hits, where those that were taken back are gone; what is still negative comes first."""
    kept: list[tuple[float, int]] = []
    missing = 0
    for moment, number in hits:
        left = number
        while left < 0 and kept:
            last_moment, last_number = kept.pop()
            left += last_number
            if left > 0:
                kept.append((last_moment, left))
        if left < 0:
            missing += left
        elif number > 0:
            kept.append((moment, number))
    return [(float("-inf"), missing), *kept] if missing else kept
