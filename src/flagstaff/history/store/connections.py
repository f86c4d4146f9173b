"""The instances of applications that evaluate flags themselves, and which revision each has."""

from collections.abc import Iterable
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.history.applications import Client, Connection

_columns = tables.connections.c
_key = (_columns.environment_id, _columns.application, _columns.identity)
_upsert = dialect.upsert(
    tables.connections,
    lambda insert: insert.on_conflict_do_update(
        index_elements=list(_key),
        set_={
            name: insert.excluded[name]
            for name in ("instance", "sdk", "interval_milliseconds", "revision", "seen_at", "streams")
        },
        # Another process may have written what the client did later.
        where=_columns.seen_at <= insert.excluded.seen_at,
    ),
)


async def record_connections(connection: AsyncConnection, seen: Iterable[Connection]) -> None:
    """Store what is known of instances, unless something later is stored."""
    by_key = {(str(each.environment_id), each.client.application, each.client.identity): each for each in seen}
    rows = [_row(by_key[key]) for key in sorted(by_key)]  # in one order, so that processes cannot deadlock
    if rows:
        await connection.execute(_upsert(connection), rows)


async def list_connections(
    connection: AsyncConnection, environment_id: UUID, since: datetime, limit: int
) -> list[Connection]:
    """The instances that were heard of since a moment, by application; at most `limit`."""
    query = (
        sa.select(tables.connections)
        .where(_columns.environment_id == environment_id, _columns.seen_at >= since)
        .order_by(_columns.application, _columns.identity)
        .limit(limit)
    )
    return [_from_row(row) for row in await connection.execute(query)]


async def has_connection(connection: AsyncConnection, environment_id: UUID, client: Client) -> bool:
    """Return whether an instance is stored."""
    of_client = (environment_id, client.application, client.identity)
    query = sa.select(sa.exists().where(*(column == value for column, value in zip(_key, of_client, strict=True))))
    return bool(await connection.scalar(query))


async def delete_connections_before(connection: AsyncConnection, before: datetime) -> None:
    """Delete the instances that were last heard of before a moment."""
    await connection.execute(tables.connections.delete().where(_columns.seen_at < before))


def _row(seen: Connection) -> dict[str, object]:
    client = seen.client
    interval = client.interval_seconds
    return {
        "environment_id": seen.environment_id,
        "application": client.application,
        "identity": client.identity,
        "instance": client.instance,
        "sdk": client.sdk,
        "interval_milliseconds": None if interval is None else round(interval * 1000),
        "revision": seen.revision,
        "seen_at": seen.seen_at,
        "streams": seen.streams,
    }


def _from_row(row: sa.Row[*tuple[object, ...]]) -> Connection:
    interval = row.interval_milliseconds
    seconds = None if interval is None else interval / 1000
    client = Client(row.application, row.instance, row.identity, row.sdk, seconds)
    return Connection(row.environment_id, client, row.revision, row.seen_at, row.streams)
