"""The engines of a database, each with its pool of connections, and the turns at them."""

from functools import partial
from typing import NamedTuple

from sqlalchemy.ext.asyncio import AsyncEngine

from flagstaff.database import dialect
from flagstaff.database.sqlite.open_files import OpenFile
from flagstaff.database.sqlite.worker_turns import WorkerTurns
from flagstaff.database.turns import DatabaseTurns, Turns

_KEPT_OF_READERS = (0, 1, 2)
"""Readers of SQLite that each class of work leaves to those above (concurrency/fair_queue.py)."""
_KEPT_OF_POOL = (0, 2, 4)
"""Connections to PostgreSQL, likewise."""


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


def postgresql_turns() -> DatabaseTurns:
    """The turns at the pool of a PostgreSQL database. One connection is nobody's: `Reach.check` takes it."""
    from flagstaff.database import postgresql  # noqa: PLC0415 -- see dialect.py

    pool = Turns(postgresql.POOL_SIZE - 1, kept=_KEPT_OF_POOL)
    return DatabaseTurns(pool, pool, pool, pool, pool)


def sqlite_turns(configuration: OpenFile) -> DatabaseTurns:
    """The turns at SQLite's two files. No kill writes to the history, so workers need no order there."""
    reader, querier, history_reader = (Turns(dialect.READERS, kept=_KEPT_OF_READERS) for _ in range(3))
    return DatabaseTurns(reader, querier, WorkerTurns(configuration.path), history_reader, Turns(1))


def sqlite_engines(configuration: OpenFile, history: OpenFile) -> Engines:
    """The engines of SQLite's two files. No connection is opened yet, and none after a file was replaced."""
    make_configuration = partial(
        dialect.sqlite_engine, configuration.path, synchronous="FULL", require=configuration.require
    )
    make_history = partial(dialect.sqlite_engine, history.path, synchronous="NORMAL", require=history.require)
    # The history has its own file, in which its tables have no schema.
    of_history = {"schema_translate_map": {"history": None}}
    return Engines(
        reader=make_configuration(write=False),
        querier=dialect.without_transactions(make_configuration(write=False, is_quick=True)),
        writer=make_configuration(write=True),
        history_reader=make_history(write=False).execution_options(**of_history),
        history_writer=make_history(write=True).execution_options(**of_history),
    )
