"""Writes events of metrics in batches, each exactly once and in one transaction, and reads and deletes them.

Writers hold the lock of their environment until they commit, so that an event with a higher id was committed later.
Rows are inserted from one JSON text: binding each value would take most of the time that an event may cost.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.history.store.batches import is_new_batch, lock_environments
from flagstaff.metrics.events import UNKNOWN_MAX, EventBatch, EventGroup, EventRow

_MICROSECONDS_A_DAY = 86_400 * 10**6
_EVENTS_A_SEGMENT = 20  # deletions are counted in segments of evaluations, which are larger
_events, _ids, _unknown = tables.events.c, tables.event_ids.c, tables.unknown_metrics.c
_encode = msgspec.json.Encoder().encode

_insert_on_postgresql = sa.text(
    "INSERT INTO history.events (environment, metric, unit, at, value) "
    "SELECT :environment, row ->> 0, row ->> 1, (row ->> 2)::bigint, (row ->> 3)::double precision "
    "FROM json_array_elements(CAST(:rows AS json)) WITH ORDINALITY AS given (row, place) ORDER BY place"
)
_insert_on_sqlite = sa.text(
    "INSERT INTO events (environment, metric, unit, at, value) "
    "SELECT :environment, value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(:rows)"
)
_add_ids_on_postgresql = sa.text(
    "INSERT INTO history.event_ids (environment, digest, day) "
    "SELECT :environment, digest, :day FROM json_array_elements_text(CAST(:rows AS json)) AS digest "
    "ORDER BY digest ON CONFLICT DO NOTHING RETURNING digest"
)
_add_ids_on_sqlite = sa.text(
    "INSERT INTO event_ids (environment, digest, day) "
    "SELECT :environment, value, :day FROM json_each(:rows) WHERE true ON CONFLICT DO NOTHING RETURNING digest"
)
_add_unknown = dialect.upsert(
    tables.unknown_metrics,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["environment_id", "metric"],
        set_={"events": _unknown.events + insert.excluded.events, "last_at": insert.excluded.last_at},
    ),
)
_known_unknown = sa.select(_unknown.metric).where(_unknown.environment_id == sa.bindparam("environment_id"))
_last = sa.select(sa.func.max(_events.id)).where(_events.environment == sa.bindparam("environment"))
_after = (
    sa.select(_events.id, _events.metric, _events.unit, _events.at, _events.value)
    .where(
        _events.environment == sa.bindparam("environment"),
        _events.id > sa.bindparam("after"),
        _events.id <= sa.bindparam("last"),
    )
    .order_by(_events.id)
)
_of_units = (
    sa.select(_events.id, _events.metric, _events.unit, _events.at, _events.value)
    .where(
        _events.environment == sa.bindparam("environment"),
        _events.unit.in_(sa.bindparam("units", expanding=True)),
        _events.metric.in_(sa.bindparam("metrics", expanding=True)),
        _events.id > sa.bindparam("after"),
        _events.id <= sa.bindparam("last"),
    )
    .order_by(_events.id)
)


class StoredEvent(NamedTuple):
    """An event as it was stored; `at` is in microseconds since 1970."""

    id: int
    metric: str
    unit: str
    at: int
    value: float | None


async def write_events(connection: AsyncConnection, batch: EventBatch) -> bool:
    """Write a batch of events; return False, and change nothing, if it is already stored."""
    if not await is_new_batch(connection, batch.id, batch.at):
        return False
    now = tables.moment(batch.at)
    with_events = [group for group in batch.groups if group.rows]
    numbers = await lock_environments(connection, {group.environment_id for group in with_events})
    for group in with_events:
        await _write_group(connection, numbers[group.environment_id], group, now)
    for group in batch.groups:
        if group.unknown:
            await _count_unknown(connection, group, now)
    return True


async def _write_group(connection: AsyncConnection, number: int, group: EventGroup, now: datetime) -> None:
    rows = group.rows
    if any(row.digest for row in rows):
        rows = await _without_repetitions(connection, number, rows, now)
    if rows:
        statement = _insert_on_postgresql if connection.dialect.name == "postgresql" else _insert_on_sqlite
        await connection.execute(statement, {"environment": number, "rows": _encode(rows).decode()})


async def _without_repetitions(
    connection: AsyncConnection, number: int, rows: Sequence[EventRow], now: datetime
) -> list[EventRow]:
    """The rows of events whose ids were not stored before. An event may have several rows, one for each unit."""
    digests = sorted({row.digest for row in rows if row.digest})
    statement = _add_ids_on_postgresql if connection.dialect.name == "postgresql" else _add_ids_on_sqlite
    day = tables.microseconds(now) // _MICROSECONDS_A_DAY
    added = await connection.execute(statement, {"environment": number, "day": day, "rows": _encode(digests).decode()})
    new = set(added.scalars())
    kept, seen = [], set[tuple[str, str]]()
    for row in rows:
        if row.digest is not None:
            if row.digest not in new or (row.digest, row.unit) in seen:
                continue
            seen.add((row.digest, row.unit))
        kept.append(row)
    return kept


async def _count_unknown(connection: AsyncConnection, group: EventGroup, now: datetime) -> None:
    """Count events of metrics that do not exist, of so many different ones at most."""
    known = set((await connection.execute(_known_unknown, {"environment_id": group.environment_id})).scalars())
    room = UNKNOWN_MAX - len(known)
    rows = []
    for metric in sorted(group.unknown):
        room -= metric not in known
        if metric in known or room >= 0:
            rows.append(
                {
                    "environment_id": group.environment_id,
                    "metric": metric,
                    "events": group.unknown[metric],
                    "last_at": now,
                }
            )
    if rows:
        await connection.execute(_add_unknown(connection), rows)


async def find_last_event(connection: AsyncConnection, number: int) -> int:
    """The id of the event of an environment that was committed last; 0 if it has none."""
    return (await connection.execute(_last, {"environment": number})).scalar() or 0


async def list_events_after(
    connection: AsyncConnection, number: int, after: int, last: int, limit: int
) -> list[StoredEvent]:
    """The events of an environment with ids above `after` and up to `last`, oldest first; at most `limit`."""
    rows = await connection.execute(_after.limit(limit), {"environment": number, "after": after, "last": last})
    return [StoredEvent(*row) for row in rows]


async def list_events_of_units(
    connection: AsyncConnection, number: int, units: Sequence[str], metrics: Sequence[str], *, after: int, last: int
) -> list[StoredEvent]:
    """The events of some users, at most some hundred, with ids above `after` and up to `last`, oldest first."""
    if not units or not metrics or last <= after:
        return []
    wanted = {"environment": number, "units": units, "metrics": metrics, "after": after, "last": last}
    return [StoredEvent(*row) for row in await connection.execute(_of_units, wanted)]


async def list_unknown_metrics(connection: AsyncConnection, environment_ids: Sequence[UUID]) -> list[Any]:
    """The metrics that events named although they do not exist: environment, key, events and the last one's time."""
    query = (
        sa.select(tables.unknown_metrics)
        .where(_unknown.environment_id.in_(environment_ids))
        .order_by(_unknown.last_at.desc(), _unknown.metric)
    )
    return list(await connection.execute(query))


