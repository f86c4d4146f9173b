"""The engines of a database, each with its pool of connections."""

from pathlib import Path
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncEngine

from flagstaff.database import dialect
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE


class Engines(NamedTuple):
    """The engines, by use. With PostgreSQL they share one pool; `querier` begins no transactions."""

    reader: AsyncEngine
    querier: AsyncEngine
    writer: AsyncEngine
    history_reader: AsyncEngine
    history_writer: AsyncEngine


def postgresql_engines(url: str) -> Engines:
    """The engines of a PostgreSQL database. No connection is opened yet."""
    from flagstaff.database import postgresql  # noqa: PLC0415 -- see dialect.py

    writer = postgresql.make_engine(url, limits_idle_writes=True)
    reader = writer.execution_options(isolation_level="REPEATABLE READ")
    return Engines(reader, dialect.without_transactions(writer), writer, reader, writer)


def sqlite_engines(directory: Path) -> Engines:
    """The engines of SQLite's two files in a directory. No connection is opened yet."""
    configuration, history = directory / CONFIGURATION_FILE, directory / HISTORY_FILE
    # The history has its own file, in which its tables have no schema.
    of_history = {"schema_translate_map": {"history": None}}
    history_reader = dialect.sqlite_engine(history, write=False, synchronous="NORMAL")
    history_writer = dialect.sqlite_engine(history, write=True, synchronous="NORMAL")
    return Engines(
        reader=dialect.sqlite_engine(configuration, write=False, synchronous="FULL"),
        querier=dialect.without_transactions(
            dialect.sqlite_engine(configuration, write=False, synchronous="FULL", is_quick=True)
        ),
        writer=dialect.sqlite_engine(configuration, write=True, synchronous="FULL"),
        history_reader=history_reader.execution_options(**of_history),
        history_writer=history_writer.execution_options(**of_history),
    )
