"""Flags as the history knows them. A flag is its id: one that is created under the key of a deleted one is another."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple
from uuid import UUID

UNNAMED = UUID(int=0)
"""In the place of an id: further flags that had a key in an hour or a day; see flag_counts.py."""


class RecordedFlag(NamedTuple):
    """A flag of the history. The id is None for flags that had the key before, where it was not recorded which."""

    key: str
    id: UUID | None

    def order(self) -> tuple[str, UUID]:
        """Return its place in the order of keys and ids, in which flags were created."""
        return self.key, self.id or UNNAMED


class PresentFlag(NamedTuple):
    """The flag that has a key now: its id, and the minute of its creation, counted from 1970."""

    id: UUID
    first_minute: int


def recorded_flag(key: str, flag_id: UUID | None, present: PresentFlag | None, minute: int) -> RecordedFlag:
    """Return the flag of counts of a minute. Earlier releases have not stored its id: then the time tells it.

    A key has one flag at a time, so what was counted since the present one was created is its own.
    """
    if flag_id is None and present is not None and minute >= present.first_minute:
        flag_id = present.id
    return RecordedFlag(key, None if flag_id == UNNAMED else flag_id)


def own_flags(flags: Iterable[RecordedFlag], present: Mapping[str, PresentFlag]) -> Mapping[str, RecordedFlag]:
    """Return for each key the flag that it stands for: the present one, or else the one that had it last."""
    own: dict[str, RecordedFlag] = {}
    for flag in flags:
        now, known = present.get(flag.key), own.get(flag.key)
        if now is not None:
            own[flag.key] = RecordedFlag(flag.key, now.id)
        elif known is None or known.order() < flag.order():
            own[flag.key] = flag
    return own
