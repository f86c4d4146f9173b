"""Segments of the events of an environment: written as they arrive, and read in the order in which they were committed.

The events of a segment were sent with one kind of SDK key. It is a column of the row, and so are their origins: the
known ones as texts and the place of each event's, as msgpack, compressed, once for all events of the segment. Both are
null where a release has written the segment that did not know them.

The content is columns, as msgpack, compressed. An event in a segment costs 0.3 µs and 15 bytes; in a row of its own it
would cost 15 µs and 73 bytes, most of them for the index on its unit. Nothing needs this index: see `list_of_units`.

Writers hold the lock of their environment until they commit, so that a segment with a higher id was committed later.
"""

import asyncio
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

import msgspec
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import tables
from flagstaff.database.long_lists import read_many
from flagstaff.history.store.columns import UnknownVersionError
from flagstaff.metrics.events import EventRow
from flagstaff.projects.record_origins import Origins, origins_of_texts
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.values.lists import parts_of

SIZE_MAX = 2_000
"""Events in a segment: to unpack so many holds the event loop for a millisecond."""
CHARACTERS_MAX = 80_000
"""Characters of the units in a segment of several events: to compress so many takes 2 ms, or 7 ms of rare ones."""
_VERSION = 1
_LEVEL = 1
_AT_ONCE_MAX_BYTES = 150_000  # 2,000 usual events have 80,000, which takes half a millisecond
_LISTED_AT_ONCE = 100
_READ_AT_ONCE = 8

log = structlog.get_logger(__name__)

_segments = tables.event_segments.c
_environments = tables.recorded_environments.c
Columns = tuple[list[str], list[str], list[int], list[float | None]]
"""The metrics of events, their units, their times in microseconds since 1970 and their values."""
_decode: Callable[[bytes], Columns] = msgspec.msgpack.Decoder(Columns).decode
_StoredOrigins = tuple[list[str | None], list[int]]
_decode_origins: Callable[[bytes], _StoredOrigins] = msgspec.msgpack.Decoder(_StoredOrigins).decode

_environment: sa.BindParameter[int] = sa.bindparam("environment")
_newest = (
    sa.select(_segments.number)
    .where(_segments.environment == _environment)
    .order_by(_segments.id.desc())
    .limit(1)
    .scalar_subquery()
)
_add = tables.event_segments.insert().values(
    environment=_environment, number=sa.func.coalesce(_newest, 0) + sa.bindparam("events")
)
_last = sa.select(sa.func.max(_segments.id)).where(_segments.environment == _environment)
_between = (
    sa.select(_segments.id, _segments.size)
    .where(
        _segments.environment == _environment,
        _segments.id > sa.bindparam("after"),
        _segments.id <= sa.bindparam("last"),
    )
    .order_by(_segments.id)
    .limit(_LISTED_AT_ONCE)
)
_since = _between.where(_segments.last_at >= sa.bindparam("since"))
_newest_first = (
    sa.select(_segments.id, _segments.size, _segments.last_at)
    .where(_segments.environment == _environment)
    .order_by(_segments.id.desc())
    .limit(_LISTED_AT_ONCE)
)
_contents = (
    sa.select(_segments.id, _segments.version, _segments.content, _segments.key_kind)
    .where(_segments.id.in_(sa.bindparam("ids", expanding=True)))
    .order_by(_segments.id)
)


class StoredEvent(NamedTuple):
    """An event as it was stored; `at` is in microseconds since 1970, and `key_kind` is the key's, if it is known.

    `segment` is the id of its segment.
    """

    metric: str
    unit: str
    at: int
    value: float | None
    key_kind: KeyKind | None
    segment: int


class Latest(NamedTuple):
    """The latest events, all of them from a time on, which is in microseconds since 1970."""

    events: list[StoredEvent]
    since: int


class Stretch(NamedTuple):
    """Some events, the id of the segment after which reading continues, and whether there may be more before `last`."""

    events: list[StoredEvent]
    position: int
    more: bool


async def add_events(
    connection: AsyncConnection,
    environment: int,
    rows: Sequence[EventRow],
    key_kind: KeyKind | None,
    origins: Origins | None = None,
) -> None:
    """Store events of an environment, whose lock the transaction holds, and which were sent with one kind of key."""
    for slice_ in _parts(rows):
        part = rows[slice_]
        times = [row.at for row in part]
        columns = [row.metric for row in part], [row.unit for row in part], times, [row.value for row in part]
        encoded = msgspec.msgpack.encode(columns)
        values = {
            "environment": environment,
            "events": len(part),
            "size": len(part),
            "last_at": max(times),
            "version": _VERSION,
            "key_kind": key_kind,
            "origins": None if origins is None else _pack_origins(origins.part(slice_)),
            "content": await _compress(encoded),
        }
        await connection.execute(_add, values)


