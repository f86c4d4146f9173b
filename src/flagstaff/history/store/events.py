"""Writes events of metrics in batches, each exactly once and in one transaction, and deletes them."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.history.erased_users import Digests
from flagstaff.history.store import event_ids, event_segments
from flagstaff.history.store.batches import find_new_batches, lock_environments
from flagstaff.history.store.erased_users import find_erased_users
from flagstaff.history.store.rollups import lock_environment
from flagstaff.metrics.events import UNKNOWN_MAX, EventBatch, EventGroup, EventRow
from flagstaff.projects.record_origins import Origins, joined_origins
from flagstaff.projects.sdk_keys import KeyKind

_MICROSECONDS_A_DAY = 86_400 * 10**6
_PAGES_A_SEGMENT = 10  # deletions are counted in segments, which are larger
_unknown = tables.unknown_metrics.c

_add_unknown = dialect.upsert(
    tables.unknown_metrics,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["environment_id", "metric"],
        set_={"events": _unknown.events + insert.excluded.events, "last_at": insert.excluded.last_at},
    ),
)
_known_unknown = sa.select(_unknown.metric).where(_unknown.environment_id == sa.bindparam("environment_id"))


async def write_events(
    connection: AsyncConnection,
    *batches: EventBatch,
    digests: Digests | None = None,
    generation_ids: int = event_ids.GENERATION_IDS,
) -> set[int]:
    """Write batches of events, oldest first; return the ids of those that are new. The others are already stored.

    Users who were erased since are known by `digests`; their events are stored without a user. Ids of events are
    forgotten by so many together.
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
        number, of_rows = numbers[environment_id], joined_origins(origins[place])
        if any(row.digest for row in some):
            given = {row.digest for row in some if row.digest}
            kept = _find_kept(some, await event_ids.add_new_ids(connection, number, given, kind, day, generation_ids))
            some, of_rows = [some[offset] for offset in kept], of_rows and of_rows.only(kept)  # noqa: PLW2901
        await event_segments.add_events(connection, number, some, kind, of_rows)
    for group, at in unknown:
        await _count_unknown(connection, group, at)
    return new


def _find_kept(rows: Sequence[EventRow], new: Collection[str]) -> list[int]:
    """The offsets of the events without ids, and of the first with each new id and unit. An event may have several."""
    kept, seen = [], set[tuple[str, str]]()
    for offset, row in enumerate(rows):
        if row.digest is not None:
            key = event_ids.key_of(row.digest)
            if key not in new or (key, row.unit) in seen:
                continue
            seen.add((key, row.unit))
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


async def delete_events(connection: AsyncConnection, before: datetime, limit: int) -> bool:
    """Delete some of the oldest events, from before a moment; return whether there may be more."""
    return await event_segments.delete_oldest(connection, tables.microseconds(before), limit)


async def delete_event_ids(connection: AsyncConnection, before: datetime, limit: int) -> bool:
    """Forget some ids of events from before a moment; return whether there may be more."""
    day = tables.microseconds(before) // _MICROSECONDS_A_DAY
    for each in await event_ids.list_generations(connection):
        if each.day < day:
            await forget_ids(connection, each, limit)
            return True
    return await event_ids.delete_old_rows(connection, day, limit * _PAGES_A_SEGMENT)


async def forget_ids(connection: AsyncConnection, generation: event_ids.IdGeneration, limit: int) -> bool:
    """Forget some ids of a generation; return whether there may be more."""
    await lock_environment(connection, generation.environment)
    return await event_ids.delete_generation(connection, generation.id, limit * _PAGES_A_SEGMENT)


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
    for generation in await event_ids.list_generations_of(connection, number):
        await forget_ids(connection, generation, limit)
        return True
    more = await event_segments.delete_of_environment(connection, number, limit)
    if not more:
        await event_ids.delete_rows_of(connection, number)
    return more


async def delete_unknown_metrics(connection: AsyncConnection, before: datetime, limit: int) -> bool:  # noqa: ARG001
    """Forget the unknown metrics that were last named before a moment, which are few; returns False."""
    await connection.execute(tables.unknown_metrics.delete().where(_unknown.last_at < before))
    return False
