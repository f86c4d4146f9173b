"""Finds the events of a user. Nothing finds them by an index: all segments of the environment are read."""

from collections.abc import Collection, Sequence
from typing import Any

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import tables
from flagstaff.history.store.event_segments import StoredEvent, unpack

_AT_ONCE = 8
_segments = tables.event_segments.c
_query = (
    sa.select(_segments.id, _segments.content)
    .where(_segments.environment == sa.bindparam("environment"), _segments.id > sa.bindparam("after"))
    .order_by(_segments.id)
    .limit(_AT_ONCE)
)

log = structlog.get_logger(__name__)


async def list_after(
    connection: AsyncConnection, environment: int, units: Collection[str], after: int
) -> tuple[list[StoredEvent], int | None]:
    """The user's events in some segments with ids above `after`, and the id to go on with; None at the end."""
    rows: Sequence[Any] = (await connection.execute(_query, {"environment": environment, "after": after})).all()
    found, turns = list[StoredEvent](), Turns()
    for row in rows:
        try:
            found += (StoredEvent(*event) for event in unpack(row.content) if event[1] in units)
        except ValueError as error:
            log.error("history_row_damaged", table=tables.event_segments.name, id=row.id, error=str(error))  # noqa: TRY400
        await turns.give()
    return found, rows[-1].id if len(rows) == _AT_ONCE else None
