"""Round trips of whole databases, from each kind to each kind."""

from pathlib import Path
from uuid import uuid4

import pytest
import sqlalchemy as sa

from flagstaff.database import dialect, tables
from flagstaff.database.backup.dump import open_dump
from flagstaff.database.backup.forms import newest_forms
from flagstaff.database.backup.load import load
from flagstaff.database.backup.reading import open_backup
from flagstaff.database.database import Database
from flagstaff.database.development_builds import LAST_REVISION
from flagstaff.database.migrate import migrate
from flagstaff.database.schema_state import is_supported, known_revisions
from flagstaff.database.sqlite.commit_numbers import NumberRecord, find_confirmed
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE, inspect_files
from flagstaff.values.errors import Code, Error
from tests.storage.backup.conftest import BackUp, nobody
from tests.support.contents import contents, fill_every_table
from tests.support.development_builds import make_earlier
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store, sqlite_store

OLD_BACKUP = Path(__file__).with_name(f"revision-{LAST_REVISION}.tar")


async def restore(path: Path, target: Store, *, replace: bool = False) -> None:
    with open_backup(path) as backup:
        backup.check(lambda _: None)
        await load(target.database_url, target.data_directory, backup, replace=replace, progress=nobody)


async def execute(store: Store, statement: str) -> None:
    directory = store.data_directory
    engine = dialect.migrating_engine(store.database_url, directory / CONFIGURATION_FILE, directory / HISTORY_FILE)
    async with engine.begin() as connection:
        await connection.execute(sa.text(statement))
    await engine.dispose()


async def test_there_is_nothing_to_read_where_there_is_no_database(bare_store: Store) -> None:
    with pytest.raises(Error) as refusal:
        async with open_dump(bare_store.database_url, bare_store.data_directory):
            pass
    assert refusal.value.code is Code.NOT_FOUND
    assert not list(bare_store.data_directory.iterdir())


async def test_a_database_of_another_revision_is_not_read(store: Store) -> None:
    await make_earlier(store)
    with pytest.raises(
        Error, match=rf"is at revision {LAST_REVISION}, but this version .* run `flagstaff migrate` first"
    ) as refusal:
        await contents(store)
    assert refusal.value.code is Code.CONFLICT


async def test_a_database_of_a_newer_version_is_not_read_but_by_that_version(database: Database, store: Store) -> None:
    newest = known_revisions()[-1]
    await execute(store, f"UPDATE alembic_version SET version_num = '9999', oldest_supported = '{newest}'")
    assert await is_supported(database)
    with pytest.raises(Error, match=r"a newer version has migrated it\. Use `flagstaff backup` or") as refusal:
        await contents(store)
    assert refusal.value.code is Code.CONFLICT
    assert "flagstaff migrate" not in refusal.value.message


async def test_a_database_that_is_not_empty_is_refused_and_left_alone(
    full: Store, back_up: BackUp, target: Store
) -> None:
    path = await back_up(full)
    await migrate(target.database_url, target.data_directory)
    await execute(
        target,
        "INSERT INTO changes (at, action, resource_id) VALUES (1, 'flag.toggled', '00000000000000000000000000000001')",
    )
    before = await contents(target)
    with pytest.raises(Error, match="not empty: changes has rows") as refusal:
        await restore(path, target)
    assert refusal.value.code is Code.CONFLICT
    assert await contents(target) == before


async def test_tables_of_something_else_are_refused_even_to_be_replaced(
    full: Store, back_up: BackUp, target: Store
) -> None:
    path = await back_up(full)
    await execute(target, "CREATE TABLE accounts (name TEXT)")
    for replace in (False, True):
        with pytest.raises(Error, match="other programs' tables with the same names: accounts") as refusal:
            await restore(path, target, replace=replace)
        assert refusal.value.code is Code.CONFLICT
    await execute(target, "SELECT name FROM accounts")


async def test_a_postgresql_database_in_use_is_refused(
    full: Store, back_up: BackUp, postgres_template: PostgresServer, tmp_path: Path
) -> None:
    path = await back_up(full)
    async with postgresql_store(postgres_template, tmp_path) as target:
        running = Database(target.database_url, target.data_directory)
        try:
            async with running.read():
                with pytest.raises(Error, match="Flagstaff is running on this database") as refusal:
                    await restore(path, target, replace=True)
        finally:
            await running.close()
        assert refusal.value.code is Code.CONFLICT


