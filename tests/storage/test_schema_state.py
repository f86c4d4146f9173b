"""The versions that can serve from a database, and migrations while instances run."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from pathlib import Path

import asyncpg
import pytest
import sqlalchemy as sa

from flagstaff.database import migration_transactions as migrations
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.migration_scripts import scripts
from flagstaff.database.schema_state import FIRST, current_revision, is_supported, known_revisions, oldest_supported
from flagstaff.values.errors import Code, Error
from tests.support.next_revision import next_revision
from tests.support.postgres import PostgresServer
from tests.support.schemas import run_on
from tests.support.stores import Store, postgresql_store

NEWEST = known_revisions()[-1]


async def migrate_store(store: Store, revision: str = "head") -> list[str]:
    return await migrate(store.database_url, store.data_directory, revision)


async def pretend(store: Store, revision: str, *, oldest: str | None) -> None:
    """Set the schema's state as a newer version would leave it."""
    statement = sa.text("UPDATE alembic_version SET version_num = :revision, oldest_supported = :oldest")
    values = {"revision": revision, "oldest": oldest}
    await run_on(store, lambda connection: connection.execute(statement, values))


def test_the_revisions_are_those_of_the_migrations() -> None:
    assert known_revisions() == [script.revision for script in scripts().walk_revisions()][::-1]


@pytest.mark.parametrize("oldest", ["9998", None])
async def test_a_database_of_a_newer_version_that_does_not_support_this_one_is_refused(
    database: Database, store: Store, oldest: str | None
) -> None:
    await pretend(store, "9999", oldest=oldest)
    assert not await is_supported(database)
    needed = f"; the database needs {oldest} or newer" if oldest else ""
    with pytest.raises(Error, match=rf"its newest is {NEWEST}{needed}\)\. Start the newer version") as refusal:
        await migrate_store(store)
    assert refusal.value.code is Code.CONFLICT


async def test_a_database_of_a_newer_version_that_supports_this_one_stays_as_it_is(
    database: Database, store: Store
) -> None:
    await pretend(store, "9999", oldest=NEWEST)
    assert await is_supported(database)
    assert await migrate_store(store) == []
    assert await current_revision(database) == "9999"
    with pytest.raises(Error, match="revision 9999, which is unknown"):
        await migrate_store(store, NEWEST)


@pytest.mark.parametrize("contracts", [False, True])
async def test_the_oldest_supported_revision_follows_the_migrations(
    store: Store, tmp_path: Path, *, contracts: bool
) -> None:
    assert await run_on(store, oldest_supported) == FIRST
    with next_revision(tmp_path, contracts=contracts) as revision:
        await migrate_store(store)
        assert await run_on(store, oldest_supported) == (revision if contracts else FIRST)
        await migrate_store(store, NEWEST)
        assert await run_on(store, oldest_supported) == FIRST
        await migrate_store(store, "base")
        assert await run_on(store, oldest_supported) is None
        await migrate_store(store)
        assert await run_on(store, oldest_supported) == (revision if contracts else FIRST)


@pytest.mark.parametrize("contracts", [False, True])
async def test_this_version_serves_on_unless_the_next_one_takes_something_away(
    database: Database, store: Store, tmp_path: Path, *, contracts: bool
) -> None:
    with next_revision(tmp_path, contracts=contracts):
        await migrate_store(store)
    assert await is_supported(database) is not contracts


