"""A new history, which replaces one that lacks tables or its file.

tests/processes/test_lost_tables.py has the same with servers.
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import asyncpg
import pytest

from flagstaff.database.migrate import migrate
from flagstaff.database.new_history import begin_new_history, begin_new_schema
from flagstaff.database.sqlite.files import HISTORY_FILE
from flagstaff.values.errors import Code, Error
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

NOW = datetime(2026, 11, 20, 10, tzinfo=UTC)
_CATALOGUE = """
SELECT 'column', table_name, column_name, data_type || is_nullable || coalesce(column_default, '')
FROM information_schema.columns WHERE table_schema = 'history'
UNION ALL SELECT 'index', tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'history'
UNION ALL SELECT 'constraint', conrelid::regclass::text, conname, pg_get_constraintdef(oid)
FROM pg_constraint WHERE connamespace = 'history'::regnamespace
UNION ALL SELECT 'function', proname, '', pg_get_functiondef(oid) FROM pg_proc
WHERE pronamespace = 'history'::regnamespace
ORDER BY 1, 2, 3
"""
_SCHEMAS = "SELECT nspname FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)' ORDER BY nspname"


@pytest.fixture
async def store(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    async with postgresql_store(postgres_template, data_directory) as made:
        yield made


@pytest.fixture
async def operator(store: Store) -> AsyncIterator[asyncpg.Connection]:
    connection = await asyncpg.connect(store.database_url)
    yield connection
    await connection.close()


async def begin(store: Store) -> str | None:
    assert store.database_url is not None
    return await begin_new_schema(store.database_url, store.data_directory, NOW)


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        ("SELECT 1", "history is complete"),
        ("UPDATE alembic_version SET version_num = '9999'", "unknown to this version"),
        ("DROP TABLE alembic_version", "The next start creates it"),
    ],
)
async def test_a_history_that_needs_no_new_one_is_left(
    store: Store, operator: asyncpg.Connection, before: str, reason: str
) -> None:
    await operator.execute(before)
    catalogue = await operator.fetch(_CATALOGUE)
    with pytest.raises(Error, match=reason) as refused:
        await begin(store)
    assert refused.value.code is Code.CONFLICT
    assert await operator.fetch(_CATALOGUE) == catalogue


async def test_a_new_history_is_as_the_first_start_makes_it(store: Store, operator: asyncpg.Connection) -> None:
    catalogue = await operator.fetch(_CATALOGUE)
    await operator.execute("DROP SCHEMA history CASCADE")
    assert await begin(store) is None
    assert await operator.fetch(_CATALOGUE) == catalogue
    assert [row["nspname"] for row in await operator.fetch(_SCHEMAS)] == ["history", "public"]
    for table in ("segments", "event_segments"):  # so that exports of either go on
        assert await operator.fetchval(f"SELECT nextval('history.{table}_id_seq')") > NOW.timestamp() * 1000


async def test_what_is_left_of_a_history_is_kept(store: Store, operator: asyncpg.Connection) -> None:
    await operator.execute("DROP TABLE history.summaries")
    aside = await begin(store)
    assert aside == "history_20261120t100000z"
    schemas = [row["nspname"] for row in await operator.fetch(_SCHEMAS)]
    assert schemas == ["history", aside, "public"]


async def test_segments_in_a_new_file_have_higher_numbers_than_before(data_directory: Path) -> None:
    await migrate(None, data_directory)
    (data_directory / HISTORY_FILE).unlink()
    assert await begin_new_history(data_directory, NOW) is None
    with closing(sqlite3.connect(data_directory / HISTORY_FILE)) as connection:
        numbers = dict(connection.execute("SELECT name, seq FROM sqlite_sequence"))
    first = int(NOW.timestamp() * 1000)
    assert (numbers["segments"], numbers["event_segments"]) == (first, first)
