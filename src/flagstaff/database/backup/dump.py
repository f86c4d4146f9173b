"""Reads a whole database, also while a server is running: one consistent state, some rows at a time."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import maintenance
from flagstaff.database.backup.forms import BATCH_ROWS, Row, TableForm, newest_forms
from flagstaff.database.development_builds import LAST_REVISION, require_no_older
from flagstaff.database.driver_errors import translated_errors
from flagstaff.database.schema_state import known_revisions, present_revision
from flagstaff.database.sqlite.commit_numbers import count_lost, find_confirmed
from flagstaff.database.sqlite.files import (
    CONFIGURATION_FILE,
    HISTORY_FILE,
    describe_loss,
    require_files_of_server,
)
from flagstaff.database.tables import HISTORY
from flagstaff.values.errors import Code, Error


class Dump:
    """A database in its state when the dump was opened: a `forms.Source`."""

    def __init__(self, connection: AsyncConnection, revision: str, *, with_history: bool) -> None:
        self.revision = revision
        self.forms = newest_forms()
        self.rows: dict[str, int] = {}
        self.counters: dict[str, int] = {}
        self.is_served = False  # with SQLite, the data directory's lock shows this
        self._connection = connection
        self._with_history = with_history

    async def count(self) -> None:
        """Fill in `rows`, `counters` and `is_served`."""
        self.is_served = await maintenance.other_sessions(self._connection) > 0
        for form in self.forms:
            table = form.clause()
            counted = sa.select(sa.func.count()).select_from(table)
            self.rows[form.full_name] = await self._connection.scalar(counted) or 0 if self._has_rows(form) else 0
            if form.number is not None:
                counter = await maintenance.find_counter(self._connection, table, form.number)
                if counter is not None:
                    self.counters[form.full_name] = counter

    async def batches(self, form: TableForm) -> AsyncIterator[list[Row]]:
        """A table's rows in the order of their keys, some at a time."""
        if not self._has_rows(form):
            return
        table = form.clause()
        query = sa.select(table).order_by(*(table.c[name] for name in form.key))
        found = await self._connection.stream(query, execution_options={"yield_per": BATCH_ROWS})
        async for rows in found.mappings().partitions():
            yield [dict(row) for row in rows]

    def _has_rows(self, form: TableForm) -> bool:
        return self._with_history or form.schema != HISTORY


@asynccontextmanager
async def open_dump(url: str | None, data_directory: Path, *, with_history: bool = True) -> AsyncIterator[Dump]:
    """Hold the current state of a database until the block ends.

    Raises:
        Error: NOT_FOUND when there is no database, CONFLICT when it is not at this version's revision or when SQLite's
            files lack changes that a server has confirmed, UNAVAILABLE when it cannot be reached.
    """
    names = (CONFIGURATION_FILE, HISTORY_FILE) if with_history else (CONFIGURATION_FILE,)
    confirmed = {} if url else {name: find_confirmed(data_directory, name) for name in names}
    configuration, history = data_directory / CONFIGURATION_FILE, data_directory / HISTORY_FILE
    with translated_errors(), _files_of_server(url, data_directory):
        async with maintenance.frozen(url, configuration, history) as connection:
            await _require_all(connection, confirmed)
            revision = await connection.run_sync(present_revision)
            if revision is None:
                raise Error(Code.NOT_FOUND, "There is nothing to read: the database has no Flagstaff tables.")
            if revision != known_revisions()[-1]:
                raise _not_readable(revision)
            dump = Dump(connection, revision, with_history=with_history)
            await maintenance.keep_definitions(connection, [form.clause() for form in dump.forms])
            await dump.count()
            yield dump


@contextmanager
def _files_of_server(url: str | None, data_directory: Path) -> Iterator[None]:
    """Raise Error CONFLICT before and after reading unless the files are those that a running server has open."""
    if url is None:
        require_files_of_server(data_directory)
    yield
    if url is None:
        require_files_of_server(data_directory)


async def _require_all(connection: AsyncConnection, confirmed: Mapping[str, int | None]) -> None:
    """Raise Error CONFLICT unless SQLite's files have every commit that had been confirmed before."""
    for name, number in confirmed.items():
        schema = HISTORY if name == HISTORY_FILE else "main"
        found = (await connection.exec_driver_sql(f"PRAGMA {schema}.user_version")).scalar_one()
        if lost := count_lost(number, found):
            raise Error(Code.CONFLICT, f"{describe_loss(name, lost)} To see what to do, run: flagstaff doctor")


def _not_readable(revision: str) -> Error:
    require_no_older(revision)
    newest = known_revisions()[-1]
    if revision in {LAST_REVISION, *known_revisions()}:
        advice = f"reads only revision {newest}. Use the version that serves it, or run `flagstaff migrate` first."
    else:  # this version may serve it, but a backup would leave out what only the newer one knows
        advice = (
            f"reads only up to revision {newest}: a newer version has migrated it. Use `flagstaff backup` or "
            "`flagstaff copy` of the newer version, also while this one serves."
        )
    return Error(Code.CONFLICT, f"The database is at revision {revision}, but this version of Flagstaff {advice}")
