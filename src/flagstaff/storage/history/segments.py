"""Segments: some hundred successive evaluations of one environment and one layout, packed column by column into a row.

Every evaluate call passes through here, so work per evaluation is done in loops that run in C.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from struct import pack
from typing import cast
from zlib import crc32

import msgspec

from flagstaff.domain.accounts import email_identity
from flagstaff.evaluation.history.records import RecordGroup

SEGMENT_VERSION = 1  # of a segment's content: columns as msgpack; the layout says what the recorded bytes mean
SEGMENT_SIZE = 500  # how many evaluations are packed at once, which blocks the event loop
CONTINUED_SIZE = 100  # a segment with fewer is continued by one with fewer
NANOSECONDS_A_SPAN = 3600 * 10**9  # no segment crosses the full hour, so the old ones can be dropped whole
MICROSECONDS_A_SPAN = NANOSECONDS_A_SPAN // 1000


class Columns(msgspec.Struct, array_like=True):
    """The evaluations: times in nanoseconds since 1970, users, and all recorded bytes, joined."""

    times: Sequence[int]
    users: Sequence[str | None]
    emails: Sequence[str | None]
    recorded: bytes


class StoredColumns(msgspec.Struct, array_like=True, dict=True):
    """Columns as they were stored; each is decoded when it is read."""

    packed_times: msgspec.Raw
    packed_users: msgspec.Raw
    packed_emails: msgspec.Raw
    recorded: bytes

    @cached_property
    def times(self) -> list[int]:
        """In nanoseconds since 1970."""
        return msgspec.msgpack.decode(self.packed_times, type=list[int])

    @cached_property
    def users(self) -> list[str | None]:
        """The user ids."""
        return msgspec.msgpack.decode(self.packed_users, type=list[str | None])

    @cached_property
    def emails(self) -> list[str | None]:
        """The users' emails."""
        return msgspec.msgpack.decode(self.packed_emails, type=list[str | None])


@dataclass(slots=True)
class Segment:
    """A row: times in microseconds since 1970, a 32-bit hash of each user id and email, and the packed columns."""

    environment: int
    layout_id: int
    first_time: int
    last_time: int
    size: int
    user_hashes: bytes
    email_hashes: bytes
    content: bytes

    @property
    def stored_bytes(self) -> int:
        """The size of the row, without its small columns."""
        return len(self.content) + len(self.user_hashes) + len(self.email_hashes)

    def continues(self, before: "Segment") -> bool:
        """Whether the segment may be written into an earlier one."""
        return (
            before.size < CONTINUED_SIZE
            and before.layout_id == self.layout_id
            and before.last_time <= self.first_time
            and before.first_time // MICROSECONDS_A_SPAN == self.first_time // MICROSECONDS_A_SPAN
        )

    def and_then(self, later: "Segment") -> "Segment":
        """This segment and what continues it."""
        mine, its = unpack(SEGMENT_VERSION, self.content), unpack(SEGMENT_VERSION, later.content)
        columns = Columns(
            mine.times + its.times, mine.users + its.users, mine.emails + its.emails, mine.recorded + its.recorded
        )
        return Segment(
            environment=self.environment,
            layout_id=self.layout_id,
            first_time=self.first_time,
            last_time=later.last_time,
            size=self.size + later.size,
            user_hashes=self.user_hashes + later.user_hashes,
            email_hashes=self.email_hashes + later.email_hashes,
            content=msgspec.msgpack.encode(columns),
        )


def pack_segments(group: RecordGroup, *, environment: int, layout_id: int) -> Iterator[tuple[Segment, Columns]]:
    """Segments of a group's evaluations, oldest first, with their content."""
    for start in range(0, len(group.times), SEGMENT_SIZE):
        some = slice(start, start + SEGMENT_SIZE)
        segment, columns = _pack(group, some, environment, layout_id)
        if segment.first_time // MICROSECONDS_A_SPAN == segment.last_time // MICROSECONDS_A_SPAN:
            yield segment, columns
        else:
            for _, run in runs(group.times[some], NANOSECONDS_A_SPAN):
                yield _pack(group, slice(start + run.start, start + run.stop), environment, layout_id)


def runs(times: Iterable[int], unit: int) -> Iterator[tuple[int, range]]:
    """Successive times that share a unit, such as an hour: the unit's number, counted from 1970, and their places."""
    start = 0
    for number, found in groupby(time // unit for time in times):
        end = start + sum(1 for _ in found)
        yield number, range(start, end)
        start = end


def _pack(group: RecordGroup, part: slice, environment: int, layout_id: int) -> tuple[Segment, Columns]:
    columns = Columns(group.times[part], group.users[part], group.emails[part], b"".join(group.recorded[part]))
    if len(columns.recorded) != group.layout.width * len(columns.times):
        raise ValueError("an evaluation does not fit its layout")
    segment = Segment(
        environment=environment,
        layout_id=layout_id,
        first_time=min(columns.times) // 1000,
        last_time=max(columns.times) // 1000,
        size=len(columns.times),
        user_hashes=_hashes(columns.users),
        email_hashes=_hashes(columns.emails, email_identity),
        content=msgspec.msgpack.encode(columns),
    )
    return segment, columns


def unpack(version: int, content: bytes) -> StoredColumns:
    """The columns of a segment's content. Raises ValueError for an unknown version."""
    if version != SEGMENT_VERSION:
        raise ValueError(f"segments of version {version} are unknown")
    return msgspec.msgpack.decode(content, type=StoredColumns)


def user_hash(user_id: str) -> bytes:
    """A user's hash in a segment."""
    return _hashes((user_id,))


def email_hash(email: str) -> bytes:
    """An email's hash in a segment, ignoring case."""
    return _hashes((email,), email_identity)


def _hashes(texts: Collection[str | None], identity: Callable[[str], str] = str) -> bytes:
    # Texts are joined so that they are encoded and folded in one step. None contains a NUL, which input checks refuse.
    found = set(texts)
    found.discard(None)
    encoded = identity("\0".join(cast("set[str]", found))).encode().split(b"\0") if found else ()
    return pack(f"<{len(encoded)}I", *map(crc32, encoded))
