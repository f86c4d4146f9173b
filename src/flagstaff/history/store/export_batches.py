"""Sends the history onwards in blocks, whose bounds are stored before they are sent.

A block that may or may not have arrived is sent again with the same token and the same evaluations, so that the
receiver recognises it. following.py reads them; this module decides only where a block ends.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from uuid import UUID

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.history.store.columns import MIXED_VERSIONS, unpack
from flagstaff.history.store.following import FollowedSegment, Position, read_segments, read_unfinished
from flagstaff.history.store.layouts import get_layouts

EVALUATIONS, EVENTS = "clickhouse", "clickhouse-events"
"""What is sent, each in blocks of its own."""
_SEGMENTS_AT_ONCE = 50
_EVERYTHING = EvaluationFilter()

_deliveries = tables.deliveries.c
_delivered = tables.delivered.c
_delivered_events = tables.delivered_events.c
_segments = tables.segments.c
_environments = tables.recorded_environments.c

_take_statement = dialect.upsert(
    tables.deliveries,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["sink"],
        set_={"holder": insert.excluded.holder, "held_until": insert.excluded.held_until},
        where=sa.or_(
            _deliveries.holder == insert.excluded.holder,
            _deliveries.held_until < sa.bindparam("now", type_=tables.Moment),
        ),
    ).returning(_deliveries.token, _deliveries.ends),
)
_move_statement = dialect.upsert(
    tables.delivered,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["environment_id"], set_={"position": insert.excluded.position}
    ),
)
_move_events_statement = dialect.upsert(
    tables.delivered_events,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["environment_id"], set_={"segment": insert.excluded.segment}
    ),
)
_sizes_query = (
    sa.select(_segments.id, _segments.size, _segments.layout_id, _segments.version, _environments.counted_segment)
    .join_from(tables.segments, tables.recorded_environments, _segments.environment == _environments.number)
    .where(_segments.environment == sa.bindparam("environment"))
    .order_by(_segments.id)
)
_contents_query = sa.select(_segments.id, _segments.size, _segments.version, _segments.content).where(
    _segments.environment == sa.bindparam("environment"), _segments.id.in_(sa.bindparam("ids", expanding=True))
)

_decode_position = msgspec.json.Decoder(Position).decode
_decode_ends = msgspec.json.Decoder(dict[UUID, Position]).decode


@dataclass(frozen=True, slots=True)
class Block:
    """Records that are sent together: of each environment, those up to a position that were not sent before."""

    token: str
    ends: Mapping[UUID, Position]


@dataclass(slots=True)
class Room:
    """The room that is left in a block: evaluations, and results of flags in them."""

    evaluations: int
    results: int

    def take(self, count: int, width: int) -> int:
        """Use room for some of the evaluations with so many flags, and return for how many; 0 if none is left."""
        if self.evaluations <= 0 or self.results <= 0:
            return 0
        taken = min(count, self.evaluations, max(1, self.results // max(1, width)))
        self.evaluations -= taken
        self.results -= taken * width
        return taken

    def take_each(self, widths: Iterable[int]) -> int:
        """Use room for the first of evaluations with so many flags each, and return for how many."""
        return sum(takewhile(bool, (self.take(1, width) for width in widths)))


async def take_turn(
    connection: AsyncConnection, sink: str, holder: str, now: datetime, until: datetime
) -> tuple[bool, Block | None]:
    """Return whether the holder is the one that sends until then, and the block that has been begun, if there is one.

    A holder whose time is over loses nothing but its turn: the next one sends the same block.
    """
    values = {"sink": sink, "holder": holder, "held_until": until, "now": now}
    row = (await connection.execute(_take_statement(connection), values)).one_or_none()
    if row is None or row.token is None:
        return row is not None, None
    return True, Block(row.token, _decode_ends(row.ends))


async def find_tokens(connection: AsyncConnection) -> dict[str, str]:
    """The tokens of the blocks that have been begun, by sink, also of sinks that the settings do not name any more."""
    query = sa.select(_deliveries.sink, _deliveries.token).where(_deliveries.token.is_not(None))
    return {sink: token for sink, token in await connection.execute(query) if token is not None}


async def begin_block(connection: AsyncConnection, sink: str, holder: str, block: Block) -> bool:
    """Store a block's bounds; return False if it is another one's turn, or another block has been begun."""
    update = tables.deliveries.update().where(
        _deliveries.sink == sink, _deliveries.holder == holder, _deliveries.token.is_(None)
    )
    values = {"token": block.token, "ends": _encode(block.ends)}
    return (await connection.execute(update.values(values))).rowcount == 1


async def end_block(connection: AsyncConnection, sink: str, block: Block) -> bool:
    """Note that a block has arrived; return False, and change nothing, if that is already noted."""
    update = tables.deliveries.update().where(_deliveries.sink == sink, _deliveries.token == block.token)
    if (await connection.execute(update.values(token=None, ends=None))).rowcount != 1:
        return False
    if sink == EVENTS:
        segments = [{"environment_id": key, "segment": each.segment} for key, each in block.ends.items()]
        await connection.execute(_move_events_statement(connection), segments)
        return True
    rows = [{"environment_id": key, "position": _encode(each)} for key, each in block.ends.items()]
    await connection.execute(_move_statement(connection), rows)
    return True


async def read_positions(connection: AsyncConnection, sink: str) -> dict[UUID, Position]:
    """Up to where each environment's history was sent."""
    if sink == EVENTS:
        sent = await connection.execute(sa.select(_delivered_events.environment_id, _delivered_events.segment))
        return {environment_id: Position(segment) for environment_id, segment in sent}
    rows = await connection.execute(sa.select(_delivered.environment_id, _delivered.position))
    return {row.environment_id: _decode_position(row.position) for row in rows}


