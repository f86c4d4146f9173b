"""The content of a segment: evaluations column by column, as msgpack. The layout says what the recorded bytes mean.

Version 2 adds attributes: a JSON array with an object for each evaluation, compressed, because most are alike. Versions
3 and 4, without and with attributes, hold evaluations of single flags beside evaluations of all flags.

All end with the origins: as texts, their places, and the kinds of their keys. Releases that know none of these ignore
them, and leave them out where they continue a segment.
"""

import zlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from operator import sub
from typing import Any

import msgspec

from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordGroup
from flagstaff.projects.record_origins import Origin, Origins, joined_origins, origins_of_texts
from flagstaff.projects.sdk_keys import KeyKind

VERSIONS = (1, 2, 3, 4)
MIXED_VERSIONS = (3, 4)
ATTRIBUTES_SIZE = 64 * 1024  # how many bytes of attributes a segment has, unless those of one evaluation are more
_LEVEL = 1  # a third of the time that the default takes
_UNFIT = "an evaluation does not fit its layout"


class UnknownVersionError(ValueError):
    """A newer version of Flagstaff has written this."""


class Columns(msgspec.Struct, array_like=True):
    """The evaluations: times in nanoseconds since 1970, users, and all recorded bytes, joined.

    `has_all` says that the attributes are all that the requests had.
    """

    times: Sequence[int]
    users: Sequence[str | None]
    emails: Sequence[str | None]
    recorded: bytes
    attributes: bytes | None
    has_all: bool
    flags: None = None
    origins: Sequence[str | None] | None = None
    origin_places: Sequence[int] = ()
    origin_kinds: Sequence[KeyKind | None] = ()


class MixedColumns(msgspec.Struct, array_like=True):
    """The same of evaluations of all flags and of single ones, with the recorded bytes of each.

    `steps` are the time of the first in microseconds, and then the time from each to the next. `flags` are the places
    of the single flags in the layout, and None for evaluations of all.
    """

    steps: Sequence[int]
    users: Sequence[str | None]
    emails: Sequence[str | None]
    recorded: Sequence[bytes]
    attributes: bytes | None
    has_all: bool
    flags: Sequence[int | None]
    origins: Sequence[str | None] | None = None
    origin_places: Sequence[int] = ()
    origin_kinds: Sequence[KeyKind | None] = ()

    @property
    def times(self) -> Sequence[int]:
        """In nanoseconds since 1970."""
        return _from_steps(self.steps)


AnyColumns = Columns | MixedColumns


class StoredColumns(msgspec.Struct, array_like=True, dict=True):
    """Columns as they were stored; each is decoded when it is read."""

    packed_times: msgspec.Raw
    packed_users: msgspec.Raw
    packed_emails: msgspec.Raw
    recorded: bytes | list[bytes]
    packed_attributes: bytes | None = None
    has_all: bool = False
    flags: list[int | None] | None = None
    origin_texts: list[str | None] | None = None
    origin_places: list[int] = []
    origin_kinds: list[KeyKind | None] = []

    @cached_property
    def times(self) -> list[int]:
        """In nanoseconds since 1970."""
        times = msgspec.msgpack.decode(self.packed_times, type=list[int])
        return times if self.flags is None else _from_steps(times)

    @cached_property
    def users(self) -> list[str | None]:
        """The user ids."""
        return msgspec.msgpack.decode(self.packed_users, type=list[str | None])

    @cached_property
    def emails(self) -> list[str | None]:
        """The users' emails."""
        return msgspec.msgpack.decode(self.packed_emails, type=list[str | None])

    @cached_property
    def attributes(self) -> list[msgspec.Raw]:
        """The attributes of each evaluation as JSON; none if they were not kept."""
        if self.packed_attributes is None:
            return []
        return msgspec.json.decode(_decompress(self.packed_attributes), type=list[msgspec.Raw])

    @cached_property
    def origins(self) -> Origins | None:
        """The origins; None if an older release has recorded the evaluations. Raises ValueError if they are damaged."""
        if self.origin_texts is None:
            return None
        return origins_of_texts(self.origin_texts, self.origin_places, self.origin_kinds)

    def origin_of(self, offset: int) -> Origin | None:
        """The origin of one evaluation."""
        return None if self.origins is None else self.origins.at(offset)

    def attributes_of(self, offset: int) -> Mapping[str, Any] | None:
        """The attributes of one evaluation, by name; None if they were not kept."""
        return msgspec.json.decode(self.attributes[offset]) if self.attributes else None

    @property
    def rows(self) -> list[bytes]:
        """The recorded bytes of each evaluation. Raises ValueError if they cannot be of so many."""
        if isinstance(self.recorded, list):
            return self.recorded
        width, rest = divmod(len(self.recorded), max(1, len(self.times)))
        if rest:
            raise ValueError(_UNFIT)
        return [self.recorded[start * width : (start + 1) * width] for start in range(len(self.times))]

    def result_at(self, offset: int, layout: Layout) -> tuple[Layout, bytes]:
        """The recorded bytes of one evaluation with what they mean: the layout, or the layout of the flag alone."""
        if not isinstance(self.recorded, list):
            return layout, self.recorded[offset * layout.width : (offset + 1) * layout.width]
        place = self.places[offset]
        return layout if place is None else layout.alone(place), self.recorded[offset]

    def check(self, layout: Layout) -> None:
        """Decode everything. Raises ValueError if it is damaged."""
        size = len(self.times)
        sizes = [len(self.users), len(self.emails), size if self.packed_attributes is None else len(self.attributes)]
        if self.flags is not None:
            sizes.append(len(self.flags))
        if sizes != [size] * len(sizes):
            raise ValueError("the columns differ in length")
        if self.origins is not None:
            self.origins.check(size)
        if isinstance(self.recorded, list):
            check_fit(self.recorded, self.places, layout)
        elif self.flags is not None or len(self.recorded) != size * layout.width:
            raise ValueError("the columns differ in length")

    def and_then(self, later: "StoredColumns") -> AnyColumns | None:
        """These columns and later ones, both with or without attributes; None if these are too many for one segment."""
        times, users, emails = self.times + later.times, self.users + later.users, self.emails + later.emails
        attributes = None
        if self.packed_attributes is not None and later.packed_attributes is not None:
            array = _decompress(self.packed_attributes)[:-1] + b"," + _decompress(later.packed_attributes)[1:]
            if len(array) > ATTRIBUTES_SIZE:
                return None
            attributes = zlib.compress(array, _LEVEL)
        has_all = self.has_all and later.has_all
        origins = _stored(joined_origins(((self.origins, len(self.times)), (later.origins, len(later.times)))))
        if isinstance(self.recorded, list) or isinstance(later.recorded, list):
            flags = [*self.places, *later.places]
            steps = _to_steps(times)
            return MixedColumns(steps, users, emails, self.rows + later.rows, attributes, has_all, flags, *origins)
        return Columns(times, users, emails, self.recorded + later.recorded, attributes, has_all, None, *origins)

    def without_users(self, offsets: Collection[int]) -> AnyColumns:
        """The same evaluations, some of them without what says of whom they are: the ids, emails and attributes."""
        gone = frozenset(offsets)
        users, emails = (
            [None if place in gone else each for place, each in enumerate(column)]
            for column in (self.users, self.emails)
        )
        attributes = None
        if self.packed_attributes is not None:
            kept = [b"null" if place in gone else bytes(each) for place, each in enumerate(self.attributes)]
            attributes = zlib.compress(b"[" + b",".join(kept) + b"]", _LEVEL)
        origins = _stored(self.origins)
        if isinstance(self.recorded, list):
            flags, steps = list(self.places), _to_steps(self.times)
            return MixedColumns(steps, users, emails, self.recorded, attributes, self.has_all, flags, *origins)
        return Columns(self.times, users, emails, self.recorded, attributes, self.has_all, None, *origins)

    @property
    def places(self) -> Sequence[int | None]:
        """The place of the flag of each evaluation; None for all flags."""
        return [None] * len(self.times) if self.flags is None else self.flags