async def _compress(encoded: bytes) -> bytes:
    """Compress a content, a large one in a thread: it would hold the event loop for up to nine milliseconds."""
    if len(encoded) <= _AT_ONCE_MAX_BYTES:
        return zlib.compress(encoded, _LEVEL)
    return await asyncio.to_thread(zlib.compress, encoded, _LEVEL)


def _parts(rows: Sequence[EventRow]) -> Iterator[slice]:
    """The events of each segment. Clients choose the units, which may be a hundred times as long as usual ones."""
    start = characters = 0
    for place, row in enumerate(rows):
        characters += len(row.unit)
        if place == start + SIZE_MAX or (characters > CHARACTERS_MAX and place > start):
            yield slice(start, place)
            start, characters = place, len(row.unit)
    if start < len(rows):
        yield slice(start, len(rows))


def _pack_origins(origins: Origins) -> bytes:
    return zlib.compress(msgspec.msgpack.encode((origins.texts(), origins.places)), _LEVEL)


def origins_of(row: Any) -> Origins | None:
    """The origins of a segment's events; None if they are not known. Raises ValueError if they are damaged."""
    if row.origins is None:
        return None
    try:
        origins = origins_of_texts(*_decode_origins(zlib.decompress(row.origins)))
    except zlib.error as error:
        raise ValueError("the origins are damaged") from error
    origins.check(row.size)
    return origins


async def find_last(connection: AsyncConnection, environment: int) -> int:
    """The id of the segment of an environment that was committed last; 0 if it has none."""
    return (await connection.execute(_last, {"environment": environment})).scalar() or 0


async def list_after(
    connection: AsyncConnection, environment: int, metrics: Collection[str], *, after: int, last: int
) -> Stretch:
    """The events of some metrics in the segments with ids above `after` and up to `last`, oldest first.

    Reads some segments, with about `SIZE_MAX` events together. Raises UnknownVersionError.
    """
    listed = (await connection.execute(_between, {"environment": environment, "after": after, "last": last})).all()
    ids, size = list[int](), 0
    for each in listed:
        if ids and size + each.size > SIZE_MAX:
            break
        ids.append(each.id)
        size += each.size
    found, turns = list[StoredEvent](), Turns()
    for some in parts_of(ids, _READ_AT_ONCE):
        for row in await connection.execute(_contents, {"ids": some}):
            kind = kind_of(row)
            found += (StoredEvent(*event, kind, row.id) for event in _read(row) if event[0] in metrics)
            await turns.give()
    more = bool(ids) and (len(ids) < len(listed) or len(listed) == _LISTED_AT_ONCE)
    return Stretch(found, ids[-1] if more else last, more)


async def list_latest(
    connection: AsyncConnection, environment: int, metrics: Collection[str], *, since: int, limit: int
) -> Latest:
    """The latest events of some metrics from a time on, in the latest 100 segments, with about `limit` events together.

    Raises UnknownVersionError.
    """
    # Not by their times, for which SQLite would sort all of them.
    listed = (await connection.execute(_newest_first, {"environment": environment})).all()
    timely = [each for each in listed if each.last_at >= since]
    ids, size = list[int](), 0
    for each in timely:
        if ids and size + each.size > limit:
            break
        ids.append(each.id)
        size += each.size
    start = since
    if len(ids) < len(timely):
        start = timely[len(ids) - 1].last_at
    elif len(listed) == _LISTED_AT_ONCE:
        start = max(since, listed[-1].last_at)
    found, turns = list[StoredEvent](), Turns()
    for some in parts_of(ids, _READ_AT_ONCE):
        for row in await connection.execute(_contents, {"ids": some}):
            kind = kind_of(row)
            found += (
                StoredEvent(*event, kind, row.id) for event in _read(row) if event[0] in metrics and event[2] >= start
            )
            await turns.give()
    return Latest(found, start)


async def list_of_units(
    connection: AsyncConnection,
    environment: int,
    units: Collection[str],
    metrics: Collection[str],
    *,
    since: int,
    after: int,
    last: int,
) -> list[StoredEvent]:
    """The events of some users from a time on, in the segments with ids above `after` and up to `last`.

    The time is in microseconds. The events are in the order in which they were committed. All segments with events from
    that time on are read: the units of a few seconds, if evaluations arrive as soon as events do. Raises
    UnknownVersionError.
    """
    found, turns = list[StoredEvent](), Turns()
    wanted = {"environment": environment, "last": last, "since": since}
    while units and metrics and after < last:
        ids = [each.id for each in await connection.execute(_since, {**wanted, "after": after})]
        for some in parts_of(ids, _READ_AT_ONCE):
            for row in await connection.execute(_contents, {"ids": some}):
                kind = kind_of(row)
                found += (
                    StoredEvent(*event, kind, row.id)
                    for event in _read(row)
                    if event[1] in units and event[2] >= since and event[0] in metrics
                )
                await turns.give()
        after = ids[-1] if len(ids) == _LISTED_AT_ONCE else last
    return found


