"""Request metrics in the history: series, and what was reported of them by the minute in which it arrived."""

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns, collect, pause
from flagstaff.database import dialect, tables
from flagstaff.database.tables import microseconds, moment
from flagstaff.metrics.request_metrics import SERIES_MAX, Measured, RequestKind, Sample, Series
from flagstaff.values.lists import parts_of

_SEEN = timedelta(minutes=10)
"""A series that was seen this recently is not marked as seen again."""
_ROWS_AT_ONCE = 100  # in a statement
_MICROSECONDS_A_MINUTE = 60 * 10**6

_series, _samples = tables.request_series.c, tables.request_samples.c
_create = dialect.upsert(tables.request_series, lambda insert: insert.on_conflict_do_nothing())
_add = dialect.upsert(
    tables.request_samples,
    lambda insert: insert.on_conflict_do_update(
        index_elements=[_samples.series, _samples.minute, _samples.bound],
        set_={"amount": _samples.amount + insert.excluded.amount, "times": _samples.times + insert.excluded.times},
    ),
)
_of_environment = sa.select(tables.request_series).where(_series.environment_id == sa.bindparam("environment"))


def minute_of(at: datetime) -> int:
    """The minute of a moment, counted from 1970."""
    return microseconds(at) // _MICROSECONDS_A_MINUTE


def minute_start(minute: int) -> datetime:
    """Return the start of a minute."""
    return moment(minute * _MICROSECONDS_A_MINUTE)


async def add_measured(
    connection: AsyncConnection, environment_id: UUID, measured: Sequence[Measured], at: datetime, most: int
) -> int:
    """Add what was measured to the samples of the minute; return how many samples were dropped.

    They are dropped that would be beyond `most` samples of the environment in this hour, or are of a series beyond
    `SERIES_MAX`.
    """
    known = await _open_series(connection, environment_id, measured, at)
    minute = minute_of(at)
    of_hour = sa.select(_series.id).where(_series.environment_id == environment_id)
    present = sa.select(sa.func.count()).where(_samples.minute >= minute - minute % 60, _samples.series.in_(of_hour))
    room = max(0, most - int((await connection.execute(present)).scalar_one()))
    sums: dict[tuple[int, str], tuple[float, int]] = {}
    dropped = 0
    for each in measured:
        series = known.get(each.series)
        for bound, amount, times in each.samples:
            if series is None or ((series, bound) not in sums and len(sums) >= room):
                dropped += 1
                continue
            before = sums.get((series, bound), (0.0, 0))
            sums[series, bound] = before[0] + amount, before[1] + times
    rows = [
        {"series": series, "minute": minute, "bound": bound, "amount": amount, "times": times}
        for (series, bound), (amount, times) in sorted(sums.items())  # in one order, so that instances cannot deadlock
    ]
    for some in parts_of(rows, _ROWS_AT_ONCE):
        await connection.execute(_add(connection), some)
        await pause()
    return dropped


async def _open_series(
    connection: AsyncConnection, environment_id: UUID, measured: Sequence[Measured], at: datetime
) -> dict[tuple[str, RequestKind, tuple[tuple[str, str], ...]], int]:
    """The ids of the series of what was measured, which are created while there is room for them."""
    present = await list_series(connection, environment_id)
    by_key = {_key_of(each): each for each in present}
    new = {each.series: each for each in measured if each.series not in by_key}
    room = max(0, SERIES_MAX - len(present))
    rows = [
        {
            "environment_id": environment_id,
            "name": each.name,
            "kind": each.kind,
            "labels": _write_labels(each.labels),
            "help": each.help,
            "seen_at": at,
        }
        for _, each in sorted(new.items())[:room]
    ]
    if rows:
        await connection.execute(_create(connection), rows)
        by_key = {_key_of(each): each for each in await list_series(connection, environment_id)}
    stale = sorted(
        by_key[key].id
        for key in {each.series for each in measured}
        if key in by_key and at - by_key[key].seen_at >= _SEEN
    )
    if stale:
        seen = tables.request_series.update().where(_series.id.in_(stale)).values(seen_at=at)
        await connection.execute(seen)
    return {key: each.id for key, each in by_key.items()}


async def list_series(connection: AsyncConnection, environment_id: UUID, name: str | None = None) -> list[Series]:
    """The series of an environment, or the series of one name, the oldest first."""
    query = _of_environment.order_by(_series.id)
    if name is not None:
        query = query.where(_series.name == name)
    rows = await connection.execute(query, {"environment": environment_id})
    return await collect(
        Series(row.id, row.name, RequestKind(row.kind), row.help, json.loads(row.labels), row.seen_at) for row in rows
    )


async def sum_samples(
    connection: AsyncConnection, series: Collection[int], since: datetime, until: datetime, minutes: int
) -> dict[datetime, list[Sample]]:
    """The samples of all these series in the minutes from `since` until `until`, in sums of so many minutes.

    The sums begin at `since`, and the key is the start of each. Minutes without a sample have none.
    """
    first = minute_of(since)
    place = ((_samples.minute - first) // minutes).label("place")
    query = (
        sa.select(place, _samples.bound, sa.func.sum(_samples.amount), sa.func.sum(_samples.times))
        .where(_samples.series.in_(series), _samples.minute >= first, _samples.minute < minute_of(until))
        .group_by(place, _samples.bound)
        .order_by(place, _samples.bound)
    )
    found: dict[datetime, list[Sample]] = {}
    turns = Turns()
    for at, bound, amount, times in await connection.execute(query):
        await turns.give()
        start = minute_start(first + at * minutes)
        found.setdefault(start, []).append(Sample(bound, float(amount), int(times)))
    return found


async def list_measured_environments(connection: AsyncConnection) -> set[UUID]:
    """The environments that have series, whether or not they exist."""
    return set((await connection.execute(sa.select(_series.environment_id).distinct())).scalars())


async def delete_series(connection: AsyncConnection, environment_id: UUID) -> None:
    """Delete the series of an environment with their samples."""
    of_environment = sa.select(_series.id).where(_series.environment_id == environment_id)
    await connection.execute(tables.request_samples.delete().where(_samples.series.in_(of_environment)))
    await connection.execute(tables.request_series.delete().where(_series.environment_id == environment_id))


async def delete_samples_before(connection: AsyncConnection, oldest: datetime) -> None:
    """Delete the samples of the minutes before a moment's, and the series that were not seen since."""
    await connection.execute(tables.request_samples.delete().where(_samples.minute < minute_of(oldest)))
    await connection.execute(tables.request_series.delete().where(_series.seen_at < oldest - _SEEN))


def _key_of(series: Series) -> tuple[str, RequestKind, tuple[tuple[str, str], ...]]:
    return series.name, series.kind, tuple(sorted(series.labels.items()))


def _write_labels(labels: Sequence[tuple[str, str]]) -> str:
    written: Mapping[str, str] = dict(labels)
    return json.dumps(written, ensure_ascii=False, sort_keys=True)
