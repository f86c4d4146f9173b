"""Reads the evaluation history in pages, newest first. A request examines a bounded number of segments.

A page that ends at that bound has fewer items than requested, possibly none, and still has a next page.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.concurrency.worker import in_worker
from flagstaff.database import dialect, tables
from flagstaff.database.tables import microseconds, moment
from flagstaff.evaluation.history.filters import Checks, EvaluationFilter
from flagstaff.evaluation.history.layout import Layout, free_layouts
from flagstaff.evaluation.history.records import RecordedEvaluation
from flagstaff.history.store.columns import StoredColumns, unpack
from flagstaff.history.store.ids import END, Place, evaluation_id, find_place, place_of
from flagstaff.history.store.layouts import get_layouts
from flagstaff.history.store.matches import find_checks, matching_offsets
from flagstaff.history.store.segments import MICROSECONDS_A_SPAN, email_hash, user_hash

_MOST_FETCHED_AT_ONCE = 8

_segments = tables.segments.c
_last_place = sa.tuple_(_segments.last_time, _segments.id)
_newest_first = (_segments.last_time.desc(), _segments.id.desc())


@dataclass(frozen=True, slots=True)
class Bounds:
    """The number of segments that one request looks at."""

    searched: int = 5000  # for a user: their hashes
    examined: int = 100  # every evaluation in them


BOUNDS = Bounds()


@dataclass(frozen=True, slots=True)
class EvaluationPage:
    """Evaluations, newest first; the next page lists those with an id below `next_before`, unless that is None."""

    items: list[RecordedEvaluation]
    next_before: bytes | None


@dataclass(frozen=True, slots=True)
class _Range:
    """The range requested: an environment's evaluations from a time in microseconds up to a place, exclusive."""

    environment: int
    since: int
    end: Place

    def within(self) -> sa.ColumnElement[bool]:
        """The segments that end in the range."""
        return sa.and_(
            _segments.environment == self.environment,
            # The second condition follows from the third, which does not tell PostgreSQL which partitions to leave out.
            _segments.last_time.between(self.since, self.end[0]),
            _last_place < self.end[:2],
        )

    def beyond(self) -> sa.ColumnElement[bool]:
        """The segments that begin before the range's end and reach there, or further."""
        end = self.end[0]
        return sa.and_(
            _segments.environment == self.environment,
            _segments.last_time.between(max(end, self.since), end + MICROSECONDS_A_SPAN),
            _segments.first_time <= end,
            _last_place >= self.end[:2],
        )


@dataclass(frozen=True, slots=True)
class _Found:
    """An evaluation and its place.

    It keeps no column: the evaluations of a hundred segments have hundreds of megabytes.
    """

    place: Place
    evaluation: RecordedEvaluation


async def list_evaluations(
    connection: AsyncConnection,
    number: int,
    wanted: EvaluationFilter,
    *,
    limit: int,
    before: bytes | None,
    bounds: Bounds = BOUNDS,
) -> EvaluationPage:
    """A page of the evaluations of the environment with this number."""
    asked = _Range(
        environment=number,
        since=0 if wanted.since is None else microseconds(wanted.since),
        end=min(
            END if wanted.until is None else (microseconds(wanted.until), 0, 0),
            END if before is None else place_of(before),
        ),
    )
    segments, rest = await _find_segments(connection, asked, wanted, bounds)
    layouts = await get_layouts(connection, {segment.layout_id for segment in segments})
    found = await _find_newest(connection, asked, wanted, segments, layouts, limit + 1)
    settled = [each for each in found if rest is None or each.place >= rest]
    if len(settled) > limit:
        settled = settled[:limit]
        rest = settled[-1].place
    items = [each.evaluation for each in settled]
    needed = {id(each.layout) for each in items}
    found.clear()
    settled.clear()
    layouts = {each: layout for each, layout in layouts.items() if id(layout) not in needed}
    await in_worker(free_layouts, layouts)
    return EvaluationPage(items, None if rest is None else evaluation_id(rest))


