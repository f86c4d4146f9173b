"""The end of the evaluation history: by age, and with the environments that it belongs to. Bit by bit."""

from datetime import datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.storage import tables
from flagstaff.storage.history.batches import LAYOUT_USE_PRECISION
from flagstaff.storage.history.ids import uuid7
from flagstaff.storage.history.segments import MICROSECONDS_A_SPAN
from flagstaff.storage.tables import microseconds

_MICROSECONDS_A_MINUTE = 60 * 10**6
_segments = tables.segments.c


async def delete_segments(connection: AsyncConnection, number: int, before: datetime | None, limit: int) -> bool:
    """Delete at most `limit` of an environment's segments, all or those that end before a moment.

    Returns whether there may be more.
    """
    condition = _segments.environment == number
    if before is not None:
        condition = sa.and_(condition, _segments.last_time < microseconds(before))
    return await _delete_first(connection, _segments.id, condition, _segments.last_time, limit)


async def hide_evaluations(connection: AsyncConnection, number: int, before: datetime) -> None:
    """Have those of an environment's segments that are partly from before a moment begin at it."""
    time = microseconds(before)
    crosses = sa.and_(_segments.last_time.between(time, time + MICROSECONDS_A_SPAN), _segments.first_time < time)
    await connection.execute(
        tables.segments.update().where(_segments.environment == number, crosses).values(first_time=time)
    )


async def delete_summaries(connection: AsyncConnection, number: int, before: datetime | None) -> None:
    """Delete an environment's summaries, those of the minutes before a moment's or all."""
    columns = tables.summaries.c
    statement = tables.summaries.delete().where(columns.environment == number)
    if before is not None:
        statement = statement.where(columns.minute < microseconds(before) // _MICROSECONDS_A_MINUTE)
    await connection.execute(statement)


async def delete_unused_layouts(connection: AsyncConnection, before: datetime) -> None:
    """Delete the layouts that were last used before a moment and an hour."""
    await connection.execute(
        tables.layouts.delete().where(tables.layouts.c.last_used_at < before - LAYOUT_USE_PRECISION)
    )


async def delete_batches(connection: AsyncConnection, before: datetime, limit: int) -> bool:
    """Forget at most `limit` batches that began before a moment; whether there may be more."""
    column = tables.batches.c.id
    return await _delete_first(connection, column, column < uuid7(microseconds(before), 0), column, limit)


async def forget_environment(connection: AsyncConnection, number: int) -> bool:
    """Delete an environment's number and layouts, if nothing is recorded of it any more; False if something is."""
    table = tables.recorded_environments
    # Who records takes the number's lock too, so nothing can arrive between the question and the deletion.
    await connection.execute(sa.select(table.c.number).where(table.c.number == number).with_for_update())
    if (await connection.execute(sa.select(_segments.id).where(_segments.environment == number).limit(1))).first():
        return False
    await connection.execute(tables.layouts.delete().where(tables.layouts.c.environment == number))
    await connection.execute(table.delete().where(table.c.number == number))
    return True


async def _delete_first(
    connection: AsyncConnection,
    key: sa.Column[object],
    condition: sa.ColumnElement[bool],
    order: sa.Column[object],
    limit: int,
) -> bool:
    first = sa.select(key).where(condition).order_by(order).limit(limit)
    return (await connection.execute(key.table.delete().where(key.in_(first)))).rowcount == limit