async def delete_events(connection: AsyncConnection, before: datetime, keep_max: int, limit: int) -> bool:
    """Delete at most some of the oldest events: those from before a moment, and those beyond `keep_max`.

    Returns whether there may be more.
    """
    limit *= _EVENTS_A_SEGMENT
    newest = (await connection.execute(sa.select(sa.func.max(_events.id)))).scalar() or 0
    first = sa.select(_events.id, _events.at).order_by(_events.id).limit(limit)
    time = tables.microseconds(before)
    oldest = [each.id for each in await connection.execute(first) if each.at < time or each.id <= newest - keep_max]
    if oldest:
        await connection.execute(tables.events.delete().where(_events.id.in_(oldest)))
    return len(oldest) == limit


async def delete_event_ids(connection: AsyncConnection, before: datetime, limit: int) -> bool:
    """Delete some ids of events from before a moment; return whether there may be more."""
    limit *= _EVENTS_A_SEGMENT
    day = tables.microseconds(before) // _MICROSECONDS_A_DAY
    old = sa.select(_ids.environment, _ids.digest).where(_ids.day < day).order_by(_ids.day).limit(limit)
    keys = [tuple(row) for row in await connection.execute(old)]
    if keys:
        await connection.execute(tables.event_ids.delete().where(sa.tuple_(_ids.environment, _ids.digest).in_(keys)))
    return len(keys) == limit


async def delete_events_of(connection: AsyncConnection, number: int, limit: int) -> bool:
    """Delete some events of an environment; return whether there may be more."""
    limit *= _EVENTS_A_SEGMENT
    first = sa.select(_events.id).where(_events.environment == number).order_by(_events.id).limit(limit)
    deleted = await connection.execute(tables.events.delete().where(_events.id.in_(first)))
    if deleted.rowcount < limit:
        await connection.execute(tables.event_ids.delete().where(_ids.environment == number))
    return deleted.rowcount == limit


async def delete_unknown_metrics(connection: AsyncConnection, before: datetime, limit: int) -> bool:  # noqa: ARG001
    """Forget the unknown metrics that were last named before a moment, which are few; returns False."""
    await connection.execute(tables.unknown_metrics.delete().where(_unknown.last_at < before))
    return False
