"""The migrations, on both databases: up, down, up again, at once, half-way and from the future."""

import asyncio
import sys
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from flagstaff.domain.errors import Code, Error
from flagstaff.storage import dialect, tables
from flagstaff.storage.accounts import find_account
from flagstaff.storage.database import CONFIGURATION_FILE, HISTORY_FILE, Database
from flagstaff.storage.migrate import current_revision, is_current, migrate
from tests.support.builders import make_account, store_all
from tests.support.stores import Store

REVISIONS = ["0001", "0002", "0003"]
NEWEST = REVISIONS[-1]


async def migrate_store(store: Store, revision: str = "head") -> list[str]:
    return await migrate(store.database_url, store.data_directory, revision)


async def run_on(store: Store, function: Any) -> Any:
    """Call a function of a plain connection that sees all tables, the history's included."""
    directory = store.data_directory
    engine = dialect.migrating_engine(store.database_url, directory / CONFIGURATION_FILE, directory / HISTORY_FILE)
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(function)
    finally:
        await engine.dispose()


async def execute(store: Store, statement: str) -> None:
    await run_on(store, lambda connection: connection.execute(sa.text(statement)))


def table_names(connection: sa.Connection) -> set[str]:
    inspector = sa.inspect(connection)
    names = set(inspector.get_table_names())
    if "history" in inspector.get_schema_names():
        names |= {f"history.{name}" for name in inspector.get_table_names("history")}
    return names - {"alembic_version"}


def differences(connection: sa.Connection) -> list[Any]:
    context = MigrationContext.configure(connection, opts={"include_schemas": True})
    return compare_metadata(context, tables.metadata)


@pytest.mark.parametrize("revision", ["9999", "", "-1", "+1", "000", "heads"])
async def test_an_unknown_revision_is_refused(store: Store, revision: str) -> None:
    with pytest.raises(Error, match=r"There is no revision .* there are base, 0001, .*head") as refusal:
        await migrate_store(store, revision)
    assert refusal.value.code is Code.INVALID
    assert await migrate_store(store) == []


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(store: Store) -> None:
    await execute(store, "UPDATE alembic_version SET version_num = '9999'")
    before = await run_on(store, table_names)
    for target in ("head", "base", NEWEST):
        with pytest.raises(Error, match=r"revision 9999, which this version .* --to " + NEWEST) as refusal:
            await migrate_store(store, target)
        assert refusal.value.code is Code.CONFLICT
    assert await run_on(store, table_names) == before


async def test_a_migration_that_fails_leaves_nothing_half_done(bare_store: Store) -> None:
    await execute(bare_store, "CREATE TABLE changes (in_the_way INTEGER)")
    with pytest.raises(sa.exc.DBAPIError, match="already exists"):
        await migrate_store(bare_store)
    assert await run_on(bare_store, table_names) == {"changes"}
    await execute(bare_store, "DROP TABLE changes")
    assert await migrate_store(bare_store) == REVISIONS


async def test_up_from_nothing_makes_the_tables_that_the_code_knows(bare_store: Store) -> None:
    assert await migrate_store(bare_store) == REVISIONS
    assert await run_on(bare_store, differences) == []


async def test_a_migrated_database_has_nothing_to_do(store: Store) -> None:
    assert await migrate_store(store) == []


async def test_down_to_the_base_leaves_no_table_and_up_again_makes_them_all(store: Store) -> None:
    assert await migrate_store(store, "base") == REVISIONS[::-1]
    assert await run_on(store, table_names) == set()
    assert await migrate_store(store) == REVISIONS
    assert await run_on(store, differences) == []


@pytest.mark.parametrize("revision", REVISIONS)
async def test_down_to_a_revision_and_up_again_keeps_what_it_can_hold(
    database: Database, store: Store, revision: str
) -> None:
    account = make_account()
    await store_all(database, account)
    steps = REVISIONS[REVISIONS.index(revision) + 1 :]
    assert await migrate_store(store, revision) == steps[::-1]
    assert await current_revision(database) == revision
    assert await migrate_store(store) == steps
    async with database.read() as connection:
        assert await find_account(connection, account.id) == account


async def test_a_database_is_current_at_the_newest_revision_only(database: Database, store: Store) -> None:
    assert await is_current(database)
    await migrate_store(store, "base")
    assert not await is_current(database)
    assert await current_revision(database) is None


async def test_a_database_without_a_table_is_not_current(bare_store: Store) -> None:
    opened = Database(bare_store.database_url, bare_store.data_directory)
    try:
        assert not await is_current(opened)
    finally:
        await opened.close()


async def test_processes_that_start_at_once_migrate_once(bare_store: Store) -> None:
    program = (
        "import asyncio, pathlib, sys; from flagstaff.storage.migrate import migrate;"
        "print(asyncio.run(migrate(sys.argv[2] or None, pathlib.Path(sys.argv[1]))))"
    )
    arguments = ("-c", program, str(bare_store.data_directory), bare_store.database_url or "")
    started = [
        await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
        for _ in range(3)
    ]
    printed = sorted([(await process.communicate())[0].decode().strip() for process in started])
    assert printed == [str(REVISIONS), "[]", "[]"]
    assert await run_on(bare_store, differences) == []
