"""The transactions that change the schema, and how they take their locks while instances serve from PostgreSQL.

docs/decisions/0027-upgrades-and-backups.md has the reasons.
"""

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncEngine

from flagstaff.database import driver_errors, tables
from flagstaff.values.errors import unavailable

Result = TypeVar("Result")

GIVE_UP_SECONDS = 60
AGAIN_SECONDS = 1.0
# Well below PostgreSQL's deadlock_timeout of a second, after which it may end the transaction of an instance.
SHORT_SECONDS = 0.25
# Longer than deadlock_timeout, after which PostgreSQL cancels an automatic vacuum that holds a lock.
PATIENT_SECONDS = 1.5
_SHORT_ATTEMPTS = 4
# An instance that cannot renew its lease stops answering, so its table is locked only by a migration that changes it.
_LEASES = "instances"


async def run_once(engine: AsyncEngine, work: Callable[[sa.Connection], Result]) -> Result:
    """Do work in a transaction, and close the engine."""
    try:
        async with engine.begin() as connection:
            return await connection.run_sync(work)
    finally:
        await engine.dispose()


async def run_between_locks(
    make_engine: Callable[[float], AsyncEngine], work: Callable[[sa.Connection], Result]
) -> Result:
    """Do work in a transaction, again until no other session holds a lock for long.

    A transaction of an instance may hold the lock that a migration needs while it waits for one of the migration's. So
    the migration gives way first. The statements of `make_engine(seconds)` wait so long for a lock.

    Raises:
        Error: UNAVAILABLE if another session has kept a table locked for `GIVE_UP_SECONDS`.
    """
    deadline = time.monotonic() + GIVE_UP_SECONDS
    attempts = 0
    while True:
        attempts += 1
        try:
            return await run_once(make_engine(SHORT_SECONDS), work)
        except sa.exc.DBAPIError as error:
            if not driver_errors.is_lock_timeout(error):
                raise
            if time.monotonic() > deadline:
                raise unavailable(
                    f"A migration has waited {GIVE_UP_SECONDS} seconds for a table that another session has locked. "
                    "Nothing was changed. pg_stat_activity shows the sessions: end the one that holds the lock."
                ) from error
        await asyncio.sleep(AGAIN_SECONDS)
        if attempts % _SHORT_ATTEMPTS == 0:
            await run_once(make_engine(PATIENT_SECONDS), partial(_end_automatic_vacuums, deadline=deadline))


def lock_tables(connection: sa.Connection) -> None:
    """Lock the tables of the configuration before a migration changes the first of them; nothing for SQLite.

    Requests read a project before its flags, and the locks are taken in this order. So a request that has begun ends,
    and none waits for a table while it holds a lock that the migration comes to need. The history is left to the
    migration that changes it: reading it may take minutes.
    """
    if connection.dialect.name == "postgresql":
        names = [table for table in _present(connection) if table.schema is None and table.name != _LEASES]
        if names:
            connection.execute(sa.text(f"LOCK TABLE {', '.join(map(_quoted, names))} IN ACCESS EXCLUSIVE MODE"))


def _end_automatic_vacuums(connection: sa.Connection, *, deadline: float) -> None:
    """Wait for each table alone, so that no request can wait for this session while it waits for the request.

    Another session may hold them all, such as a dump, so it ends with the time that the migration has.
    """
    for table in _present(connection):
        if time.monotonic() > deadline:
            return
        with connection.begin_nested() as alone:
            try:
                connection.execute(sa.text(f"LOCK TABLE {_quoted(table)} IN ACCESS EXCLUSIVE MODE"))
            except sa.exc.DBAPIError as error:
                if not driver_errors.is_lock_timeout(error):
                    raise
            alone.rollback()  # which gives the lock back


def _present(connection: sa.Connection) -> list[sa.Table]:
    found = sa.inspect(connection)
    names = {schema: {*found.get_table_names(schema)} for schema in (None, tables.HISTORY)}
    return [table for table in tables.metadata.sorted_tables if table.name in names[table.schema]]


def _quoted(table: sa.Table) -> str:
    return f'"{table.schema}"."{table.name}"' if table.schema else f'"{table.name}"'
