"""Migrated, empty databases: each kind is migrated once and cloned for every test."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import asyncpg

from flagstaff.database.migrate import migrate
from tests.support.postgres import PostgresServer

TEMPLATE = "template_flagstaff"


@dataclass(frozen=True)
class Store:
    """The location of a database: the values of FLAGSTAFF_DATABASE_URL (None for SQLite) and FLAGSTAFF_DATA_DIR."""

    database_url: str | None
    data_directory: Path

    @property
    def environ(self) -> dict[str, str]:
        """The two variables, for commands."""
        url = {"FLAGSTAFF_DATABASE_URL": self.database_url} if self.database_url else {}
        return {"FLAGSTAFF_DATA_DIR": str(self.data_directory), **url}


async def make_postgresql_template(server: PostgresServer, data_directory: Path) -> None:
    """Create the database that `postgresql_store` clones."""
    await execute(server, f"CREATE DATABASE {TEMPLATE}")
    await migrate(server.url(TEMPLATE), data_directory)


@asynccontextmanager
async def postgresql_store(
    server: PostgresServer, data_directory: Path, *, template: str = TEMPLATE
) -> AsyncIterator[Store]:
    """A separate database. Fails at the end if a connection was left open."""
    name = f"test_{uuid4().hex}"
    # Copying files is faster than copying pages if nothing waits for the disk.
    await server.administrator.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    try:
        yield Store(server.url(name), data_directory)
    finally:
        await server.administrator.do(lambda connection: _drop(connection, name))


def sqlite_store(template: Path, data_directory: Path) -> Store:
    """A copy of migrated files in a test's folder."""
    shutil.copytree(template, data_directory, dirs_exist_ok=True)
    return Store(None, data_directory)


async def _drop(connection: asyncpg.Connection, name: str) -> None:
    try:
        await _wait_until_unused(connection, name)
    finally:
        await connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


async def _wait_until_unused(connection: asyncpg.Connection, name: str) -> None:
    """Wait until the server process of a closed connection ends; DROP DATABASE would poll for it slowly."""
    try:
        async with asyncio.timeout(2):
            while await connection.fetchval("SELECT count(*) FROM pg_stat_activity WHERE datname = $1", name):
                await asyncio.sleep(0.002)
    except TimeoutError:
        raise AssertionError("a connection to the database was left open") from None


async def execute(server: PostgresServer, statement: str) -> None:
    """Run a statement in the server's own database."""
    connection = await asyncpg.connect(server.url())
    try:
        await connection.execute(statement)
    finally:
        await connection.close()
