"""Deletes the evaluation history, by age and of deleted environments, in small steps."""

from collections.abc import Collection, Sequence
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.long_lists import read_many
from flagstaff.database.tables import microseconds
from flagstaff.history.store.batches import LAYOUT_USE_PRECISION
from flagstaff.history.store.flag_counts import DAY, HOUR
from flagstaff.history.store.ids import uuid7
from flagstaff.history.store.rollups import lock_environment
from flagstaff.history.store.segments import MICROSECONDS_A_SPAN

_MICROSECONDS_A_MINUTE = 60 * 10**6
_END = 2**31 - 1  # after every minute
_segments = tables.segments.c


async def find_old(connection: AsyncConnection, before: datetime, among: Collection[int] | None = None) -> set[int]:
    """The environments with anything from before a moment: what is deleted or hidden below concerns no others.

    `among` are the numbers of the environments to look at; None for all.
    """
    number, minute = tables.recorded_environments.c.number, microseconds(before) // _MICROSECONDS_A_MINUTE
    counts, time = tables.flag_counts.c, microseconds(before)
    is_old = {
        tables.segments: sa.and_(_segments.last_time < time + MICROSECONDS_A_SPAN, _segments.first_time < time),
        tables.summaries: tables.summaries.c.minute < minute,
        tables.flag_counts: sa.and_(counts.span.in_((HOUR, DAY)), counts.start < minute),
        tables.recorded_bytes: tables.recorded_bytes.c.hour < minute // HOUR,
        tables.environment_users: tables.environment_users.c.day < minute // DAY,
        tables.flag_users: tables.flag_users.c.day < minute // DAY,
    }
    found = sa.or_(*(sa.exists().where(table.c.environment == number, old) for table, old in is_old.items()))
    if among is None:
        return set((await connection.execute(sa.select(number).where(found))).scalars())
    some = sa.select(number).where(number.in_(sa.bindparam("numbers", expanding=True)), found)
    return {each.number for each in await read_many(connection, some, "numbers", among)}


async def delete_segments(
    connection: AsyncConnection, number: int, before: datetime | None, limit: int
) -> tuple[int, bool]:
    """Delete at most `limit` of an environment's segments, all or those that end before a moment.

    Returns how many evaluations were in them, and whether there may be more.
    """
    condition = _segments.environment == number
    if before is not None:
        condition = sa.and_(condition, _segments.last_time < microseconds(before))
    first = sa.select(_segments.id).where(condition).order_by(_segments.last_time).limit(limit)
    # With the condition again, PostgreSQL does not look at the partitions of newer segments.
    statement = tables.segments.delete().where(condition, _segments.id.in_(first)).returning(_segments.size)
    sizes = (await connection.execute(statement)).scalars().all()
    return sum(sizes), len(sizes) == limit


async def hide_evaluations(connection: AsyncConnection, number: int, before: datetime) -> None:
    """Make segments with evaluations from before a moment begin at it, which hides those evaluations."""
    time = microseconds(before)
    crosses = sa.and_(_segments.last_time.between(time, time + MICROSECONDS_A_SPAN), _segments.first_time < time)
    await connection.execute(
        tables.segments.update().where(_segments.environment == number, crosses).values(first_time=time)
    )


async def delete_counts(connection: AsyncConnection, number: int, before: datetime | None) -> None:
    """Delete an environment's counts and users, of the minutes before a moment or all.

    Hours and days that are only partly too old are kept, but the old part no longer counts.
    """
    await lock_environment(connection, number)
    minute = _END if before is None else microseconds(before) // _MICROSECONDS_A_MINUTE
    pending, counts, sizes = tables.summaries.c, tables.flag_counts.c, tables.recorded_bytes.c
    await connection.execute(tables.summaries.delete().where(pending.environment == number, pending.minute < minute))
    for span in (HOUR, DAY):
        of_span = sa.and_(counts.environment == number, counts.span == span)
        await connection.execute(tables.flag_counts.delete().where(of_span, counts.start <= minute - span))
    for users in (tables.environment_users, tables.flag_users):
        is_old = users.c.day < minute // DAY
        await connection.execute(users.delete().where(users.c.environment == number, is_old))
    await connection.execute(
        tables.recorded_bytes.delete().where(sizes.environment == number, sizes.hour < minute // HOUR)
    )
    if before is not None:
        environments = tables.recorded_environments.c
        advanced = tables.recorded_environments.update().where(environments.number == number)
        await connection.execute(advanced.where(environments.kept_from < minute).values(kept_from=minute))


async def list_bytes(connection: AsyncConnection) -> Sequence[tuple[int, int]]:
    """The size of each hour's history, with hours counted from 1970, newest first."""
    sizes, pending = tables.recorded_bytes.c, tables.summaries.c
    both = sa.union_all(
        sa.select(sizes.hour, sizes.bytes), sa.select((pending.minute // HOUR).label("hour"), pending.bytes)
    ).subquery()
    query = sa.select(both.c.hour, sa.func.sum(both.c.bytes)).group_by(both.c.hour).order_by(both.c.hour.desc())
    return [(hour, int(size)) for hour, size in await connection.execute(query)]


async def delete_unused_layouts(connection: AsyncConnection, before: datetime) -> None:
    """Delete the layouts that were last used before a moment and an hour, and that no record or count refers to.

    Records may be older than the moment: a batch that waited on disk may have been written just now.
    """
    layouts, pending, time = tables.layouts.c, tables.summaries.c, microseconds(before)
    is_old = layouts.last_used_at < before - LAYOUT_USE_PRECISION
    # Recording takes these locks too, so nothing can refer to a layout between the check and the deletion.
    numbers = sa.select(layouts.environment).where(is_old).distinct().order_by(layouts.environment)
    for number in (await connection.execute(numbers)).scalars().all():
        await lock_environment(connection, number)
    # What refers to an old layout is from before the moment, which keeps these searches short.
    has_records = sa.exists().where(
        _segments.environment == layouts.environment, _segments.last_time < time, _segments.layout_id == layouts.id
    )
    has_counts = sa.exists().where(
        pending.environment == layouts.environment,
        pending.minute <= time // _MICROSECONDS_A_MINUTE,
        pending.layout_id == layouts.id,
    )
    await connection.execute(tables.layouts.delete().where(is_old, ~has_records, ~has_counts))


async def delete_batches(connection: AsyncConnection, before: datetime, limit: int) -> bool:
    """Delete at most `limit` batch ids from before a moment; return whether there may be more."""
    column = tables.batches.c.id
    first = sa.select(column).where(column < uuid7(microseconds(before), 0)).order_by(column).limit(limit)
    return (await connection.execute(tables.batches.delete().where(column.in_(first)))).rowcount == limit


async def forget_environment(connection: AsyncConnection, number: int) -> bool:
    """Delete an environment's number and layouts; return False, and do nothing, if it still has records or events."""
    table = tables.recorded_environments
    # Recording takes the number's lock too, so nothing can arrive between the check and the deletion.
    await lock_environment(connection, number)
    for segments in (_segments, tables.event_segments.c):
        if (await connection.execute(sa.select(segments.id).where(segments.environment == number).limit(1))).first():
            return False
    await connection.execute(tables.layouts.delete().where(tables.layouts.c.environment == number))
    await connection.execute(table.delete().where(table.c.number == number))
    return True
