"""Queries for the newest segments of a history read only these on PostgreSQL, not all earlier ones as well."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.concurrency.pacing import Turns
from flagstaff.database.database import Connection, Database
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.distinct_users.pending_users import PendingSegment, gather_users, list_pending
from flagstaff.history.store.distinct_users.user_rollups import find_due, roll_up_users
from flagstaff.history.store.export_batches import Room, find_end
from flagstaff.history.store.following import Position, find_last_segment
from flagstaff.releases.observations_store import list_latest
from tests.support.builders import store_environment
from tests.support.history import make_batch, make_layout, make_record, write
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

SEGMENTS = 300  # one an hour
LAYOUT = make_layout()

Read = Callable[[Connection, UUID, int, int], Awaitable[object]]

READS: dict[str, Read] = {
    "segments with users to count": lambda connection, _, number, __: list_pending(connection, number, limit=501),
    "users to count": lambda connection, _, number, last: gather_users(
        connection, number, [PendingSegment(last, 0, 1, 100)], Turns()
    ),
    "environments with users to count": lambda connection, *_: find_due(connection, 2**19),
    "end of a block for ClickHouse": lambda connection, _, number, last: find_end(
        connection, number, Position(last - 2, {last - 250: 0, last - 2: 1}), Room(10, 100)
    ),
    "last segment": lambda connection, _, number, __: find_last_segment(connection, number),
    "latest records of a release": lambda connection, environment_id, *_: list_latest(connection, [environment_id]),
}


@pytest.fixture
async def store(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """A PostgreSQL database: SQLite always begins at the right place in its index."""
    async with postgresql_store(postgres_template, data_directory) as made:
        yield made


async def count_read(connection: Connection) -> int:
    """Return how many rows and index entries of the segments the transaction has read."""
    counts = await connection.exec_driver_sql(
        "SELECT (SELECT sum(seq_tup_read + idx_tup_fetch) FROM pg_stat_xact_all_tables"
        " WHERE relid = 'history.segments_default'::regclass)"
        " + (SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) FROM pg_index"
        " WHERE indrelid = 'history.segments_default'::regclass)"
    )
    return int(counts.scalar_one())


@pytest.mark.parametrize("name", READS)
async def test_the_newest_segments_are_read_without_those_before(database: Database, name: str) -> None:
    environment = await store_environment(database)
    await write(database, make_batch(environment.id, LAYOUT, *(make_record(3600 * hour) for hour in range(SEGMENTS))))
    async with database.write_history() as connection:
        number = await find_environment_number(connection, environment.id)
        assert number is not None
        while await roll_up_users(connection, number):
            pass
    await write(database, make_batch(environment.id, LAYOUT, make_record(3600 * SEGMENTS)))
    async with database.write_history() as connection:
        last = await find_last_segment(connection, number)
        # The planner chooses the index by itself only for a large table.
        for kind in ("seqscan", "bitmapscan", "sort"):
            await connection.execute(sa.text(f"SET LOCAL enable_{kind} = off"))
        before = await count_read(connection)
        await READS[name](connection, environment.id, number, last)
        assert await count_read(connection) - before < 20
