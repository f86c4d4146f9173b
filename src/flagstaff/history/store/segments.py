"""Segments: some hundred successive evaluations of one environment and one layout, packed into a row.

columns.py has their content. Every evaluate call passes through here, so work per evaluation is done in loops that run
in C.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from struct import pack as pack_numbers
from typing import cast
from zlib import crc32

import msgspec

from flagstaff.evaluation.history.records import RecordGroup
from flagstaff.history.store.columns import ATTRIBUTES_SIZE, AnyColumns, has_attributes, pack, unpack, version_of

SEGMENT_SIZE = 500  # how many evaluations are packed at once, which blocks the event loop
CONTINUED_SIZE = 100  # a segment with fewer is continued by one with fewer
NANOSECONDS_A_SPAN = 3600 * 10**9  # no segment crosses the full hour, so the old ones can be dropped whole
MICROSECONDS_A_SPAN = NANOSECONDS_A_SPAN // 1000


@dataclass(slots=True)
class Segment:
    """A row: times in microseconds since 1970, a 32-bit hash of each user id and email, and the packed columns.

    `version` is the version of the content's form.
    """

    environment: int
    layout_id: int
    first_time: int
    last_time: int
    size: int
    user_hashes: bytes
    email_hashes: bytes
    content: bytes
    version: int

    @property
    def stored_bytes(self) -> int:
        """The size of the row, without its small columns."""
        return len(self.content) + len(self.user_hashes) + len(self.email_hashes)

    def continues(self, before: "Segment") -> bool:
        """Return whether the segment may be written into an earlier one."""
        return (
            before.size < CONTINUED_SIZE
            and before.layout_id == self.layout_id
            and has_attributes(before.version) == has_attributes(self.version)
            and before.last_time <= self.first_time
            and before.first_time // MICROSECONDS_A_SPAN == self.first_time // MICROSECONDS_A_SPAN
        )

    def and_then(self, later: "Segment") -> "Segment | None":
        """This segment and what continues it; None if that is too much for one. Raises ValueError if it is damaged."""
        columns = unpack(self.version, self.content).and_then(unpack(later.version, later.content))
        if columns is None:
            return None
        return Segment(
            environment=self.environment,
            layout_id=self.layout_id,
            first_time=self.first_time,
            last_time=later.last_time,
            size=self.size + later.size,
            user_hashes=self.user_hashes + later.user_hashes,
            email_hashes=self.email_hashes + later.email_hashes,
            content=msgspec.msgpack.encode(columns),
            version=version_of(columns),
        )


def pack_segments(group: RecordGroup, *, environment: int, layout_id: int) -> Iterator[tuple[Segment, AnyColumns]]:
    """Segments of a group's evaluations, oldest first, with their content."""
    for some in _parts(group):
        segment, columns = _pack(group, some, environment, layout_id)
        if segment.first_time // MICROSECONDS_A_SPAN == segment.last_time // MICROSECONDS_A_SPAN:
            yield segment, columns
        else:
            for _, run in runs(group.times[some], NANOSECONDS_A_SPAN):
                yield _pack(group, slice(some.start + run.start, some.start + run.stop), environment, layout_id)


def _parts(group: RecordGroup) -> Iterator[slice]:
    """The evaluations to pack at once: some hundred, or fewer with large attributes."""
    for start in range(0, len(group.times), SEGMENT_SIZE):
        yield from _halves(group.attributes, start, min(start + SEGMENT_SIZE, len(group.times)))


def _halves(attributes: Sequence[bytes] | None, start: int, end: int) -> Iterator[slice]:
    if attributes is None or end - start == 1 or sum(map(len, attributes[start:end])) <= ATTRIBUTES_SIZE:
        yield slice(start, end)
    else:
        middle = (start + end) // 2
        yield from _halves(attributes, start, middle)
        yield from _halves(attributes, middle, end)


def runs(times: Iterable[int], unit: int) -> Iterator[tuple[int, range]]:
    """Successive times that share a unit, such as an hour: the unit's number, counted from 1970, and their places."""
    start = 0
    for number, found in groupby(time // unit for time in times):
        end = start + sum(1 for _ in found)
        yield number, range(start, end)
        start = end


def _pack(group: RecordGroup, part: slice, environment: int, layout_id: int) -> tuple[Segment, AnyColumns]:
    columns, times = pack(group, part), group.times[part]
    segment = Segment(
        environment=environment,
        layout_id=layout_id,
        first_time=min(times) // 1000,
        last_time=max(times) // 1000,
        size=len(times),
        content=msgspec.msgpack.encode(columns),
        version=version_of(columns),
        **hashes_of(columns),
    )
    return segment, columns


def hashes_of(columns: AnyColumns) -> dict[str, bytes]:
    """The hashes of a segment's users, by the name of their column."""
    return {"user_hashes": _hashes(columns.users), "email_hashes": _hashes(columns.emails, str.lower)}


def user_hash(user_id: str) -> bytes:
    """A user's hash in a segment."""
    return _hashes((user_id,))


def email_hash(email: str) -> bytes:
    """An email's hash in a segment, ignoring case."""
    return _hashes((email,), str.lower)


def _hashes(texts: Collection[str | None], identity: Callable[[str], str] = str) -> bytes:
    # Texts are joined so that they are encoded and folded in one step. None contains a NUL, which input checks refuse.
    found = set(texts)
    found.discard(None)
    encoded = identity("\0".join(cast("set[str]", found))).encode().split(b"\0") if found else ()
    return pack_numbers(f"<{len(encoded)}I", *map(crc32, encoded))
