"""Engines, pools and transactions. Each use case is one transaction, whose changes are announced after the commit."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from flagstaff.domain.changes import Change
from flagstaff.domain.errors import Code, Error, not_found, unavailable
from flagstaff.storage import dialect

Connection = AsyncConnection  # services pass it on without using it

log = structlog.get_logger(__name__)

CONFIGURATION_FILE = "flagstaff.sqlite"
HISTORY_FILE = "history.sqlite"


@dataclass
class Transaction:
    """The writes of one use case. `storage.changes.record` appends to `changes`."""

    connection: AsyncConnection
    instance: str
    changes: list[Change] = field(default_factory=list)


class Database:
    """The configuration and the history: two files in a folder with SQLite, one database with PostgreSQL.

    Every method that accesses the database raises Error UNAVAILABLE if it cannot be reached.
    """

    def __init__(self, url: str | None, data_directory: Path) -> None:
        """Open no connection yet. `url` is that of a PostgreSQL server; None means SQLite in the data directory."""
        self.is_postgresql = url is not None and dialect.is_postgresql(url)
        if url is not None and self.is_postgresql:
            engine = dialect.postgresql_engine(url)
            self._writer = self._history_writer = engine
            self._reader = self._history_reader = engine.execution_options(isolation_level="REPEATABLE READ")
        else:
            configuration, history = data_directory / CONFIGURATION_FILE, data_directory / HISTORY_FILE
            self._reader = dialect.sqlite_engine(configuration, write=False, synchronous="FULL")
            self._writer = dialect.sqlite_engine(configuration, write=True, synchronous="FULL")
            # The history has its own file, in which its tables have no schema.
            options = {"schema_translate_map": {"history": None}}
            self._history_reader = dialect.sqlite_engine(history, write=False, synchronous="NORMAL").execution_options(
                **options
            )
            self._history_writer = dialect.sqlite_engine(history, write=True, synchronous="NORMAL").execution_options(
                **options
            )
        self.instance = token_hex(8)  # distinguishes this process from others on the same database
        self._announce: Callable[[Sequence[Change]], Awaitable[None]] | None = None

    def announce_to(self, announce: Callable[[Sequence[Change]], Awaitable[None]]) -> None:
        """Await `announce` with the changes of each transaction, after it commits and before it returns."""
        self._announce = announce

    @asynccontextmanager
    async def read(self) -> AsyncIterator[AsyncConnection]:
        """A connection that reads the configuration in one consistent state."""
        with translated_errors():
            async with self._reader.begin() as connection:
                yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """A transaction on the configuration. It commits at the end, and rolls back on any exception."""
        begun: Transaction | None = None
        try:
            with translated_errors():
                async with self._writer.begin() as connection:
                    transaction = Transaction(connection, self.instance)
                    yield transaction
                    begun = transaction
        finally:
            # Announce the changes even if the commit failed or was cancelled: it may still have reached the database,
            # and an unnecessary announcement only causes a reload.
            if begun and begun.changes and self._announce:
                await asyncio.shield(asyncio.ensure_future(self._announce(begun.changes)))

    @asynccontextmanager
    async def read_history(self) -> AsyncIterator[AsyncConnection]:
        """A connection that reads the history in one consistent state."""
        with translated_errors():
            async with self._history_reader.begin() as connection:
                yield connection

    @asynccontextmanager
    async def write_history(self) -> AsyncIterator[AsyncConnection]:
        """A transaction on the history. It never waits for a transaction on the configuration."""
        with translated_errors():
            async with self._history_writer.begin() as connection:
                yield connection

    async def ping(self) -> None:
        """Check that the database responds."""
        async with self.read() as connection:
            await connection.execute(sa.text("SELECT 1"))

    async def close(self) -> None:
        """Close every pool."""
        async with AsyncExitStack() as stack:
            for engine in self._engines():
                stack.push_async_callback(engine.dispose)

    def _engines(self) -> set[AsyncEngine]:
        return {self._reader, self._writer, self._history_reader, self._history_writer}


@contextmanager
def translated_errors() -> Iterator[None]:
    """Convert drivers' errors to domain errors: UNAVAILABLE for an outage, NOT_FOUND for a parent that was deleted."""
    try:
        yield
    except sa.exc.IntegrityError as error:
        if dialect.is_missing_parent(error):
            raise not_found("resource any more; it was deleted meanwhile") from error
        raise
    except (sa.exc.SQLAlchemyError, OSError, *dialect.RAW_ERRORS) as error:
        if not dialect.is_outage(error):
            raise
        log.warning("database_unavailable", error=type(error).__name__, detail=str(error).partition("\n")[0])
        raise unavailable() from error


@contextmanager
def unique_or(message: str) -> Iterator[None]:
    """Raise Error CONFLICT with this message if a statement violates a unique constraint."""
    try:
        yield
    except sa.exc.IntegrityError as error:
        if not dialect.is_unique_violation(error):
            raise
        raise Error(Code.CONFLICT, message) from error
