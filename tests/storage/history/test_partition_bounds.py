"""The bound of the default partition: what it refuses while days are added, and how an abandoned one is removed."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import asyncpg
import pytest
from sqlalchemy.exc import ProgrammingError
from structlog.testing import capture_logs

from flagstaff.database import postgresql
from flagstaff.database.database import Database
from flagstaff.history.history_service import History
from flagstaff.history.store import partitions
from flagstaff.values.errors import Code, Error
from tests.support.builders import store_environment
from tests.support.history import START, make_batch, make_layout, make_record, read, write
from tests.support.partitions import TODAY, clock_at, days_of, is_bound, retention_at, rows_by_partition
from tests.support.postgres import PostgresServer
from tests.support.server import ServerProcess
from tests.support.stores import Store, postgresql_store

DAY = 86_400
LAYOUT = make_layout()
DAYS = [TODAY + timedelta(days=ahead) for ahead in range(7, 15)]
_REFUSE = """
    CREATE FUNCTION refuse() RETURNS event_trigger LANGUAGE plpgsql AS
    $$ BEGIN RAISE EXCEPTION 'cancelled' USING ERRCODE = '57014'; END $$;
    CREATE EVENT TRIGGER refuse ON ddl_command_start WHEN TAG IN ('CREATE TABLE') EXECUTE FUNCTION refuse();
"""


@pytest.fixture
async def store(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """SQLite has no partitions."""
    async with postgresql_store(postgres_template, data_directory) as made:
        yield made


@pytest.fixture
async def environment_id(database: Database) -> UUID:
    """An environment with one evaluation, in the default partition."""
    environment = await store_environment(database)
    await write(database, make_batch(environment.id, LAYOUT, make_record()))
    return environment.id


async def bound(database: Database) -> None:
    """Leave a bound behind, as a kill between two steps does."""
    async with database.write_history() as connection:
        await partitions.bound_default(connection, DAYS)


async def execute(store: Store, statements: str) -> None:
    connection = await asyncpg.connect(store.database_url)
    try:
        await connection.execute(statements)
    finally:
        await connection.close()


@pytest.mark.usefixtures("environment_id")
async def test_days_are_not_added_without_a_proven_bound(database: Database) -> None:
    with pytest.raises(partitions.BusyError):
        async with database.write_history() as connection:
            await partitions.add_days(connection, DAYS)
    await bound(database)
    with pytest.raises(partitions.BusyError):
        async with database.write_history() as connection:
            await partitions.add_days(connection, DAYS)
    assert await days_of(database) == []
    for step in (partitions.prove_bound, partitions.add_days):
        async with database.write_history() as connection:
            await step(connection, DAYS)
    assert await days_of(database) == DAYS


async def test_no_bound_is_made_for_days_that_others_have_added(database: Database) -> None:
    await retention_at(database, START).prepare_days()
    with pytest.raises(partitions.BusyError):
        await bound(database)
    assert not await is_bound(database)


async def test_a_bound_that_others_have_removed_is_not_proven(database: Database) -> None:
    with pytest.raises(partitions.BusyError):
        async with database.write_history() as connection:
            await partitions.prove_bound(connection, DAYS)


async def test_a_proof_may_take_longer_than_other_statements(
    database: Database, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    await bound(database)
    assert store.database_url is not None
    hurried = postgresql.make_engine(store.database_url, command_timeout_seconds=0.5)
    monkeypatch.setattr(database, "_engines", database._engines._replace(history_writer=hurried))
    monkeypatch.setattr(partitions, "_PATIENCE", "1s")
    other = await asyncpg.connect(store.database_url)
    try:
        async with other.transaction():
            await other.execute("LOCK TABLE history.segments_default IN SHARE UPDATE EXCLUSIVE MODE")
            with pytest.raises(partitions.BusyError):  # the error is about the lock, not about an outage
                async with database.write_history() as connection:
                    await partitions.prove_bound(connection, DAYS)
    finally:
        await other.close()
        await hurried.dispose()


async def test_a_batch_that_a_bound_refuses_waits_for_the_next_sweep(database: Database, environment_id: UUID) -> None:
    await bound(database)
    late = START + timedelta(days=8)
    history = History(database, lambda: late)
    batch = make_batch(environment_id, LAYOUT, make_record(8 * DAY))
    with pytest.raises(Error) as raised:
        await history.record(batch)
    assert raised.value.code is Code.UNAVAILABLE
    await retention_at(database, late).purge()
    assert await history.record(batch)
    assert len(await read(database, environment_id)) == 2


async def test_a_bound_that_was_left_behind_goes_although_no_day_is_due(database: Database) -> None:
    days = [TODAY + timedelta(days=ahead) for ahead in range(20, 30)]
    await retention_at(database, START).prepare_days()
    async with database.write_history() as connection:
        await partitions.bound_default(connection, days)
    await retention_at(database, START).purge()
    assert not await is_bound(database)


async def test_a_bound_that_was_left_behind_goes_at_the_start(database: Database, store: Store) -> None:
    await bound(database)
    async with ServerProcess(store):
        assert not await is_bound(database)


async def test_the_bound_goes_if_a_later_step_fails(database: Database, store: Store, environment_id: UUID) -> None:
    await execute(store, f"CREATE TABLE history.segments_{DAYS[0]:%Y%m%d} ()")
    with pytest.raises(ProgrammingError):
        await retention_at(database, START).prepare_days()
    assert not await is_bound(database)
    await write(database, make_batch(environment_id, LAYOUT, make_record(9 * DAY)))


async def test_the_retention_runs_although_no_day_can_be_added(
    database: Database, store: Store, environment_id: UUID
) -> None:
    await write(database, make_batch(environment_id, LAYOUT, make_record(5 * DAY)))
    await execute(store, _REFUSE)
    retention = retention_at(database, START + timedelta(days=5), retention=timedelta(days=2))
    with capture_logs() as logged:
        await retention.purge()
    assert [entry["log_level"] for entry in logged if entry["event"] == "history_partitions_failed"] == ["warning"]
    assert await rows_by_partition(database) == {"default": 1}
    assert not await is_bound(database)
    await execute(store, "DROP EVENT TRIGGER refuse")
    await retention.purge()
    assert len(await days_of(database)) == len(DAYS)


async def test_a_day_far_ahead_does_not_keep_others_from_being_added(database: Database) -> None:
    far = TODAY + timedelta(days=365)
    async with database.write_history() as connection:
        await partitions.add_days(connection, [far])
    await retention_at(database, START).prepare_days()
    assert await days_of(database) == [*(TODAY + timedelta(days=ahead) for ahead in range(15)), far]


async def test_a_row_far_ahead_that_keeps_days_from_being_added_is_logged(
    database: Database, environment_id: UUID
) -> None:
    await write(database, make_batch(environment_id, LAYOUT, make_record(400 * DAY)))
    with capture_logs() as logged:
        await retention_at(database, START).prepare_days()
    (entry,) = [each for each in logged if each["event"] == "history_partitions_blocked"]
    assert (entry["log_level"], entry["until"]) == ("warning", str(TODAY + timedelta(days=400)))
    assert await days_of(database) == []


async def test_no_day_is_dropped_while_the_clocks_differ(database: Database) -> None:
    await retention_at(database, START).prepare_days()
    days = await days_of(database)
    wrong = retention_at(database, START + timedelta(days=365), read_clock=clock_at(START))
    with capture_logs() as logged:
        await wrong.purge()
    assert [entry["log_level"] for entry in logged if entry["event"] == "history_clocks_differ"] == ["error"]
    assert set(days) <= set(await days_of(database))
