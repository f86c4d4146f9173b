"""The events of a block for another database. A block ends between segments, which are never continued."""

from collections.abc import AsyncIterator

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.history.store.export_batches import Room
from flagstaff.history.store.followed_events import FollowedEvents, read_events
from flagstaff.history.store.following import Position
from flagstaff.metrics.events import EventFilter

_SEGMENTS_AT_ONCE = 50
_EVERYTHING = EventFilter()

_segments = tables.event_segments.c
_sizes_query = (
    sa.select(_segments.id, _segments.size)
    .where(_segments.environment == sa.bindparam("environment"), _segments.id > sa.bindparam("after"))
    .order_by(_segments.id)
    .limit(_SEGMENTS_AT_ONCE)
)


async def find_end(connection: AsyncConnection, number: int, position: Position, room: Room) -> Position:
    """The position up to which a block can hold the events after a position; the same one if there are none.

    The last segment may have more events than there is room.
    """
    rows = await connection.execute(_sizes_query, {"environment": number, "after": position.segment})
    for segment_id, size in rows:
        if not room.take(size, 1):
            break
        position = Position(segment_id)
    return position


async def read_between(
    connection: AsyncConnection, number: int, position: Position, end: Position
) -> AsyncIterator[FollowedEvents]:
    """The events after a position up to an end. Damaged segments are left out.

    Raises Error CONFLICT as `read_events`.
    """
    while True:
        stretch = await read_events(connection, number, position, _EVERYTHING, last=end.segment)
        for each in stretch.segments:
            yield each
        if stretch.position == position:
            return
        position = stretch.position
