"""The differences between SQLite and PostgreSQL for tools that handle whole databases. See also dialect.py."""

import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database.sqlite.driver import create_engine
from flagstaff.values.errors import Code, Error

_LOCK_SECONDS = 30
_APPLICATION = "flagstaff"  # the application name of all of Flagstaff's connections to PostgreSQL


@asynccontextmanager
async def frozen(url: str | None, configuration: Path, history: Path) -> AsyncIterator[AsyncConnection]:
    """A read-only connection that sees all tables in one state, regardless of concurrent writes."""
    if url is None:
        async with _frozen_sqlite(configuration, history) as connection:
            yield connection
        return
    from flagstaff.database import postgresql  # noqa: PLC0415 -- see dialect.py

    engine = postgresql.make_engine(url, command_timeout_seconds=None)
    try:
        reading = engine.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        async with reading.begin() as connection:
            yield connection
    finally:
        await engine.dispose()


@asynccontextmanager
async def _frozen_sqlite(configuration: Path, history: Path) -> AsyncIterator[AsyncConnection]:
    for path in (configuration, history):
        if not path.exists():
            raise Error(Code.NOT_FOUND, f"There is no database: {path} does not exist.")
    engine = create_engine(_read_only(configuration), poolclass=sa.pool.NullPool)

    @sa.event.listens_for(engine.sync_engine, "connect")
    def prepare(connection: Any, _record: Any) -> None:
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {_LOCK_SECONDS * 1000}")
        cursor.execute("ATTACH DATABASE ? AS history", (_read_only(history),))
        cursor.close()

    try:
        async with AsyncExitStack() as stack:
            # Two files have separate snapshots, so no write may happen between the first and the second. Taking the
            # locks before the first read makes SQLite undo what a killed process had begun, which a read-only
            # connection cannot.
            with _writers_waiting(configuration, history):
                connection = await stack.enter_async_context(engine.connect())
                await connection.exec_driver_sql("BEGIN")
                await connection.exec_driver_sql("SELECT count(*) FROM main.sqlite_master")
                await connection.exec_driver_sql("SELECT count(*) FROM history.sqlite_master")
            yield connection
            await connection.exec_driver_sql("ROLLBACK")
    finally:
        await engine.dispose()


@contextmanager
def _writers_waiting(configuration: Path, history: Path) -> Iterator[None]:
    """Hold the write locks of both files."""
    with closing(sqlite3.connect(configuration, timeout=_LOCK_SECONDS, isolation_level=None)) as connection:
        connection.execute("ATTACH DATABASE ? AS history", (str(history),))
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def _read_only(path: Path) -> str:
    return f"file:{quote(str(path.absolute()))}?mode=ro"


async def keep_definitions(connection: AsyncConnection, tables: Sequence[sa.TableClause]) -> None:
    """Make migrations wait until the transaction ends; with SQLite a snapshot includes the definitions."""
    if connection.dialect.name == "postgresql":
        names = ", ".join(connection.dialect.identifier_preparer.format_table(table) for table in tables)
        await connection.exec_driver_sql(f"LOCK TABLE {names} IN ACCESS SHARE MODE")


async def find_counter(connection: AsyncConnection, table: sa.TableClause, column: str) -> int | None:
    """The last number that a table has assigned to a row; None if it assigns none or has not begun."""
    if connection.dialect.name == "postgresql":
        sequence = await _sequence(connection, table, column)
        if sequence is None:
            return None
        last: sa.Select[tuple[int]] = (
            sa.select(sa.literal_column("last_value")).select_from(sa.text(sequence)).where(sa.text("is_called"))
        )
        return cast("int | None", await connection.scalar(last))
    if not await _is_autoincremented(connection, table):
        return None
    numbers = _sqlite_sequence(table)
    query = sa.select(numbers.c.seq).where(numbers.c.name == table.name)
    return await connection.scalar(query)


async def set_counter(connection: AsyncConnection, table: sa.TableClause, column: str, last: int) -> None:
    """Make a table number its next row above `last` and above all of its rows."""
    last = max(last, await connection.scalar(sa.select(sa.func.max(table.c[column]))) or 0)
    if last == 0:
        return
    if connection.dialect.name == "postgresql":
        sequence = await _sequence(connection, table, column)
        if sequence is not None:
            from sqlalchemy.dialects.postgresql import REGCLASS  # noqa: PLC0415 -- see dialect.py

            name = sa.cast(sa.literal(sequence, sa.Text), REGCLASS)
            await connection.execute(sa.select(sa.func.setval(name, sa.literal(last, sa.BigInteger))))
    elif await _is_autoincremented(connection, table):
        numbers = _sqlite_sequence(table)
        await connection.execute(sa.delete(numbers).where(numbers.c.name == table.name))
        await connection.execute(sa.insert(numbers), {"name": table.name, "seq": last})


async def _sequence(connection: AsyncConnection, table: sa.TableClause, column: str) -> str | None:
    """The full name of the sequence that numbers a table's rows."""
    name = connection.dialect.identifier_preparer.format_table(table)
    sequence: str | None = await connection.scalar(sa.select(sa.func.pg_get_serial_sequence(name, column)))
    return sequence


def _sqlite_sequence(table: sa.TableClause) -> sa.TableClause:
    return sa.table("sqlite_sequence", sa.column("name"), sa.column("seq", sa.BigInteger), schema=table.schema)


async def _is_autoincremented(connection: AsyncConnection, table: sa.TableClause) -> bool:
    master = sa.table("sqlite_master", sa.column("name"), sa.column("sql"), schema=table.schema)
    definition = await connection.scalar(sa.select(master.c.sql).where(master.c.name == table.name))
    return "AUTOINCREMENT" in (definition or "")


async def other_sessions(connection: AsyncConnection) -> int:
    """Count Flagstaff's other connections to this database. With SQLite the data directory's lock shows them."""
    if connection.dialect.name != "postgresql":
        return 0
    query = """
        SELECT count(*) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid() AND starts_with(application_name, :name)
    """
    return await connection.scalar(sa.text(query), {"name": _APPLICATION}) or 0


@dataclass(frozen=True)
class ServerFacts:
    """A database's product and version, and its clock in seconds since 1970."""

    product: str
    version: tuple[int, ...]
    encoding: str
    timezone: str
    now: float
    damage: str | None  # the damage that the database's own check reports


async def server_facts(connection: AsyncConnection) -> ServerFacts:
    """Query a database's properties; with SQLite this reads the whole configuration, which is small."""
    if connection.dialect.name == "postgresql":
        query = """
            SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
                current_setting('TimeZone'), extract(epoch FROM clock_timestamp())
        """
        number, encoding, timezone, now = (await connection.execute(sa.text(query))).one()
        return ServerFacts("PostgreSQL", divmod(number, 10_000), encoding, timezone, float(now), damage=None)
    check = await connection.scalar(sa.text("PRAGMA quick_check(1)"))
    encoding = await connection.scalar(sa.text("PRAGMA encoding"))
    damage = None if check == "ok" else str(check)
    # The database's clock is this machine's.
    return ServerFacts("SQLite", sqlite3.sqlite_version_info, encoding, "UTC", time.time(), damage)


async def history_bytes(connection: AsyncConnection) -> int:
    """The size of the evaluation history in bytes."""
    if connection.dialect.name == "postgresql":
        query = """
            SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint
            FROM pg_class WHERE relnamespace = 'history'::regnamespace AND relkind = 'r'
        """
    else:
        query = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    return await connection.scalar(sa.text(query)) or 0
