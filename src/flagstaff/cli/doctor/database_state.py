"""Reads a database's state for diagnosis. Changes and creates nothing."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.cluster.instance_reports_store import decode_report
from flagstaff.database import maintenance, tables
from flagstaff.database.clock import DatabaseNow
from flagstaff.database.database import Database
from flagstaff.database.health import CONFIGURATION, HISTORY
from flagstaff.database.postgresql_sessions import require_sessions
from flagstaff.database.schema_state import current_revision, find_missing_tables, is_supported, known_revisions
from flagstaff.database.situations import READ_ONLY, Situation
from flagstaff.database.sqlite.files import HISTORY_FILE, State, find_damage, inspect_files, unusable_history
from flagstaff.database.sqlite.free_pages import FreePages
from flagstaff.identity.administration.instance_store import needs_secret_key, read_time_seen
from flagstaff.values.errors import Code, Error

_segments = tables.segments.c
_rights_query = sa.text(
    "SELECT current_user AS role, current_database() AS database,"
    " has_database_privilege(current_database(), 'CREATE') AS may_in_database,"
    " has_schema_privilege('public', 'CREATE') AS may_in_schema"
)
_instances = tables.instances.c
_reports_query = sa.select(_instances.report).where(
    sa.type_coerce(_instances.expires_at, sa.BigInteger) > DatabaseNow(), sa.not_(_instances.is_leaving)
)
_history_query = sa.select(sa.func.sum(_segments.size), sa.func.min(_segments.first_time))


@dataclass(frozen=True)
class Examination:
    """A database's state; sizes are in bytes, the clock's lead over this machine's in seconds."""

    server: maintenance.ServerFacts
    clock_lead: float
    revision: str | None
    newest_revision: str
    is_supported: bool  # whether this version of Flagstaff can serve from the database
    evaluations: int
    oldest: datetime | None
    history_bytes: int
    history_free: FreePages | None  # in SQLite's file of the history
    history_problem: str | None  # why it cannot be used, and what to do
    time_seen: datetime | None  # up to when a server has seen time pass
    lacking_rights: tuple[str, ...]  # the statements that give this role the rights to migrate
    refusal: Situation | None  # why it cannot be written
    configuration_problem: str | None  # which of its tables are missing, and what to do
    needs_secret_key: bool  # whether it has anything that a new key would spoil
    key_fingerprints: frozenset[str]  # of the instances that serve from it now

    @property
    def is_newer(self) -> bool:
        """True if a newer version has migrated the database."""
        return self.revision is not None and self.revision > known_revisions()[-1]


async def examine(url: str | None, data_directory: Path) -> Examination:
    """Examine a database.

    Raises:
        Error: NOT_FOUND when it does not exist yet, CONFLICT when SQLite's configuration is missing or damaged, or
            what `require_sessions` raises, UNAVAILABLE when it cannot be reached.
    """
    if url is None:
        found = inspect_files(data_directory)
        if found.are_new:
            raise Error(Code.NOT_FOUND, f"there is none in {data_directory}")
        found.require_configuration()
    else:
        await require_sessions(url)
    database = Database(url, data_directory)
    try:
        async with database.read() as connection:
            began = time.time()
            server = await maintenance.server_facts(connection)
            clock_lead = server.now - (began + time.time()) / 2
            refusal = await _find_refusal(connection)
        revision = await current_revision(database)
        can_serve = await is_supported(database)
        problem = None if url else await asyncio.to_thread(_find_history_problem, data_directory)
        lacking = await _find_lacking_rights(database) if url and not can_serve else ()
        problems = await _find_problems(database) if can_serve else {}
        time_seen = await read_time_seen(database) if can_serve and CONFIGURATION not in problems else None
        needs_key = CONFIGURATION not in problems and await needs_secret_key(database)
        fingerprints = (
            await _find_fingerprints(database) if can_serve and CONFIGURATION not in problems else frozenset()
        )
        can_measure = can_serve and problem is None and HISTORY not in problems
        evaluations, oldest, size = await _measure_history(database) if can_measure else (0, None, 0)
        free = await database.find_free_history_pages() if can_measure else None
    finally:
        await database.close()
    newest = known_revisions()[-1]
    return Examination(
        server,
        clock_lead,
        revision,
        newest,
        can_serve,
        evaluations,
        oldest,
        size,
        free,
        problem or problems.get(HISTORY),
        time_seen,
        lacking,
        refusal,
        problems.get(CONFIGURATION),
        needs_key,
        fingerprints,
    )


async def _find_refusal(connection: AsyncConnection) -> Situation | None:
    if connection.dialect.name != "postgresql":
        return None
    is_read_only = await connection.scalar(sa.text("SELECT current_setting('transaction_read_only')"))
    return READ_ONLY if is_read_only == "on" else None


async def _find_problems(database: Database) -> Mapping[str, str]:
    """The problem of each store that lacks tables, and what to do."""
    database.health.record_tables(await find_missing_tables(database))
    return database.health.problems()


async def _find_fingerprints(database: Database) -> frozenset[str]:
    """The fingerprints of the secret keys of the instances that serve, by their latest reports."""
    async with database.read() as connection:
        reports = [decode_report(text) for text in await connection.scalars(_reports_query)]
    return frozenset(each.key_fingerprint for each in reports if each and each.key_fingerprint)


async def _find_lacking_rights(database: Database) -> tuple[str, ...]:
    async with database.read() as connection:
        found = (await connection.execute(_rights_query)).one()
    rights = (("DATABASE", found.database, found.may_in_database), ("SCHEMA", "public", found.may_in_schema))
    return tuple(f'GRANT CREATE ON {kind} "{name}" TO "{found.role}"' for kind, name, may in rights if not may)


def _find_history_problem(data_directory: Path) -> str | None:
    """Reads the whole history."""
    found = inspect_files(data_directory)
    if found.history_problem is not None or found.history is not State.FILLED:
        return found.history_problem
    damage = find_damage(data_directory / HISTORY_FILE)
    return None if damage is None else unusable_history(f"{HISTORY_FILE} is damaged ({damage})")


async def _measure_history(database: Database) -> tuple[int, datetime | None, int]:
    async with database.read_history() as connection:
        evaluations, oldest = (await connection.execute(_history_query)).one()
        size = await maintenance.history_bytes(connection)
    return evaluations or 0, None if oldest is None else tables.moment(oldest), size
