"""The content of a segment: evaluations column by column, as msgpack. The layout says what the recorded bytes mean.

Version 2 adds attributes: a JSON array with an object for each evaluation, compressed, because most are alike. Content
without attributes has version 1, which earlier releases can read.
"""

import zlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from flagstaff.evaluation.history.records import RecordGroup

VERSIONS = (1, 2)
ATTRIBUTES_SIZE = 64 * 1024  # how many bytes of attributes a segment has, unless those of one evaluation are more
_LEVEL = 1  # a third of the time that the default takes


class UnknownVersionError(ValueError):
    """A newer version of Flagstaff has written this."""


class Columns(msgspec.Struct, array_like=True):
    """The evaluations: times in nanoseconds since 1970, users, and all recorded bytes, joined."""

    times: Sequence[int]
    users: Sequence[str | None]
    emails: Sequence[str | None]
    recorded: bytes


class AttributeColumns(Columns, array_like=True):
    """The same with attributes; `has_all` says that they are all that the requests had."""

    attributes: bytes
    has_all: bool


class StoredColumns(msgspec.Struct, array_like=True, dict=True):
    """Columns as they were stored; each is decoded when it is read."""

    packed_times: msgspec.Raw
    packed_users: msgspec.Raw
    packed_emails: msgspec.Raw
    recorded: bytes
    packed_attributes: bytes | None = None
    has_all: bool = False

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

    @cached_property
    def attributes(self) -> list[msgspec.Raw]:
        """The attributes of each evaluation as JSON; none if they were not kept."""
        if self.packed_attributes is None:
            return []
        return msgspec.json.decode(_decompress(self.packed_attributes), type=list[msgspec.Raw])

    def attributes_of(self, offset: int) -> Mapping[str, Any] | None:
        """The attributes of one evaluation, by name; None if they were not kept."""
        return msgspec.json.decode(self.attributes[offset]) if self.attributes else None

    def check(self, width: int) -> None:
        """Decode everything. Raises ValueError if it is damaged; `width` is the number of recorded bytes of each."""
        size = len(self.times)
        sizes = [len(self.users), len(self.emails), size if self.packed_attributes is None else len(self.attributes)]
        if sizes != [size] * len(sizes) or len(self.recorded) != size * width:
            raise ValueError("the columns differ in length")

    def and_then(self, later: "StoredColumns") -> Columns | None:
        """These columns and later ones of the same version; None if their attributes are too many for one segment."""
        joined = Columns(
            self.times + later.times,
            self.users + later.users,
            self.emails + later.emails,
            self.recorded + later.recorded,
        )
        if self.packed_attributes is None or later.packed_attributes is None:
            return joined
        array = _decompress(self.packed_attributes)[:-1] + b"," + _decompress(later.packed_attributes)[1:]
        if len(array) > ATTRIBUTES_SIZE:
            return None
        return AttributeColumns(
            joined.times,
            joined.users,
            joined.emails,
            joined.recorded,
            zlib.compress(array, _LEVEL),
            has_all=self.has_all and later.has_all,
        )


def pack(group: RecordGroup, part: slice) -> Columns:
    """Some of a group's evaluations. Raises ValueError if one does not fit the layout."""
    times, recorded = group.times[part], b"".join(group.recorded[part])
    if len(recorded) != group.layout.width * len(times):
        raise ValueError("an evaluation does not fit its layout")
    columns = (times, group.users[part], group.emails[part], recorded)
    if group.attributes is None:
        return Columns(*columns)
    array = b"[" + b",".join(group.attributes[part]) + b"]"
    return AttributeColumns(*columns, zlib.compress(array, _LEVEL), has_all=group.has_all)


def version_of(columns: Columns) -> int:
    """The version of the content of columns."""
    return 2 if isinstance(columns, AttributeColumns) else 1


def unpack(version: int, content: bytes) -> StoredColumns:
    """The columns of a segment's content. Raises ValueError if it is damaged, UnknownVersionError if it is too new."""
    if version not in VERSIONS:
        raise UnknownVersionError(f"segments of version {version} are unknown")
    return msgspec.msgpack.decode(content, type=StoredColumns)


def _decompress(attributes: bytes) -> bytes:
    try:
        return zlib.decompress(attributes)
    except zlib.error as error:
        raise ValueError("the attributes are damaged") from error
