"""Writes a whole database from a dump or a backup in one transaction, all or nothing."""

from collections.abc import Sequence
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, maintenance
from flagstaff.database.backup.earlier import as_known
from flagstaff.database.backup.forms import Progress, Source, TableForm, newest_forms
from flagstaff.database.development_builds import taken_over
from flagstaff.database.driver_errors import translated_errors
from flagstaff.database.migrate import migrate_connection
from flagstaff.database.schema_state import known_revisions, present_revision
from flagstaff.database.sqlite.commit_numbers import find_confirmed
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from flagstaff.values.errors import Code, Error


async def load(
    url: str | None, data_directory: Path, source: Source, *, replace: bool = False, progress: Progress
) -> None:
    """Make a database equal to the source, and migrate it to this version's revision.

    The caller holds the data directory's lock. `replace` allows a database with data, all of which is deleted.

    Raises:
        Error: CONFLICT for a database that is not empty or is in use, or for a source of a newer revision; UNAVAILABLE
            when the database cannot be reached or is full; INVALID for a source that contradicts itself. Nothing has
            changed then.
    """
    check_revision(source.revision)
    source = as_known(source)
    configuration, history = data_directory / CONFIGURATION_FILE, data_directory / HISTORY_FILE
    engine = dialect.migrating_engine(url, configuration, history, journal_mode="DELETE")
    try:
        with translated_errors():
            async with engine.begin() as connection:
                await _refuse_company(connection)
                await _make_room(connection, replace=replace)
                await connection.run_sync(migrate_connection, source.revision)
                await connection.run_sync(_check_forms, source.forms, source.revision)
                for form in source.forms:
                    await _fill(connection, source, form, progress)
                await connection.run_sync(migrate_connection, "head")
                if url is None:
                    await _number_as_confirmed(connection, data_directory)
    finally:
        await engine.dispose()


async def _number_as_confirmed(connection: AsyncConnection, data_directory: Path) -> None:
    """Number this commit as the newest confirmed one of each file, so that what it replaces is not taken for lost."""
    for schema, name in (("main", CONFIGURATION_FILE), ("history", HISTORY_FILE)):
        number = find_confirmed(data_directory, name)
        if number is not None:
            await connection.exec_driver_sql(f"PRAGMA {schema}.user_version = {number}")


def check_revision(revision: str) -> None:
    """Raise Error CONFLICT for a revision of a newer Flagstaff, or of a development build before the last one."""
    if taken_over(revision) not in known_revisions():
        raise Error(
            Code.CONFLICT,
            f"The backup has revision {revision}, which is unknown to this version of Flagstaff (its newest is "
            f"{known_revisions()[-1]}). Use the version that made it, or a newer one.",
        )


async def _refuse_company(connection: AsyncConnection) -> None:
    if sessions := await maintenance.other_sessions(connection):
        raise Error(
            Code.CONFLICT,
            f"Flagstaff is running on this database ({sessions} connections). Stop every instance and try again.",
        )


async def _make_room(connection: AsyncConnection, *, replace: bool) -> None:
    """Delete existing tables, if that is allowed."""
    forms = await connection.run_sync(_present_tables)
    if await connection.run_sync(present_revision) is None:
        if forms:
            names = ", ".join(form.full_name for form in forms)
            raise Error(Code.CONFLICT, f"The database has other programs' tables with the same names: {names}.")
        return
    for form in forms:
        if (
            not replace
            and (await connection.execute(sa.select(sa.literal(1)).select_from(form.clause()).limit(1))).first()
        ):
            raise Error(
                Code.CONFLICT,
                f"The database is not empty: {form.full_name} has rows. Choose an empty one.",
            )
    for form in reversed(forms):  # migrations rewrite rows on the way down, which costs time and may fail
        await connection.execute(form.clause().delete())
    await connection.run_sync(migrate_connection, "base")


def _present_tables(connection: sa.Connection) -> list[TableForm]:
    inspector = sa.inspect(connection)
    return [form for form in newest_forms() if inspector.has_table(form.name, schema=form.schema)]


def _check_forms(connection: sa.Connection, forms: Sequence[TableForm], revision: str) -> None:
    """Raise Error INVALID unless the source has the tables and columns of its revision."""
    inspector = sa.inspect(connection)
    given, present = [form.full_name for form in forms], [form.full_name for form in _present_tables(connection)]
    if sorted(given) != sorted(present):  # one that is missing would be left empty, and another is not ours to fill
        raise Error(Code.INVALID, f"The backup's tables differ from those of revision {revision}.")
    for form in forms:
        there = inspector.has_table(form.name, schema=form.schema)
        columns = [column["name"] for column in inspector.get_columns(form.name, schema=form.schema)] if there else []
        if sorted(columns) != sorted(column.name for column in form.columns) or not {*form.key} <= {*columns}:
            raise Error(Code.INVALID, f"The backup's description of {form.full_name} differs from revision {revision}.")


async def _fill(connection: AsyncConnection, source: Source, form: TableForm, progress: Progress) -> None:
    """Write a table's rows and check their number."""
    table = form.clause()
    statement = table.insert()
    async for rows in source.batches(form):
        try:
            await connection.execute(statement, rows)
        except (sa.exc.IntegrityError, sa.exc.DataError, OverflowError) as error:
            message = f"{form.full_name} has rows that the database refuses, such as the same row twice."
            raise Error(Code.INVALID, message) from error
        progress(form.full_name, len(rows))
    found = await connection.scalar(sa.select(sa.func.count()).select_from(table))
    expected = source.rows[form.full_name]
    if found != expected:
        raise Error(Code.INVALID, f"{form.full_name} has {found} rows, but {expected} were expected.")
    if form.number is not None:
        await maintenance.set_counter(connection, table, form.number, source.counters.get(form.full_name, 0))
