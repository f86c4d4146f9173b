"""The migrations on both databases: up, down, up again, concurrent, interrupted and from a newer version."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.schema_state import FIRST, current_revision, is_supported, known_revisions
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from flagstaff.flags.flags_store import get_flag
from flagstaff.identity.accounts.accounts_store import find_account
from flagstaff.values.errors import Code, Error
from tests.storage.conftest import Stored
from tests.support.builders import make_account, store_all
from tests.support.next_revision import next_revision
from tests.support.postgres import PostgresServer
from tests.support.schemas import read_schema, run_on
from tests.support.stores import Store, postgresql_store

REVISIONS = known_revisions()
NEWEST = REVISIONS[-1]


async def migrate_store(store: Store, revision: str = "head", *, force: bool = False) -> list[str]:
    return await migrate(store.database_url, store.data_directory, revision, force=force)


async def execute(store: Store, statement: str) -> None:
    await run_on(store, lambda connection: connection.execute(sa.text(statement)))


def differences(connection: sa.Connection) -> list[Any]:
    """Return what differs between the database and the tables in the code."""

    def is_wanted(name: str | None, kind: str, _: Any) -> bool:
        return kind != "table" or name is None or not name.startswith("segments_")  # a partition

    options = {"include_schemas": True, "include_name": is_wanted}
    found = compare_metadata(MigrationContext.configure(connection, opts=options), tables.metadata)
    for table in tables.metadata.sorted_tables:
        columns = {each["name"]: each for each in sa.inspect(connection).get_columns(table.name, table.schema)}
        for column in table.columns:
            has_default = columns[column.name]["default"] is not None
            if has_default is not (column.server_default is not None) and column is not table.autoincrement_column:
                found.append(("default", table.fullname, column.name))
    return found


@pytest.mark.parametrize("revision", ["9999", "", "-1", "+1", "000", "heads", "0056"])
async def test_an_unknown_revision_is_refused(store: Store, revision: str) -> None:
    with pytest.raises(Error, match=rf"There is no revision .* The revisions are base, {FIRST}, .*head") as refusal:
        await migrate_store(store, revision)
    assert refusal.value.code is Code.INVALID
    assert await migrate_store(store) == []


async def test_a_database_of_a_newer_version_is_refused_and_left_alone(store: Store) -> None:
    await execute(store, "UPDATE alembic_version SET version_num = '9999', oldest_supported = '9998'")
    before = await run_on(store, read_schema)
    for target in ("head", "base", NEWEST):
        with pytest.raises(Error, match=r"revision 9999, which is unknown .* --to " + NEWEST) as refusal:
            await migrate_store(store, target)
        assert refusal.value.code is Code.CONFLICT
    assert await run_on(store, read_schema) == before


async def test_the_initial_migration_leaves_nothing_half_done_if_it_fails(
    postgres_template: PostgresServer, data_directory: Path
) -> None:
    async with postgresql_store(postgres_template, data_directory, template="template1") as store:
        await execute(store, "CREATE TABLE webhooks (in_the_way INTEGER)")
        before = await run_on(store, read_schema)
        with pytest.raises(sa.exc.DBAPIError, match="already exists"):
            await migrate_store(store)
        assert await run_on(store, read_schema) == before
        await execute(store, "DROP TABLE webhooks")
        assert await migrate_store(store) == REVISIONS


async def test_the_next_migration_leaves_nothing_half_done_if_it_fails(store: Store, tmp_path: Path) -> None:
    before = await run_on(store, read_schema)
    with (
        next_revision(tmp_path, and_then="op.execute('CREATE TABLE webhooks (in_the_way INTEGER)')"),
        pytest.raises(sa.exc.DBAPIError, match="already exists"),
    ):
        await migrate_store(store)
    assert await run_on(store, read_schema) == before
    assert await migrate_store(store) == []


async def test_migrating_an_empty_database_creates_the_tables_in_the_code(bare_store: Store) -> None:
    assert await migrate_store(bare_store) == REVISIONS
    assert await run_on(bare_store, differences) == []


async def test_a_migrated_database_has_nothing_to_do(store: Store) -> None:
    assert await migrate_store(store) == []


async def test_down_to_the_base_leaves_nothing_and_up_again_makes_it_all(store: Store) -> None:
    before = await run_on(store, read_schema)
    assert await migrate_store(store, "base") == REVISIONS[::-1]
    assert await run_on(store, read_schema) == {}
    assert await migrate_store(store) == REVISIONS
    assert await run_on(store, read_schema) == before
    assert await run_on(store, differences) == []


async def test_down_to_the_base_is_refused_while_there_are_accounts_unless_it_is_forced(
    database: Database, store: Store, stored: Stored
) -> None:
    with pytest.raises(
        Error, match=r"would drop 1 accounts, 1 projects\. Nothing was changed\. Add --force"
    ) as refusal:
        await migrate_store(store, "base")
    assert refusal.value.code is Code.CONFLICT
    async with database.read() as connection:
        assert await find_account(connection, stored.account.id) == stored.account
    await migrate_store(store, "base", force=True)
    assert await run_on(store, read_schema) == {}


async def test_the_next_revision_and_back_keeps_all_that_both_can_hold(
    database: Database, store: Store, stored: Stored, tmp_path: Path
) -> None:
    before = await run_on(store, read_schema)
    with next_revision(tmp_path) as revision:
        assert not await is_supported(database)
        assert await migrate_store(store) == [revision]
        assert await current_revision(database) == revision
        assert await is_supported(database)
        assert await migrate_store(store, NEWEST) == [revision]
    assert await is_supported(database)
    assert await run_on(store, read_schema) == before
    async with database.read() as connection:
        flag = stored.flag
        assert await get_flag(connection, flag.project_id, flag.environment_id, flag.id) == flag


async def test_a_new_database_gets_all_revisions(bare_store: Store, tmp_path: Path) -> None:
    with next_revision(tmp_path) as revision:
        assert await migrate_store(bare_store) == [*REVISIONS, revision]
        assert await migrate_store(bare_store, "base") == [revision, *REVISIONS[::-1]]


async def test_a_downgrade_that_would_drop_something_is_refused_unless_it_is_forced(
    store: Store, stored: Stored, tmp_path: Path
) -> None:
    with next_revision(tmp_path) as revision:
        await migrate_store(store)
        await execute(store, "UPDATE flags SET colour = 'red'")
        with pytest.raises(Error, match=r"would drop the colours of 1 flags\. Nothing was changed") as refusal:
            await migrate_store(store, NEWEST)
        assert refusal.value.code is Code.CONFLICT
        assert await migrate_store(store) == []
        assert await migrate_store(store, NEWEST, force=True) == [revision]


async def test_a_database_without_revision_is_not_supported(database: Database, store: Store) -> None:
    assert await is_supported(database)
    await migrate_store(store, "base")
    assert not await is_supported(database)
    assert await current_revision(database) is None


async def test_a_database_without_a_table_is_not_supported(bare_store: Store) -> None:
    opened = Database(bare_store.database_url, bare_store.data_directory)
    try:
        assert not await is_supported(opened)
    finally:
        await opened.close()


async def test_both_files_of_sqlite_are_migrated_in_one_commit(data_directory: Path) -> None:
    """With a rollback journal, a kill during the commit leaves both files unchanged; in WAL mode it does not."""
    await migrate(None, data_directory)
    for name in (CONFIGURATION_FILE, HISTORY_FILE):
        assert (data_directory / name).read_bytes()[18:20] == b"\x01\x01", "its journal was a write-ahead log"


async def test_processes_that_start_at_once_migrate_once(bare_store: Store) -> None:
    program = (
        "import asyncio, pathlib, sys; from flagstaff.database.migrate import migrate;"
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


async def test_a_new_database_is_migrated_without_alembic(bare_store: Store) -> None:
    program = (
        "import asyncio, pathlib, sys; from flagstaff.database.migrate import migrate;"
        "asyncio.run(migrate(sys.argv[2] or None, pathlib.Path(sys.argv[1]))); print('alembic' in sys.modules)"
    )
    arguments = ("-c", program, str(bare_store.data_directory), bare_store.database_url or "")
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, stdout=asyncio.subprocess.PIPE)
    assert (await process.communicate())[0].decode().strip() == "False"
    account = make_account()
    database = Database(bare_store.database_url, bare_store.data_directory)
    try:
        await store_all(database, account)
    finally:
        await database.close()
