"""Reads the events of an environment in the order in which they were committed, or from the newest on.

Segments of events are never continued, so a position is the id of the last segment that was read. A damaged segment is
left out and counted.
"""

from collections import defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from typing import Any
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import tables
from flagstaff.database.tables import microseconds, moment
from flagstaff.history.store.columns import UnknownVersionError
from flagstaff.history.store.event_segments import kind_of, origins_of, require_version, unpack
from flagstaff.history.store.following import Position
from flagstaff.history.store.ids import evaluation_id
from flagstaff.metrics.events import EventFilter, EventPlace, RecordedEvent
from flagstaff.values.errors import Code, Error

SEGMENTS_AT_ONCE = 8
EVENTS_SEARCHED_MAX = 200_000
SEGMENTS_SEARCHED_MAX = 20_000
"""Segments that a page searches: each batch makes one, so that many have few events, which costs 10 µs each."""
_SMALL_AT_ONCE = 128
_EVENTS_AT_ONCE = 16_000

END: EventPlace = (1 << 62, 0)  # after every event

log = structlog.get_logger(__name__)

_segments = tables.event_segments.c
_select = sa.select(
    _segments.id,
    _segments.version,
    _segments.content,
    _segments.size,
    _segments.last_at,
    _segments.key_kind,
    _segments.origins,
).where(_segments.environment == sa.bindparam("environment"))
_after = _select.where(_segments.id > sa.bindparam("after"), _segments.id <= sa.bindparam("last")).order_by(
    _segments.id
)
_before = _select.where(_segments.id < sa.bindparam("before")).order_by(_segments.id.desc())


@dataclass(frozen=True, slots=True)
class FollowedEvents:
    """Events of one segment in their order. `position` is the one after the segment."""

    position: Position
    events: Sequence[RecordedEvent]

    @property
    def size(self) -> int:
        """The number of events."""
        return len(self.events)

    @property
    def oldest(self) -> int:
        """When the last of them happened, in nanoseconds since 1970; an event can arrive long after it happened."""
        return max(microseconds(each.occurred_at) for each in self.events) * 1000

    def by_day(self, zone: tzinfo) -> Mapping[str, "FollowedEvents"]:
        """The events of each day in a time zone."""
        found: defaultdict[str, list[RecordedEvent]] = defaultdict(list)
        for each in self.events:
            found[each.occurred_at.astimezone(zone).date().isoformat()].append(each)
        return {day: FollowedEvents(self.position, events) for day, events in found.items()}


@dataclass(frozen=True, slots=True)
class EventStretch:
    """Some events, the position at which reading continues after them, and the number of damaged segments."""

    position: Position
    segments: Sequence[FollowedEvents] = ()
    damaged: int = 0


@dataclass(frozen=True, slots=True)
class EventsPage:
    """Events, those that were stored last first; the next page has those before a place, None if there is none."""

    items: Sequence[RecordedEvent]
    before: EventPlace | None


async def read_events(
    connection: AsyncConnection, number: int, position: Position, wanted: EventFilter, *, last: int
) -> EventStretch:
    """Some events after the position, up to the segment `last`; at the end, the position stays the same.

    Raises:
        Error: CONFLICT when a newer version of Flagstaff has written one of the segments in a form that is unknown.
    """
    given = {"environment": number, "after": position.segment, "last": last}
    rows = (await connection.execute(_after.limit(SEGMENTS_AT_ONCE), given)).all()
    found, damaged, turns = list[FollowedEvents](), 0, Turns()
    for row in rows:
        position = Position(row.id)
        events = _events(row, wanted)
        damaged += events is None
        if events:
            found.append(FollowedEvents(position, events))
        await turns.give()
    return EventStretch(position, found, damaged)


async def list_events(
    connection: AsyncConnection, number: int, wanted: EventFilter, *, limit: int, before: EventPlace
) -> EventsPage:
    """A page of events before a place: a segment, and an offset in it. Searches a limited number of events."""
    found, place = list[RecordedEvent](), (before[0], 0)
    async for row in _newest(connection, number, before):
        for each in reversed(_events(row, wanted) or ()):
            if each.place < before:
                if len(found) == limit:
                    return EventsPage(found, found[-1].place)
                found.append(each)
        place = row.id, 0
    return EventsPage(found, place if await _has_more(connection, number, place[0]) else None)


async def _newest(connection: AsyncConnection, number: int, before: EventPlace) -> AsyncIterator[Any]:
    end, turns, at_once = before[0] + 1, Turns(), SEGMENTS_AT_ONCE
    segments = events = 0
    while segments < SEGMENTS_SEARCHED_MAX and events < EVENTS_SEARCHED_MAX:
        given = {"environment": number, "before": end}
        rows = (await connection.execute(_before.limit(at_once), given)).all()
        for row in rows:
            yield row
            await turns.give()
        if len(rows) < at_once:
            return
        end = rows[-1].id
        size = sum(row.size for row in rows)
        segments, events = segments + at_once, events + size
        at_once = max(SEGMENTS_AT_ONCE, min(_SMALL_AT_ONCE, _EVENTS_AT_ONCE * at_once // max(size, 1)))


async def _has_more(connection: AsyncConnection, number: int, before: int) -> bool:
    earlier = sa.select(_segments.id).where(_segments.environment == number, _segments.id < before).limit(1)
    return (await connection.execute(earlier)).first() is not None


def _events(row: Any, wanted: EventFilter) -> list[RecordedEvent] | None:
    """The events of a segment that match, in their order; None if it is damaged. Raises Error CONFLICT."""
    if wanted.since is not None and row.last_at < microseconds(wanted.since):
        return []
    units, wanted_metric = wanted.units, wanted.metric
    first = 0 if wanted.since is None else microseconds(wanted.since)
    end = None if wanted.until is None else microseconds(wanted.until)
    try:
        require_version(row.version)
        found = [
            (offset, *fields)
            for offset, fields in enumerate(unpack(row.content))
            if (units is None or fields[1] in units)
            and wanted_metric in (None, fields[0])
            and fields[2] >= first
            and (end is None or fields[2] < end)
        ]
        origins = origins_of(row) if found else None
    except UnknownVersionError as error:
        raise Error(
            Code.CONFLICT,
            f"The events cannot be read further: {error} to this version of Flagstaff, because a newer one has written "
            "them. Use the newer version, which continues there.",
        ) from error
    except ValueError as error:
        log.error("history_row_damaged", table=tables.event_segments.name, id=row.id, error=str(error))  # noqa: TRY400
        return None
    kind = kind_of(row)
    return [
        RecordedEvent(
            UUID(bytes=evaluation_id((at, row.id, offset))),
            (row.id, offset),
            metric,
            unit,
            moment(at),
            value,
            kind,
            None if origins is None else origins.at(offset),
        )
        for offset, metric, unit, at, value in found
    ]
