"""Daily partitions on PostgreSQL: created in advance, dropped as a whole, and not required for writing."""

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import asyncpg
import pytest
import sqlalchemy as sa

from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.history.store import partitions
from flagstaff.history.store.deletions import delete_segments, hide_evaluations
from tests.support.builders import store_environment
from tests.support.history import START, make_batch, make_layout, make_record, read, write
from tests.support.partitions import TODAY, days_of, retention_at, rows_by_partition
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

DAY = 86_400
LAYOUT = make_layout()


@pytest.fixture
async def store(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """SQLite has no partitions."""
    async with postgresql_store(postgres_template, data_directory) as made:
        yield made


@pytest.fixture
async def environment_id(database: Database) -> UUID:
    return (await store_environment(database)).id


async def test_a_batch_needs_no_partition(database: Database, environment_id: UUID) -> None:
    await write(database, make_batch(environment_id, LAYOUT, *(make_record(days * DAY) for days in (-400, 0, 4000))))
    assert await days_of(database) == []
    assert await rows_by_partition(database) == {"default": 3}
    assert len(await read(database, environment_id)) == 3


async def test_days_are_added_two_weeks_ahead_and_again_when_one_week_is_left(
    database: Database, environment_id: UUID
) -> None:
    await retention_at(database, START).prepare_days()
    assert await days_of(database) == [TODAY + timedelta(days=ahead) for ahead in range(15)]
    await write(database, make_batch(environment_id, LAYOUT, *(make_record(days * DAY) for days in (-1, 0, 1, 15))))
    assert await rows_by_partition(database) == {"default": 2, "20261120": 1, "20261121": 1}
    await retention_at(database, START + timedelta(days=7)).prepare_days()
    assert len(await days_of(database)) == 15
    # The row of the fifteenth day is in the default partition, so no partition is created for that day.
    await retention_at(database, START + timedelta(days=8)).prepare_days()
    assert (await days_of(database))[15:] == [TODAY + timedelta(days=ahead) for ahead in range(16, 23)]
    await write(database, make_batch(environment_id, LAYOUT, make_record(15 * DAY + 1), make_record(16 * DAY)))
    assert len(await read(database, environment_id)) == 6


async def test_a_long_history_stays_where_it_is_and_its_table_is_not_searched(
    database: Database, environment_id: UUID
) -> None:
    await write(database, make_batch(environment_id, LAYOUT, *(make_record(-days * DAY) for days in range(30))))
    retention = retention_at(database, START)
    async with database.read_history() as connection:
        days = await partitions.find_missing_days(connection, TODAY)
    assert days[0] == TODAY + timedelta(days=7)
    said: list[str] = []

    def note(_connection: Any, message: Any) -> None:
        said.append(message.message)

    for step in partitions.steps_to_add(days, TODAY):
        async with database.write_history() as connection:
            driver = (await connection.get_raw_connection()).driver_connection
            assert driver is not None
            await connection.execute(sa.text("SET LOCAL client_min_messages = debug1"))
            driver.add_log_listener(note)
            await step(connection, days)
            driver.remove_log_listener(note)
        await write(database, make_batch(environment_id, LAYOUT, make_record(), make_record(DAY)))
    unsearched = 'constraint for default partition "segments_default" is implied by existing constraints'
    assert f"updated partition {unsearched}" in said
    assert await days_of(database) == days
    await retention.prepare_days()
    # The bound, which made the search unnecessary, has been removed.
    await write(database, make_batch(environment_id, LAYOUT, make_record(99 * DAY)))
    assert set(await rows_by_partition(database)) == {"default"}
    assert len(await read(database, environment_id)) == 37


async def test_the_retention_drops_days_and_deletes_the_rest_row_by_row(
    database: Database, environment_id: UUID
) -> None:
    await retention_at(database, START).prepare_days()
    times = (-DAY, 0, 3600, DAY, 2 * DAY - 36_000, 2 * DAY)
    await write(database, make_batch(environment_id, LAYOUT, *map(make_record, times)))
    await retention_at(database, START + timedelta(days=2), retention=timedelta(days=1)).purge()
    assert (await days_of(database))[0] == TODAY + timedelta(days=1)
    kept = [each.evaluated_at for each in await read(database, environment_id)]
    assert kept == [START + timedelta(seconds=seconds) for seconds in (2 * DAY, 2 * DAY - 36_000, DAY)]
    await write(database, make_batch(environment_id, LAYOUT, make_record(5)))
    assert (await rows_by_partition(database))["default"] == 1, "a late record of a day that is gone is not refused"


async def test_the_maximum_size_drops_days_and_counts_their_evaluations(
    database: Database, environment_id: UUID
) -> None:
    await retention_at(database, START).prepare_days()
    records = [make_record(day * DAY + place / 100, f"user-{place}") for day in range(3) for place in range(400)]
    await write(database, make_batch(environment_id, LAYOUT, *records))
    retention = retention_at(database, START + timedelta(days=2, hours=1), max_bytes=15_000)
    await retention.purge()
    left = await read(database, environment_id)
    assert 0 < len(left) <= 800
    assert retention.deleted == len(records) - len(left)
    assert (await days_of(database))[0] > TODAY


async def test_whoever_reads_a_day_is_not_waited_for(database: Database, store: Store, environment_id: UUID) -> None:
    await retention_at(database, START).prepare_days()
    await write(database, make_batch(environment_id, LAYOUT, make_record(), make_record(DAY)))
    late = retention_at(database, START + timedelta(days=9), retention=timedelta(days=8))
    reader = await asyncpg.connect(store.database_url)
    try:
        async with reader.transaction():
            await reader.fetch("SELECT FROM history.segments")
            async with asyncio.timeout(10):
                await late.purge()
                await write(database, make_batch(environment_id, LAYOUT, make_record(2 * DAY)))
        assert (await days_of(database))[0] == TODAY
        await late.purge()
        assert (await days_of(database))[0] == TODAY + timedelta(days=1)
    finally:
        await reader.close()


async def test_reading_and_writing_look_only_at_the_partitions_of_their_days(
    database: Database, environment_id: UUID
) -> None:
    await retention_at(database, START).prepare_days()
    await write(database, make_batch(environment_id, LAYOUT, make_record(), make_record(3 * DAY)))
    seen: list[tuple[str, Any]] = []
    engine = database._engines.history_writer.sync_engine

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        if "history.segments" in statement and not statement.startswith(("INSERT", "EXPLAIN")):
            seen.append((statement, parameters[0] if many else parameters))

    sa.event.listen(engine, "before_cursor_execute", note)
    try:
        await write(database, make_batch(environment_id, LAYOUT, make_record(1)))
        day = EvaluationFilter(since=START, until=START + timedelta(hours=2))
        assert len(await read(database, environment_id, day)) == 2
        async with database.write_history() as connection:
            await hide_evaluations(connection, 1, START + timedelta(seconds=1))
    finally:
        sa.event.remove(engine, "before_cursor_execute", note)
    kinds = {statement.split()[0] for statement, _ in seen}
    assert kinds == {"SELECT", "UPDATE"}
    async with database.read_history() as connection:
        for statement, parameters in seen:
            plan = "\n".join((await connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)).scalars())
            assert set(re.findall(r"segments_([0-9]{8}|default) ", plan)) == {"20261120"}, statement
    async with database.write_history() as connection:
        assert await delete_segments(connection, 1, START + timedelta(days=1), 50) == (2, False)