def pack(group: RecordGroup, part: slice) -> AnyColumns:
    """Some of a group's evaluations. Raises ValueError if one does not fit the layout."""
    times, users, emails, rows = group.times[part], group.users[part], group.emails[part], group.recorded[part]
    attributes = None
    if group.attributes is not None:
        attributes = zlib.compress(b"[" + b",".join(group.attributes[part]) + b"]", _LEVEL)
    flags = None if group.flags is None else group.flags[part]
    origins = _stored(None if group.origins is None else group.origins.part(part))
    if flags is not None and any(place is not None for place in flags):
        check_fit(rows, flags, group.layout)
        return MixedColumns(_to_steps(times), users, emails, rows, attributes, group.has_all, flags, *origins)
    recorded = b"".join(rows)
    if len(recorded) != group.layout.width * len(times):
        raise ValueError(_UNFIT)
    return Columns(times, users, emails, recorded, attributes, group.has_all, None, *origins)


def check_fit(rows: Sequence[bytes], flags: Sequence[int | None], layout: Layout) -> None:
    """Raise ValueError unless the recorded bytes of all evaluations, of all flags or one, fit the layout."""
    widths = layout.widths_alone
    for row, place in zip(rows, flags, strict=True):
        if place is not None and not 0 <= place < len(widths):
            raise ValueError(_UNFIT)
        if len(row) != (layout.width if place is None else widths[place]):
            raise ValueError(_UNFIT)


def version_of(columns: AnyColumns) -> int:
    """The version of the content of columns."""
    without = 3 if isinstance(columns, MixedColumns) else 1
    return without if columns.attributes is None else without + 1


def has_attributes(version: int) -> bool:
    """Return whether content of a version has attributes."""
    return version in (2, 4)


def unpack(version: int, content: bytes) -> StoredColumns:
    """The columns of a segment's content. Raises ValueError if it is damaged, UnknownVersionError if it is too new."""
    if version not in VERSIONS:
        raise UnknownVersionError(f"segments of version {version} are unknown")
    return msgspec.msgpack.decode(content, type=StoredColumns)


def _stored(origins: Origins | None) -> tuple[Sequence[str | None] | None, Sequence[int], Sequence[KeyKind | None]]:
    return (None, (), ()) if origins is None else (origins.texts(), origins.places, origins.kinds)


def _to_steps(times: Sequence[int]) -> list[int]:
    in_microseconds = [time // 1000 for time in times]
    return [*in_microseconds[:1], *map(sub, in_microseconds[1:], in_microseconds)]


def _from_steps(steps: Iterable[int]) -> list[int]:
    return [time * 1000 for time in accumulate(steps)]


def _decompress(attributes: bytes) -> bytes:
    try:
        return zlib.decompress(attributes)
    except zlib.error as error:
        raise ValueError("the attributes are damaged") from error
