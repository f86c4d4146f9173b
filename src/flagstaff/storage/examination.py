"""Reads a database's state for diagnosis. Changes and creates nothing."""

import time
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa

from flagstaff.domain.errors import Code, Error
from flagstaff.storage import maintenance, tables
from flagstaff.storage.database import CONFIGURATION_FILE, HISTORY_FILE, Database
from flagstaff.storage.schema_state import current_revision, is_supported, known_revisions

_segments = tables.segments.c
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

    @property
    def is_newer(self) -> bool:
        """Whether a newer version has migrated the database."""
        return self.revision is not None and self.revision not in known_revisions()


async def examine(url: str | None, data_directory: Path) -> Examination:
    """Examine a database.

    Raises:
        Error: NOT_FOUND when it does not exist yet, UNAVAILABLE when it cannot be reached or is damaged.
    """
    if url is None:
        for name in (CONFIGURATION_FILE, HISTORY_FILE):
            if not (data_directory / name).exists():
                raise Error(Code.NOT_FOUND, f"{data_directory / name} does not exist")
    database = Database(url, data_directory)
    try:
        async with database.read() as connection:
            began = time.time()
            server = await maintenance.server_facts(connection)
            clock_lead = server.now - (began + time.time()) / 2
        revision = await current_revision(database)
        can_serve = await is_supported(database)
        evaluations, oldest, size = await _measure_history(database) if can_serve else (0, None, 0)
    finally:
        await database.close()
    return Examination(server, clock_lead, revision, known_revisions()[-1], can_serve, evaluations, oldest, size)


async def _measure_history(database: Database) -> tuple[int, datetime | None, int]:
    async with database.read_history() as connection:
        evaluations, oldest = (await connection.execute(_history_query)).one()
        size = await maintenance.history_bytes(connection)
    return evaluations or 0, None if oldest is None else tables.moment(oldest), size
