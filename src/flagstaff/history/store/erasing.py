"""Removes a user from stored evaluations and events, some segments at a time.

They are not deleted: counts, positions and ids of others stay what they were. What is left of them says when a flag was
on, and not for whom. New contents are made without a lock, and replace only the contents that they were made of.
"""

import asyncio
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.history.erased_users import NOBODY, Subject
from flagstaff.history.store.columns import UnknownVersionError, unpack
from flagstaff.history.store.event_segments import pack_events, unpack_columns
from flagstaff.history.store.rollups import lock_environment
from flagstaff.history.store.segments import email_hash, hashes_of, user_hash

SEARCHED_AT_ONCE = 2_000
"""Segments of evaluations whose hashes are looked through at once."""
READ_AT_ONCE = 8
"""Segments that are read, and written in a turn of the writer."""

log = structlog.get_logger(__name__)

_segments, _events = tables.segments.c, tables.event_segments.c


@dataclass(frozen=True, slots=True)
class Rewritten:
    """New values of a row, the content that they were made of, and the number of records that were the user's.

    `attributes` are the names of the attributes that were kept with these, and with how many each was.
    """

    id: int
    before: bytes
    values: dict[str, Any]
    records: int
    attributes: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """The segments that may have records of a user, and the id after which the search continues; None at the end."""

    ids: Sequence[int]
    next_after: int | None


async def find_segments(connection: AsyncConnection, number: int, subject: Subject, *, after: int, until: int) -> Found:
    """The segments of an environment with the user's hash, among some with ids above `after`.

    `until` is in microseconds; segments that begin later are left out.
    """
    of_environment = sa.and_(_segments.environment == number, _segments.id > after)
    some = sa.select(_segments.id).where(of_environment).order_by(_segments.id).limit(SEARCHED_AT_ONCE).subquery()
    size, last = (await connection.execute(sa.select(sa.func.count(), sa.func.max(some.c.id)))).one()
    if not size:
        return Found([], None)
    holding = []
    if subject.user_id is not None:
        holding.append(dialect.contains_bytes(connection, _segments.user_hashes, user_hash(subject.user_id)))
    if subject.user_email is not None:
        holding.append(dialect.contains_bytes(connection, _segments.email_hashes, email_hash(subject.user_email)))
    query = sa.select(_segments.id).where(
        of_environment, _segments.id <= last, _segments.first_time <= until, sa.or_(*holding)
    )
    ids = (await connection.execute(query.order_by(_segments.id))).scalars().all()
    return Found(ids, last if size == SEARCHED_AT_ONCE else None)


async def rewrite_segments(
    connection: AsyncConnection, number: int, ids: Sequence[int], subject: Subject, until: int
) -> list[Rewritten]:
    """Make new contents of those segments in which there are evaluations of the user up to a time.

    Raises UnknownVersionError for a segment that a newer version has written.
    """
    query = sa.select(_segments.id, _segments.version, _segments.content).where(
        _segments.environment == number, _segments.id.in_(ids)
    )
    rows = (await connection.execute(query)).all()
    return await asyncio.to_thread(_rewrite_segments, rows, subject, until)


def _rewrite_segments(rows: Sequence[Any], subject: Subject, until: int) -> list[Rewritten]:
    found = []
    for row in rows:
        try:
            columns = unpack(row.version, row.content)
            given = enumerate(zip(columns.users, columns.emails, columns.times, strict=True))
            offsets = [
                place for place, (user, email, at) in given if subject.has_made(user, email) and at // 1000 <= until
            ]
            if not offsets:
                continue
            attributes = Counter(name for place in offsets for name in columns.attributes_of(place) or ())
            changed = columns.without_users(offsets)
        except UnknownVersionError:
            raise
        except ValueError as error:  # nobody can read whose it is
            log.error("history_row_damaged", table=tables.segments.name, id=row.id, error=str(error))  # noqa: TRY400
            continue
        values = {"content": msgspec.msgpack.encode(changed), **hashes_of(changed)}
        found.append(Rewritten(row.id, row.content, values, len(offsets), attributes))
    return found


async def find_event_segments(connection: AsyncConnection, number: int, *, after: int) -> Found:
    """Some segments of events of an environment with ids above `after`."""
    query = sa.select(_events.id).where(_events.environment == number, _events.id > after)
    ids = (await connection.execute(query.order_by(_events.id).limit(READ_AT_ONCE))).scalars().all()
    return Found(ids, ids[-1] if len(ids) == READ_AT_ONCE else None)


async def rewrite_event_segments(
    connection: AsyncConnection, ids: Sequence[int], subject: Subject, until: int
) -> list[Rewritten]:
    """The same of segments of events."""
    query = sa.select(_events.id, _events.version, _events.content).where(_events.id.in_(ids))
    rows = (await connection.execute(query)).all()
    return await asyncio.to_thread(_rewrite_event_segments, rows, subject, until)


def _rewrite_event_segments(rows: Sequence[Any], subject: Subject, until: int) -> list[Rewritten]:
    units, found = frozenset(subject.units), []
    encoded = [each.encode() for each in units]
    for row in rows:
        try:
            unpacked = zlib.decompress(row.content)
            if not any(each in unpacked for each in encoded):
                continue
            metrics, stored, times, values = unpack_columns(row.version, unpacked)
        except (ValueError, zlib.error) as error:
            if isinstance(error, UnknownVersionError):
                raise
            log.error("history_row_damaged", table=tables.event_segments.name, id=row.id, error=str(error))  # noqa: TRY400
            continue
        gone = [unit in units and at <= until for unit, at in zip(stored, times, strict=True)]
        if any(gone):
            kept = [NOBODY if is_gone else unit for unit, is_gone in zip(stored, gone, strict=True)]
            content = pack_events((metrics, kept, times, values))
            found.append(Rewritten(row.id, row.content, {"content": content}, sum(gone)))
    return found


async def replace_segments(connection: AsyncConnection, number: int, rewritten: Sequence[Rewritten]) -> list[Rewritten]:
    """Store new contents of segments of evaluations; return those that were still as they had been read."""
    return await _replace(connection, tables.segments, number, rewritten)


async def replace_event_segments(
    connection: AsyncConnection, number: int, rewritten: Sequence[Rewritten]
) -> list[Rewritten]:
    """The same of events."""
    return await _replace(connection, tables.event_segments, number, rewritten)


async def _replace(
    connection: AsyncConnection, table: sa.Table, number: int, rewritten: Sequence[Rewritten]
) -> list[Rewritten]:
    await lock_environment(connection, number)  # a batch may be continuing one of them
    done = []
    for each in rewritten:
        is_same = sa.and_(table.c.environment == number, table.c.id == each.id, table.c.content == each.before)
        if (await connection.execute(table.update().where(is_same).values(each.values))).rowcount:
            done.append(each)
    return done