async def _find_newest(
    connection: AsyncConnection,
    asked: _Range,
    wanted: EvaluationFilter,
    segments: Sequence[Any],
    layouts: Mapping[int, Layout],
    most: int,
) -> list[_Found]:
    """The newest matching evaluations in some segments, at most so many, newest first. Pauses for other work."""
    checks = await in_worker(find_checks, layouts, wanted.flag)
    segments = [segment for segment in segments if checks[segment.layout_id] is not None]
    found: list[_Found] = []
    turns = Turns()
    for part in _parts(segments):
        # Segments may overlap: an evaluation is next only if it is newer than all remaining segments.
        if len(found) == most and found[-1].place >= _end(part[0]):
            break
        contents = await _get_contents(connection, asked.environment, part)
        for segment in part:
            columns, layout = unpack(*contents.pop(segment.id)), layouts[segment.layout_id]
            offsets = matching_offsets(columns, layout, wanted, checks[segment.layout_id] or Checks())
            places = ((columns.times[offset] // 1000, segment.id, offset) for offset in offsets)
            since = max(asked.since, segment.first_time)  # from which it answers: see hide_evaluations
            newest = sorted((place for place in places if since <= place[0] and place < asked.end), reverse=True)
            if len(found) == most:
                newest = [place for place in newest if place > found[-1].place]
            found += (_Found(place, evaluation_at(place, columns, layout)) for place in newest[:most])
            found = sorted(found, key=attrgetter("place"), reverse=True)[:most]
            await turns.give()  # the content of a segment may have megabytes
    return found


async def find_evaluations(
    connection: AsyncConnection, number: int, wanted: Iterable[bytes]
) -> dict[bytes, RecordedEvaluation]:
    """The evaluations of the environment with this number that have one of these ids, and are still there."""
    found: dict[bytes, RecordedEvaluation] = {}
    layouts: dict[int, Layout] = {}  # most evaluations share one
    for each in wanted:
        place = find_place(each)
        if place is None:
            continue
        time, segment_id, offset = place
        query = sa.select(_segments.layout_id, _segments.version, _segments.content).where(
            _segments.environment == number,
            _segments.id == segment_id,
            _segments.last_time.between(time, time + MICROSECONDS_A_SPAN),
            _segments.first_time <= time,  # from which it answers: see hide_evaluations
        )
        segment = (await connection.execute(query)).one_or_none()
        if segment is None:
            continue
        columns = unpack(segment.version, segment.content)
        if offset >= len(columns.times) or columns.times[offset] // 1000 != time:
            continue
        if segment.layout_id not in layouts:
            layouts |= await get_layouts(connection, {segment.layout_id})
        found[each] = evaluation_at(place, columns, layouts[segment.layout_id])
    return found


async def _find_segments(
    connection: AsyncConnection, asked: _Range, wanted: EvaluationFilter, bounds: Bounds
) -> tuple[Sequence[Any], Place | None]:
    """The newest segments to examine, and the end of the range that remains for another request."""
    holding = []
    if wanted.user_id is not None:
        holding.append(dialect.contains_bytes(connection, _segments.user_hashes, user_hash(wanted.user_id)))
    if wanted.user_email is not None:
        holding.append(dialect.contains_bytes(connection, _segments.email_hashes, email_hash(wanted.user_email)))
    place = sa.select(_segments.id, _segments.layout_id, _segments.first_time, _segments.last_time).order_by(
        *_newest_first
    )
    # The few segments that extend beyond the end are not bounded; otherwise they might use up the bound.
    beyond = () if asked.end == END else (await connection.execute(place.where(asked.beyond(), *holding))).all()
    within, rest = place.where(asked.within()), None
    if holding:
        skipped = (await connection.execute(within.offset(bounds.searched).limit(1))).first()
        if skipped:
            rest = _end(skipped)
            within = within.where(_last_place >= rest[:2])
    found = (await connection.execute(within.where(*holding).limit(bounds.examined + 1))).all()
    if len(found) > bounds.examined:
        rest = _end(found[-1])
    return [*beyond, *found[: bounds.examined]], rest


def _end(segment: Any) -> Place:
    """The first place after all places in a segment and in those that end before it."""
    return (segment.last_time, segment.id + 1, 0)


def _parts(segments: Sequence[Any]) -> Iterator[Sequence[Any]]:
    """Segments, a few at a time, because often not all are needed."""
    start, size = 0, 1
    while start < len(segments):
        yield segments[start : start + size]
        start, size = start + size, min(2 * size, _MOST_FETCHED_AT_ONCE)


async def _get_contents(
    connection: AsyncConnection, environment: int, segments: Sequence[Any]
) -> dict[int, tuple[int, bytes]]:
    columns = (_segments.id, _segments.version, _segments.content)
    times = [segment.last_time for segment in segments]
    query = sa.select(*columns).where(
        _segments.environment == environment,
        _segments.last_time.between(min(times), max(times)),
        _segments.id.in_([segment.id for segment in segments]),
    )
    return {segment_id: (version, content) for segment_id, version, content in await connection.execute(query)}


def evaluation_at(place: Place, columns: StoredColumns, layout: Layout) -> RecordedEvaluation:
    """The evaluation in a place; the columns are its segment's."""
    time, _, offset = place
    layout, recorded = columns.result_at(offset, layout)
    return RecordedEvaluation(
        id=UUID(bytes=evaluation_id(place)),
        evaluated_at=moment(time),
        user_id=columns.users[offset],
        user_email=columns.emails[offset],
        layout=layout,
        recorded=recorded,
        attributes=columns.attributes_of(offset),
        has_all=columns.has_all,
        origin=columns.origin_of(offset),
    )