@pytest.fixture
async def postgres_store(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """A migrated, empty database on PostgreSQL."""
    async with postgresql_store(postgres_template, data_directory) as made:
        yield made


@pytest.fixture
def revision(postgres_store: Store, tmp_path: Path) -> Iterator[str]:
    """The next revision, which changes flags and environments, and to which the database is not migrated yet."""
    with next_revision(tmp_path) as made:
        yield made


@pytest.fixture
async def other(postgres_store: Store) -> AsyncIterator[asyncpg.Connection]:
    """Another session in the database."""
    connection = await asyncpg.connect(postgres_store.database_url)
    yield connection
    await connection.close()


async def test_a_migration_waits_for_a_locked_table_only_for_a_while(
    postgres_store: Store, revision: str, other: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "SHORT_SECONDS", 0.01)
    monkeypatch.setattr(migrations, "GIVE_UP_SECONDS", 0)
    async with other.transaction():
        await other.execute("LOCK TABLE flags IN ACCESS SHARE MODE")
        with pytest.raises(Error, match=r"another session has locked\. Nothing was changed") as refusal:
            await migrate_store(postgres_store)
    assert refusal.value.code is Code.UNAVAILABLE
    assert await migrate_store(postgres_store) == [revision]


async def test_a_migration_without_other_locks_waits_until_postgresql_would_cancel_an_automatic_vacuum(
    postgres_store: Store, revision: str, other: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "SHORT_SECONDS", 0.01)
    monkeypatch.setattr(migrations, "AGAIN_SECONDS", 0)
    began = time.monotonic()
    async with asyncio.TaskGroup() as tasks, other.transaction():
        await other.execute("SET deadlock_timeout = '1ms'")
        await other.execute("LOCK TABLE environments IN ACCESS SHARE MODE")
        migration = tasks.create_task(migrate_store(postgres_store))
        while not await longest_wait(other) > timedelta(seconds=1):
            assert time.monotonic() - began < 10
        await other.execute("SELECT FROM flags, projects")
    assert migration.result() == [revision]


@pytest.mark.parametrize(
    ("patience", "requests_timeout", "migrations_timeout"),
    [
        pytest.param(migrations.SHORT_SECONDS, "1s", "10min", id="the migration gives way"),
        pytest.param(60, "10min", "1s", id="PostgreSQL ends the migration's transaction"),
    ],
)
async def test_a_migration_and_a_request_that_need_each_others_tables_both_succeed(
    postgres_store: Store,
    revision: str,
    other: asyncpg.Connection,
    monkeypatch: pytest.MonkeyPatch,
    patience: float,
    requests_timeout: str,
    migrations_timeout: str,
) -> None:
    monkeypatch.setattr(migrations, "SHORT_SECONDS", patience)
    name = await other.fetchval("SELECT current_database()")
    await other.execute(f"ALTER DATABASE {name} SET deadlock_timeout = '{migrations_timeout}'")
    await other.execute(f"SET deadlock_timeout = '{requests_timeout}'")
    async with asyncio.TaskGroup() as tasks, other.transaction():
        await other.execute("SELECT FROM flags")
        migration = tasks.create_task(migrate_store(postgres_store))
        while not await longest_wait(other):
            assert not migration.done()
        await other.execute("SELECT FROM environments")  # a table that the migration has locked
    assert migration.result() == [revision]


async def test_a_request_that_reads_a_project_before_its_flags_waits_for_no_migration_that_waits_for_it(
    postgres_store: Store, revision: str, other: asyncpg.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(migrations, "SHORT_SECONDS", 60)
    async with asyncio.TaskGroup() as tasks, other.transaction():
        await other.execute("SELECT FROM environments")
        migration = tasks.create_task(migrate_store(postgres_store))  # which changes flags first
        while not await longest_wait(other):
            assert not migration.done()
        await other.execute("SET LOCAL lock_timeout = '1ms'")
        await other.execute("SELECT FROM flags")
    assert migration.result() == [revision]


async def longest_wait(session: asyncpg.Connection) -> timedelta:
    """Return how long a session in the same database has waited for a lock; zero if none waits."""
    waiting = (
        "SELECT max(clock_timestamp() - waitstart) FROM pg_locks JOIN pg_database ON pg_database.oid = database "
        "WHERE NOT granted AND datname = current_database()"
    )
    return await session.fetchval(waiting) or timedelta(0)
