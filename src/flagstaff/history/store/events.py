"""Writes events of metrics in batches, each exactly once and in one transaction, and deletes them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.history.erased_users import Digests
from flagstaff.history.store import event_segments
from flagstaff.history.store.batches import find_new_batches, lock_environments
from flagstaff.history.store.erased_users import find_erased_users
from flagstaff.metrics.events import UNKNOWN_MAX, EventBatch, EventGroup, EventRow
from flagstaff.projects.record_origins import Origins, joined_origins
from flagstaff.projects.sdk_keys import KeyKind

_MICROSECONDS_A_DAY = 86_400 * 10**6
_IDS_A_SEGMENT = 20  # deletions are counted in segments, which are larger
_ids, _unknown = tables.event_ids.c, tables.unknown_metrics.c
_encode = msgspec.json.Encoder().encode

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


async def write_events(connection: AsyncConnection, *batches: EventBatch, digests: Digests | None = None) -> set[int]:
    """Write batches of events, oldest first; return the ids of those that are new. The others are already stored.

    Users who were erased since are known by `digests`; their events are stored without a user.
    """
    new = await find_new_batches(connection, {batch.id: batch.at for batch in batches})
    rows: defaultdict[tuple[UUID, int, KeyKind | None], list[EventRow]] = defaultdict(list)
    origins: defaultdict[tuple[UUID, int, KeyKind | None], list[tuple[Origins | None, int]]] = defaultdict(list)
    unknown: list[tuple[EventGroup, datetime]] = []
    for batch in {batch.id: batch for batch in batches}.values():  # one can be in two files
        if batch.id in new:
            for group in batch.groups:
                place = group.environment_id, batch.at // _MICROSECONDS_A_DAY, group.kind
                rows[place] += group.rows
                origins[place].append((group.origins, len(group.rows)))
                unknown += [(group, tables.moment(batch.at))] if group.unknown else []
    with_rows = {place: some for place, some in rows.items() if some}
    numbers = await lock_environments(connection, {environment_id for environment_id, *_ in with_rows})
    if digests is not None and with_rows:
        oldest = min(row.at for some in with_rows.values() for row in some)
        erased = await find_erased_users(connection, numbers, oldest)
        for place in [each for each in with_rows if each[0] in erased]:
            with_rows[place] = digests.events_without_erased(with_rows[place], erased[place[0]])
    for place, some in with_rows.items():
        environment_id, day, kind = place
        await _write_rows(connection, numbers[environment_id], some, joined_origins(origins[place]), day, kind)
    for group, at in unknown:
        await _count_unknown(connection, group, at)
    return new


async def _write_rows(
    connection: AsyncConnection,
    number: int,
    rows: Sequence[EventRow],
    origins: Origins | None,
    day: int,
    kind: KeyKind | None,
) -> None:
    if any(row.digest for row in rows):
        kept = await _find_new(connection, number, rows, day)
        rows = [rows[offset] for offset in kept]
        origins = origins and origins.only(kept)
    await event_segments.add_events(connection, number, rows, kind, origins)


async def _find_new(connection: AsyncConnection, number: int, rows: Sequence[EventRow], day: int) -> list[int]:
    """The offsets of the events whose ids were not stored before. An event may have several rows, one for each unit."""
    digests = sorted({row.digest for row in rows if row.digest})
    statement = _add_ids_on_postgresql if connection.dialect.name == "postgresql" else _add_ids_on_sqlite
    added = await connection.execute(statement, {"environment": number, "day": day, "rows": _encode(digests).decode()})
    new = set(added.scalars())
    kept, seen = [], set[tuple[str, str]]()
    for offset, row in enumerate(rows):
        if row.digest is not None:
            if row.digest not in new or (row.digest, row.unit) in seen:
                continue
            seen.add((row.digest, row.unit))
        kept.append(offset)
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


async def list_unknown_metrics(connection: AsyncConnection, environment_ids: Sequence[UUID]) -> list[Any]:
    """The metrics that events named although they do not exist: environment, key, events and the last one's time."""
    query = (
        sa.select(tables.unknown_metrics)
        .where(_unknown.environment_id.in_(environment_ids))
        .order_by(_unknown.last_at.desc(), _unknown.metric)
    )
    return list(await connection.execute(query))


async def delete_events(connection: AsyncConnection, before: datetime, keep_max: int, limit: int) -> bool:
    """Delete some of the oldest events: those from before a moment, and those beyond `keep_max`.

    Returns whether there may be more.
    """
    return await event_segments.delete_oldest(connection, tables.microseconds(before), keep_max, limit)


async def delete_event_ids(connection: AsyncConnection, before: datetime, limit: int) -> bool:
    """Delete some ids of events from before a moment; return whether there may be more."""
    limit *= _IDS_A_SEGMENT
    day = tables.microseconds(before) // _MICROSECONDS_A_DAY
    old = sa.select(_ids.environment, _ids.digest).where(_ids.day < day).order_by(_ids.day).limit(limit)
    keys = [tuple(row) for row in await connection.execute(old)]
    if keys:
        await connection.execute(tables.event_ids.delete().where(sa.tuple_(_ids.environment, _ids.digest).in_(keys)))
    return len(keys) == limit


async def find_old_events(connection: AsyncConnection, before: datetime, among: Collection[int]) -> set[int]:
    """Return which of some environments have events from before a moment."""
    return await event_segments.find_old(connection, tables.microseconds(before), among)


async def delete_old_events_of(connection: AsyncConnection, number: int, before: datetime, limit: int) -> bool:
    """Delete some events of an environment from before a moment; return whether there may be more.

    The last segment with such events goes when all of its events are that old, as in `delete_events`.
    """
    return await event_segments.delete_of_environment(connection, number, limit, tables.microseconds(before))


async def delete_events_of(connection: AsyncConnection, number: int, limit: int) -> bool:
    """Delete some events of an environment; return whether there may be more."""
    more = await event_segments.delete_of_environment(connection, number, limit)
    if not more:
        await connection.execute(tables.event_ids.delete().where(_ids.environment == number))
    return more


async def delete_unknown_metrics(connection: AsyncConnection, before: datetime, limit: int) -> bool:  # noqa: ARG001
    """Forget the unknown metrics that were last named before a moment, which are few; returns False."""
    await connection.execute(tables.unknown_metrics.delete().where(_unknown.last_at < before))
    return False