async def test_every_table_of_the_database_is_in_a_backup(full: Store, back_up: BackUp) -> None:
    def names(connection: sa.Connection) -> set[str]:
        inspector = sa.inspect(connection)
        in_history = inspector.get_table_names("history")
        # Queries read the partitions of the segments as one table.
        history = {f"history.{name}" for name in in_history if not name.startswith("segments_")}
        return set(inspector.get_table_names()) | history

    directory = full.data_directory
    engine = dialect.migrating_engine(full.database_url, directory / CONFIGURATION_FILE, directory / HISTORY_FILE)
    async with engine.begin() as connection:
        there = await connection.run_sync(names)
    await engine.dispose()
    with open_backup(await back_up(full)) as backup:
        assert set(backup.rows) == there - {"alembic_version", "instances"}, "instances are not kept"
        assert set(backup.rows.values()) == {3}


def test_a_column_of_an_unknown_kind_is_refused_when_it_is_added() -> None:
    metadata = sa.MetaData()
    sa.Table("prices", metadata, sa.Column("amount", sa.Numeric, primary_key=True))
    with pytest.raises(TypeError, match="backups cannot hold columns of the type"):
        newest_forms(metadata)


async def test_everything_that_is_backed_up_is_restored(full: Store, back_up: BackUp, target: Store) -> None:
    path = await back_up(full)
    assert path.stat().st_mode & 0o777 == 0o600
    await restore(path, target)
    assert await contents(target) == await contents(full)
    with open_backup(path) as backup:
        assert backup.secret_key() == "k" * 40


async def test_a_restore_replaces_all_that_was_there(full: Store, back_up: BackUp, target: Store) -> None:
    path = await back_up(full)
    await migrate(target.database_url, target.data_directory)
    await fill_every_table(target, rows=7)
    await restore(path, target, replace=True)
    assert await contents(target) == await contents(full)


async def test_a_restore_after_a_loss_is_complete_with_its_commit(
    back_up: BackUp, sqlite_template: Path, tmp_path: Path
) -> None:
    target = sqlite_store(sqlite_template, tmp_path / "target")
    path = await back_up(target)
    for name, number in ((CONFIGURATION_FILE, 2_000), (HISTORY_FILE, 70)):
        NumberRecord(target.data_directory, name, is_synced=True)(number)
    assert inspect_files(target.data_directory).lost_commits
    await restore(path, target, replace=True)
    found = inspect_files(target.data_directory)
    assert (found.lost_commits, found.lost_history_commits) == (0, 0)
    # A kill right after the commit would leave them, too.
    assert find_confirmed(target.data_directory, CONFIGURATION_FILE) == 2_000
    assert find_confirmed(target.data_directory, HISTORY_FILE) == 70


async def test_a_copy_equals_its_source(full: Store, target: Store) -> None:
    steps: list[tuple[str, int]] = []
    async with open_dump(full.database_url, full.data_directory) as dump:
        await load(
            target.database_url, target.data_directory, dump, progress=lambda what, count: steps.append((what, count))
        )
        assert sum(count for _, count in steps) == sum(dump.rows.values())
    assert await contents(target) == await contents(full)


async def test_numbers_once_given_out_are_not_given_again(store: Store, target: Store) -> None:
    source = Database(store.database_url, store.data_directory)
    numbers = [await _number_environment(source) for _ in range(3)]
    await source.close()
    await execute(store, f"DELETE FROM history.recorded_environments WHERE number = {numbers[-1]}")
    async with open_dump(store.database_url, store.data_directory) as dump:
        await load(target.database_url, target.data_directory, dump, progress=nobody)
        counters = dump.counters
    async with open_dump(target.database_url, target.data_directory) as dump:
        assert dump.counters == counters
    copy = Database(target.database_url, target.data_directory)
    try:
        assert await _number_environment(copy) == numbers[-1] + 1
    finally:
        await copy.close()


async def _number_environment(database: Database) -> int:
    columns = tables.recorded_environments.c
    async with database.write_history() as connection:
        statement = tables.recorded_environments.insert().returning(columns.number)
        number: int = (await connection.execute(statement, {"environment_id": uuid4()})).scalar_one()
    return number


async def test_a_backup_of_the_last_revision_before_the_first_release_is_restored(target: Store) -> None:
    await restore(OLD_BACKUP, target)
    opened = Database(target.database_url, target.data_directory)
    try:
        assert await is_supported(opened)
    finally:
        await opened.close()
    found = await contents(target)
    assert [row["email"] for row in found["accounts"]] == ["ada@example.com"]
    flags = {row["key"]: (row["enabled"], row["archived_at"] is not None) for row in found["flags"]}
    assert flags == {"new-checkout": (True, False), "archived-on": (True, True), "archived-off": (False, True)}
    assert [row["rule_value"] for row in found["rules"]] == ["ada"]