def kind_of(row: Any) -> KeyKind | None:
    """The kind of key with which the events of a segment were sent; None if it is not known."""
    return None if row.key_kind is None else KeyKind(row.key_kind)


def pack_events(columns: Columns) -> bytes:
    """A segment's content of such columns."""
    return zlib.compress(msgspec.msgpack.encode(columns), _LEVEL)


def unpack_columns(version: int, encoded: bytes) -> Columns:
    """The columns in a segment's content, decompressed. Raises ValueError if it is damaged, UnknownVersionError."""
    require_version(version)
    return _decode(encoded)


def _read(row: Any) -> Iterator[tuple[str, str, int, float | None]]:
    """The fields of the events of a segment; none if it is damaged, which must not stop the counting of all others."""
    require_version(row.version)
    try:
        return unpack(row.content)
    except ValueError as error:
        log.error("history_row_damaged", table=tables.event_segments.name, id=row.id, error=str(error))  # noqa: TRY400
        return iter(())


def require_version(version: int) -> None:
    """Raise UnknownVersionError unless this version of Flagstaff can read content of a version."""
    if version != _VERSION:
        raise UnknownVersionError(f"segments of events of version {version} are unknown")


def unpack(content: bytes) -> Iterator[tuple[str, str, int, float | None]]:
    """The fields of the events in a segment's content: see `StoredEvent`. Raises ValueError if it is damaged."""
    try:
        columns = _decode(zlib.decompress(content))
    except zlib.error as error:
        raise ValueError("the events are damaged") from error
    if len({len(column) for column in columns}) > 1:
        raise ValueError("the columns have different lengths")
    return zip(*columns, strict=True)


async def delete_oldest(connection: AsyncConnection, before: int, limit: int) -> bool:
    """Delete at most `limit` of the oldest segments, up to one with events from a time on, in microseconds.

    Returns whether there may be more.
    """
    first = sa.select(_segments.id, _segments.last_at).order_by(_segments.id).limit(limit)
    return await _delete_up_to(connection, first, limit, before)


async def count_by_environment(connection: AsyncConnection) -> dict[int, int]:
    """The number of events of each environment that has any: of each, the oldest ones are deleted first."""
    of_environment = (
        sa.select(_segments.number)
        .where(_segments.environment == _environments.number)
        .correlate(tables.recorded_environments)
        .limit(1)
    )
    newest = of_environment.order_by(_segments.id.desc()).scalar_subquery()
    before = of_environment.with_only_columns(_segments.number - _segments.size).order_by(_segments.id)
    counts = await connection.execute(sa.select(_environments.number, newest - before.scalar_subquery()))
    return {number: int(events) for number, events in counts if events}


async def delete_beyond(connection: AsyncConnection, environment: int, events: int, limit: int) -> int:
    """Delete the oldest segments of an environment, at most `limit`, with at least so many events if it has them.

    Returns the number of deleted events.
    """
    first = sa.select(_segments.id, _segments.size).where(_segments.environment == environment)
    ids, deleted = list[int](), 0
    for each in await connection.execute(first.order_by(_segments.id).limit(limit)):
        if deleted >= events:
            break
        ids.append(each.id)
        deleted += each.size
    if ids:
        await connection.execute(tables.event_segments.delete().where(_segments.id.in_(ids)))
    return deleted


async def find_old(connection: AsyncConnection, before: int, among: Collection[int]) -> set[int]:
    """Return which of some environments have a segment that ends before a time, in microseconds."""
    number = _environments.number
    oldest = sa.select(_segments.last_at).where(_segments.environment == number).order_by(_segments.id).limit(1)
    is_old = oldest.correlate(tables.recorded_environments).scalar_subquery() < before
    query = sa.select(number).where(number.in_(sa.bindparam("numbers", expanding=True)), is_old)
    return {each.number for each in await read_many(connection, query, "numbers", among)}


async def delete_of_environment(
    connection: AsyncConnection, environment: int, limit: int, before: int | None = None
) -> bool:
    """Delete at most `limit` of the oldest segments of an environment, all or up to one with events from a time on.

    The time is in microseconds. Returns whether there may be more.
    """
    first = sa.select(_segments.id, _segments.last_at).where(_segments.environment == environment)
    return await _delete_up_to(connection, first.order_by(_segments.id).limit(limit), limit, before)


async def _delete_up_to(
    connection: AsyncConnection, oldest: sa.Select[tuple[int, int]], limit: int, before: int | None
) -> bool:
    rows = list(await connection.execute(oldest))
    ids = [each.id for each in takewhile(lambda each: before is None or each.last_at < before, rows)]
    if ids:
        await connection.execute(tables.event_segments.delete().where(_segments.id.in_(ids)))
    return len(ids) == limit
