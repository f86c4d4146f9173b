"""Counts of the results that applications reported of flags, and of flags that were asked for by key.

Counts are booked in the hour in which they arrive, because clients' clocks are not to be relied on.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from heapq import heapify, heappop
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import collect
from flagstaff.database import dialect, tables
from flagstaff.database.tables import microseconds, moment
from flagstaff.values.lists import parts_of

YES, NO, VARIANT, ASKED = "yes", "no", "variant:", "asked"
HOUR = timedelta(hours=1)
_KEYS_AT_ONCE = 500  # in a query
_ROWS_AT_ONCE = 100  # in a statement
_MICROSECONDS_AN_HOUR = 3600 * 10**6

_counts = tables.reported_counts.c
_key = (_counts.environment_id, _counts.hour, _counts.flag_key, _counts.application, _counts.sdk, _counts.result)
_add = dialect.upsert(
    tables.reported_counts,
    lambda insert: insert.on_conflict_do_update(
        index_elements=list(_key),
        set_={"count": _counts.count + insert.excluded.count, "reported_at": insert.excluded.reported_at},
    ),
)
_by_flag = (_counts.flag_key, _counts.application, _counts.sdk, _counts.result)
# Steps from one environment to the next in the index: DISTINCT would read every count that is kept.
_ordered = sa.select(_counts.environment_id).order_by(_counts.environment_id).limit(1)
_each = sa.select(_ordered.scalar_subquery().label("environment_id")).cte("each", recursive=True)
_each = _each.union_all(
    sa.select(_ordered.where(_counts.environment_id > _each.c.environment_id).correlate(_each).scalar_subquery()).where(
        _each.c.environment_id.is_not(None)
    )
)
_asked_environments = sa.select(_each.c.environment_id).where(
    sa.exists().where(_counts.environment_id == _each.c.environment_id, _counts.hour >= sa.bindparam("hour"))
)
_dropped = tables.dropped_reports.c
_drop = dialect.upsert(
    tables.dropped_reports,
    lambda insert: insert.on_conflict_do_update(
        index_elements=[_dropped.environment_id, _dropped.hour],
        set_={"counts": _dropped.counts + insert.excluded.counts},
    ),
)


class CountKey(NamedTuple):
    """The key of a count: a result of a flag in an application. `ASKED` is counted without an application."""

    environment_id: UUID
    flag_key: str
    application: str
    sdk: str
    result: str


class ReportedCount(NamedTuple):
    """The number of times that an application reported a result of a flag, and the last time.

    `hour` is the hour in which it was; 0 in sums over several.
    """

    hour: int
    flag_key: str
    application: str
    sdk: str
    result: str
    times: int
    reported_at: datetime


def hour_of(at: datetime) -> int:
    """The hour of a moment, counted from 1970."""
    return microseconds(at) // _MICROSECONDS_AN_HOUR


def hour_start(hour: int) -> datetime:
    """Return the start of an hour."""
    return moment(hour * _MICROSECONDS_AN_HOUR)


async def add_counts(connection: AsyncConnection, added: Mapping[CountKey, int], at: datetime) -> None:
    """Add to the counts of the hour, in steps: one report may have tens of thousands."""
    hour = hour_of(at)
    waiting = await collect((key.environment_id.bytes, *key[1:], count) for key, count in added.items())
    heapify(waiting)  # in one order, so that processes cannot deadlock
    while waiting:
        rows = []
        for _ in range(min(len(waiting), _ROWS_AT_ONCE)):
            environment, *texts, count = heappop(waiting)
            key = CountKey(UUID(bytes=environment), *texts)
            rows.append({**key._asdict(), "hour": hour, "count": count, "reported_at": at})
        # The loop answers others meanwhile. A pause would wait for the turns of others while the writer is held.
        await connection.execute(_add(connection), rows)


async def add_dropped(connection: AsyncConnection, dropped: Mapping[UUID, int], hour: int) -> None:
    """Add to the numbers of counts of environments that were dropped in the hour."""
    for environment_id, counts in sorted(dropped.items()):  # in one order, so that instances cannot deadlock
        row = {"environment_id": environment_id, "hour": hour, "counts": counts}
        await connection.execute(_drop(connection), row)


async def count_reported(connection: AsyncConnection, environment_id: UUID, hour: int) -> int:
    """Return the number of different counts that applications of an environment reported in an hour."""
    query = sa.select(sa.func.count()).where(*_reported_in(environment_id, hour))
    return int((await connection.execute(query)).scalar_one())


async def find_reported(connection: AsyncConnection, environment_id: UUID, hour: int) -> frozenset[tuple[str, ...]]:
    """Return these counts, each as its key without the environment."""
    found = await connection.execute(sa.select(*_by_flag).where(*_reported_in(environment_id, hour)))
    return frozenset(await collect(tuple(row) for row in found))


async def list_flag_counts(
    connection: AsyncConnection, environment_id: UUID, flag_key: str, since: datetime, until: datetime
) -> list[ReportedCount]:
    """List the reports of a flag in the hours from `since` until `until`, by hour and application."""
    query = (
        sa.select(_counts.hour, *_by_flag, _counts.count, _counts.reported_at)
        .where(*_reported_between(environment_id, since, until), _counts.flag_key == flag_key)
        .order_by(*_key)
    )
    return [ReportedCount(*row) for row in await connection.execute(query)]


async def sum_counts(
    connection: AsyncConnection, environment_id: UUID, since: datetime, until: datetime, limit: int
) -> list[ReportedCount]:
    """Sum up the reports in these hours, by flag and application; at most `limit` sums."""
    query = (
        sa.select(sa.literal(0), *_by_flag, sa.func.sum(_counts.count), sa.func.max(_counts.reported_at))
        .where(*_reported_between(environment_id, since, until))
        .group_by(*_by_flag)
        .order_by(*_by_flag)
        .limit(limit)
    )
    rows = await connection.execute(query)
    return [ReportedCount(*row)._replace(times=int(row[-2])) for row in rows]  # a sum is a decimal in PostgreSQL


async def sum_dropped(connection: AsyncConnection, environment_id: UUID, since: datetime, until: datetime) -> int:
    """Return the number of counts that were dropped in these hours, because there were too many."""
    is_between = _dropped.hour >= hour_of(since), _dropped.hour < hour_of(until)
    query = sa.select(sa.func.coalesce(sa.func.sum(_dropped.counts), 0))
    found = await connection.execute(query.where(_dropped.environment_id == environment_id, *is_between))
    return int(found.scalar_one())


async def list_flags_asked_for(
    connection: AsyncConnection, environment_id: UUID, since: datetime, limit: int
) -> Sequence[tuple[str, str, int, datetime]]:
    """The flags that were asked for or reported: key, application, how often and when last, the most often first."""
    count = sa.func.sum(_counts.count)
    query = (
        sa.select(_counts.flag_key, _counts.application, count, sa.func.max(_counts.reported_at))
        .where(*_asked_since(environment_id, since))
        .group_by(_counts.flag_key, _counts.application)
        .order_by(count.desc(), _counts.flag_key, _counts.application)
        .limit(limit)
    )
    rows = await connection.execute(query)
    return [(key, application, int(total), at) for key, application, total, at in rows]


async def find_asked(
    connection: AsyncConnection, environment_id: UUID, since: datetime, flag_keys: Collection[str]
) -> set[str]:
    """Return the flags, of those given, that were asked for or reported."""
    found: set[str] = set()
    keys = sorted(flag_keys)
    for some in parts_of(keys, _KEYS_AT_ONCE):
        query = sa.select(_counts.flag_key).distinct().where(*_asked_since(environment_id, since))
        found.update((await connection.execute(query.where(_counts.flag_key.in_(some)))).scalars())
    return found


async def list_asked_environments(connection: AsyncConnection, since: datetime) -> set[UUID]:
    """The environments of which flags were asked for or reported since a moment, whether or not they exist."""
    return set((await connection.execute(_asked_environments, {"hour": hour_of(since)})).scalars())


async def list_reported_environments(connection: AsyncConnection) -> set[UUID]:
    """The environments of which something was reported, whether or not they exist."""
    both = sa.union(sa.select(_counts.environment_id), sa.select(_dropped.environment_id))
    return set((await connection.execute(both)).scalars())


async def delete_first_hour(connection: AsyncConnection, environment_id: UUID) -> bool:
    """Delete what was reported of an environment in the first hour that has some; whether there was one."""
    first = sa.select(sa.func.min(_counts.hour)).where(_counts.environment_id == environment_id)
    hour = (await connection.execute(first)).scalar_one()
    if hour is None:
        await connection.execute(tables.dropped_reports.delete().where(_dropped.environment_id == environment_id))
        return False
    of_hour = _counts.environment_id == environment_id, _counts.hour == hour
    await connection.execute(tables.reported_counts.delete().where(*of_hour))
    return True


async def delete_reports_before(connection: AsyncConnection, oldest: datetime) -> None:
    """Delete the counts of the hours before a moment's."""
    await connection.execute(tables.reported_counts.delete().where(_counts.hour < hour_of(oldest)))
    await connection.execute(tables.dropped_reports.delete().where(_dropped.hour < hour_of(oldest)))


def _asked_since(environment_id: UUID, since: datetime) -> list[sa.ColumnElement[bool]]:
    return [
        _counts.environment_id == environment_id,
        _counts.hour >= hour_of(since),
        _counts.result.in_((YES, NO, ASKED)),
    ]


def _reported_in(environment_id: UUID, hour: int) -> list[sa.ColumnElement[bool]]:
    return [_counts.environment_id == environment_id, _counts.hour == hour, _counts.result != ASKED]


def _reported_between(environment_id: UUID, since: datetime, until: datetime) -> list[sa.ColumnElement[bool]]:
    return [
        _counts.environment_id == environment_id,
        _counts.hour >= hour_of(since),
        _counts.hour < hour_of(until),
        _counts.result != ASKED,
    ]
