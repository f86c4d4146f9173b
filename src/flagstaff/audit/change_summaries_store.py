"""The numbers of changes in the audit trail, by interval."""

from bisect import bisect_right
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.values.intervals import Intervals, moment_of

_columns = tables.changes.c
_MICROSECONDS_A_MINUTE = 60_000_000
_UNITS = 60, 15, 1  # in minutes; time zones differ by quarters of an hour, and did so by minutes long ago


class ChangesInterval(NamedTuple):
    """The number of changes in an interval, of those to segments, and the newest change."""

    start: datetime
    changes: int
    segment_changes: int
    number: int
    at: datetime
    actor_email: str | None
    action: str
    flag_key: str | None


async def summarise_changes(
    connection: AsyncConnection,
    project_id: UUID,
    environment_id: UUID,
    intervals: Intervals,
    *,
    flag_key: str | None,
    with_segments: bool,
) -> list[ChangesInterval]:
    """Count the changes of an environment's flags, their rules and the project's segments, oldest interval first.

    Of one flag, only the segments count that its rules name now. Intervals without a change are left out.
    """
    counted = _counting(project_id, environment_id, intervals, flag_key, with_segments=with_segments)
    newest = tables.changes.alias().c
    query = (
        sa.select(counted, newest.at, newest.actor_email, newest.action, newest.flag_key)
        .join(counted, newest.id == counted.c.newest)
        .order_by(counted.c.place)
    )
    found: dict[int, ChangesInterval] = {}
    unit = _unit_of(intervals)
    for row in await connection.execute(query):
        start = intervals.starts[bisect_right(intervals.starts, row.place * unit) - 1]
        before = found.get(start)
        found[start] = ChangesInterval(
            moment_of(start),
            row.changes + (before.changes if before else 0),
            int(row.segment_changes) + (before.segment_changes if before else 0),
            row.newest,
            row.at,
            row.actor_email,
            row.action,
            row.flag_key,
        )
    return [*found.values()]


def _unit_of(intervals: Intervals) -> int:
    """Return the minutes by which changes are counted: whole intervals, or parts of those that differ in length."""
    return intervals.step or next(unit for unit in _UNITS if all(each % unit == 0 for each in intervals.bounds))


def _counting(
    project_id: UUID, environment_id: UUID, intervals: Intervals, flag_key: str | None, *, with_segments: bool
) -> sa.Subquery:
    """The counts of changes by the place of their interval, with the number of the newest change in each."""
    length = _unit_of(intervals) * _MICROSECONDS_A_MINUTE
    place = sa.type_coerce(_columns.at, sa.BigInteger) // length
    is_segment = _columns.action.like("segment.%")
    of_flags = sa.and_(
        _columns.environment_id == environment_id,
        _columns.flag_id.is_not(None),
        _columns.action.not_like("release.%"),
    )
    of_segments = sa.and_(_columns.environment_id.is_(None), is_segment)
    if flag_key is not None:
        of_flags = sa.and_(of_flags, _columns.flag_key == flag_key)
        named = sa.and_(tables.flags.c.environment_id == environment_id, tables.flags.c.key == flag_key)
        of_segments = sa.and_(of_segments, _columns.resource_id.in_(named_segments(named)))
    return (
        sa.select(
            place.label("place"),
            sa.func.count().label("changes"),
            sa.func.sum(sa.case((is_segment, 1), else_=0)).label("segment_changes"),
            sa.func.max(_columns.id).label("newest"),
        )
        .where(
            _columns.project_id == project_id,
            _columns.at >= intervals.since,
            _columns.at < intervals.until,
            sa.or_(of_flags, of_segments) if with_segments else of_flags,
        )
        .group_by(place)
        .subquery()
    )


def named_segments(flag: sa.ColumnElement[bool]) -> sa.Select[tuple[UUID]]:
    """The ids of the segments that the rules of a flag name."""
    flags, rules, segments, environments = (
        tables.flags.c,
        tables.rules.c,
        tables.project_segments.c,
        tables.environments.c,
    )
    return sa.select(segments.id).where(
        flag,
        environments.id == flags.environment_id,
        segments.project_id == environments.project_id,
        rules.flag_id == flags.id,
        rules.rule_type == "segment",
        rules.rule_value == segments.key,
    )