async def find_end(connection: AsyncConnection, number: int, position: Position, room: Room) -> Position:
    """The position up to which a block can hold what follows a position; the same one if nothing follows."""
    wanted = {"environment": number}
    after = _sizes_query.where(_segments.id > position.segment).limit(_SEGMENTS_AT_ONCE)
    rows = [*(await connection.execute(after, wanted)).all()]
    if position.unfinished:  # in a query of its own: with both in one, PostgreSQL reads the whole history up to these
        unfinished = _sizes_query.where(_segments.id.in_(position.unfinished))
        rows = [*(await connection.execute(unfinished, wanted)).all(), *rows]
    new = [row for row in rows if row.size > position.unfinished.get(row.id, 0)]
    if not new:
        return position
    layouts = await get_layouts(connection, {row.layout_id for row in new})
    places = await _read_places(connection, number, [row.id for row in new if row.version in MIXED_VERSIONS])
    present = {row.id for row in rows}
    end = Position(position.segment, {key: size for key, size in position.unfinished.items() if key in present})
    for row in rows:
        read, taken = end.unfinished.get(row.id, 0), 0
        if row.size > read:
            flags = len(layouts[row.layout_id].flags)
            if row.id in places:
                taken = room.take_each(flags if each is None else 1 for each in places[row.id][read : row.size])
            else:
                taken = room.take(row.size - read, flags)
        if read + taken < row.size:
            return Position(max(end.segment, row.id), {**end.unfinished, row.id: read + taken}) if taken else end
        end = end.after(row)
    return end


async def read_between(
    connection: AsyncConnection, number: int, position: Position, end: Position
) -> AsyncIterator[FollowedSegment]:
    """The evaluations after a position up to an end, the same ones each time unless some were deleted.

    Damaged segments are left out. Raises Error CONFLICT as `read_segments`.
    """
    stretch = await read_unfinished(connection, number, position, _EVERYTHING)
    while True:
        for each in stretch.segments:
            until = end.unfinished.get(each.id)
            offsets = each.offsets if until is None else [offset for offset in each.offsets if offset < until]
            if offsets:
                yield FollowedSegment(each.id, each.position, each.layout, each.columns, offsets)
        after = await read_segments(connection, number, stretch.position, _EVERYTHING, last=end.segment)
        if after.position == stretch.position:
            return
        stretch = after


async def _read_places(
    connection: AsyncConnection, number: int, segment_ids: Sequence[int]
) -> dict[int, list[int | None]]:
    """The flags of the evaluations of mixed segments, with None for all flags; as many of all if it is damaged."""
    if not segment_ids:
        return {}
    found = {}
    rows = await connection.execute(_contents_query, {"environment": number, "ids": segment_ids})
    for segment_id, size, version, content in rows:
        try:
            found[segment_id] = unpack(version, content).flags or [None] * size
        except ValueError:  # whoever reads it logs it
            found[segment_id] = [None] * size
    return found


def _encode(value: object) -> str:
    return msgspec.json.encode(value).decode()
