"""Transactions. Each use case is one, whose changes are announced after the commit."""

import asyncio
import hashlib
import hmac
import sqlite3
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    suppress,
)
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from secrets import token_bytes, token_hex
from typing import TypeVar
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from flagstaff.changes.changes import Change, Committed
from flagstaff.concurrency.claims import current_claim
from flagstaff.database import dialect, driver_errors, freed_pages, project_turns, tables
from flagstaff.database.commits import record_commit
from flagstaff.database.driver_errors import translated_errors
from flagstaff.database.engines import postgresql_engines, postgresql_turns, sqlite_engines, sqlite_turns
from flagstaff.database.health import CONFIGURATION, FILES, HISTORY, StoreHealth
from flagstaff.database.project_turns import ProjectTurns
from flagstaff.database.reach import Reach
from flagstaff.database.recorded_bytes_store import RecordedBytesBounds, TrailForm
from flagstaff.database.revisions_store import FOUND, forget_found, record_committed
from flagstaff.database.sqlite.driver import Connection as SqliteConnection
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from flagstaff.database.sqlite.free_pages import FreePages, find_free_pages, return_pages
from flagstaff.database.sqlite.open_files import OpenFile
from flagstaff.database.turns import Turns, WriteTimes
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error, unavailable, unconfirmed

Connection = AsyncConnection  # services pass it through without using it
T = TypeVar("T")

log = structlog.get_logger(__name__)

_PROJECT_BUSY = "Another change to the project takes long. Nothing was changed. Try again shortly."
_NOT_KNOWN = "The connection to the database was lost, and it is not known whether the change was stored."
_NOT_EVERYWHERE = (
    "Nothing was changed by this request. Another request has just changed the resource, and not every instance has "
    "confirmed that change. Try again shortly."
)
# Errors that say nothing about the state in which a transaction has found a project.
_OF_NO_STATE = frozenset(
    {
        Code.UNAUTHENTICATED,
        Code.MFA_REQUIRED,
        Code.FORBIDDEN,
        Code.MFA_ENROLMENT_REQUIRED,
        Code.LIMITED,
        Code.UNAVAILABLE,
        Code.INTERNAL,
    }
)

_touch_configuration = sa.text("UPDATE alembic_version SET version_num = version_num")
_layouts = tables.layouts
_touch_history = (
    _layouts.update()
    .where(_layouts.c.id == sa.select(sa.func.min(_layouts.c.id)).scalar_subquery())
    .values(version=_layouts.c.version)
)


@dataclass
class Transaction:
    """One use case's writes; `changes` are announced after the commit, and `changes_store.record` appends.

    `found` and `left` are as in `Committed`: the revisions of the projects when they were locked, and those that
    `record` has given. `change` is the number of the latest change. `has_unrecorded` says that it has written
    something that the audit trail does not have, such as a comment, and `only_tries` that nothing written is kept.
    """

    connection: AsyncConnection
    instance: str
    trail: TrailForm
    changes: list[Change] = field(default_factory=list)
    found: dict[UUID, int | None] = field(default_factory=dict)
    left: dict[UUID, int | None] = field(default_factory=dict)
    change: int | None = None
    has_unrecorded: bool = False
    only_tries: bool = False

    @property
    def concerns_evaluations(self) -> bool:
        """True if it has changed what is evaluated, or found in a project that there was nothing to change."""
        return bool(self.left) or (bool(self.found) and self.change is None)

    @property
    def revision(self) -> int | None:
        """The revision of the project that it has changed last, or else found last; None if it was deleted."""
        return next(reversed((self.left or self.found).values()), None) if self.concerns_evaluations else None


# With the task that shares it: a task that is created inside inherits the variable, but must not join.
_shared: ContextVar[tuple[Transaction, asyncio.Task[object] | None] | None] = ContextVar(
    "shared transaction", default=None
)


class Database:
    """The configuration and the history: with SQLite two files in a folder, with PostgreSQL one database.

    Every method that accesses the database raises Error UNAVAILABLE if it cannot be reached.
    """

    def __init__(self, url: str | None, data_directory: Path) -> None:
        """Opens no connection yet. `url` is a PostgreSQL server's; None means SQLite in the data directory."""
        self.is_postgresql = url is not None and dialect.is_postgresql(url)
        self._files: dict[str, OpenFile] = {}
        if url is not None and self.is_postgresql:
            self._engines = postgresql_engines(url)
            self.reach: Reach | None = Reach(self._engines.writer)
            self._turns = postgresql_turns()
        else:
            self._files = {name: OpenFile(data_directory / name) for name in FILES.values()}
            self._engines = sqlite_engines(*self._files.values())
            self.reach, self._turns = None, sqlite_turns(self._files[CONFIGURATION_FILE])
        self.health = StoreHealth(is_postgresql=self.is_postgresql, directory=data_directory)
        self._write_times, self._project_turns = WriteTimes(), ProjectTurns()
        self._directory = data_directory
        self.instance = token_hex(8)  # distinguishes this process from others on the same database
        self._announce: Callable[[Committed], Awaitable[None]] | None = None
        self._trail = TrailForm(token_bytes(32))

    def record_by(self, secret_key: str, bounds: RecordedBytesBounds) -> None:
        """Recognise states in the audit trail also from other processes with the same key, and bound what it gets."""
        self._trail = TrailForm(hmac.digest(secret_key.encode(), b"flagstaff recorded state", hashlib.sha256), bounds)

    def announce_to(self, announce: Callable[[Committed], Awaitable[None]]) -> None:
        """Await `announce` with what each transaction has left, after its commit and before it returns.

        It is also called for a transaction that was to change a project and changed nothing, or ended with an Error
        because of what it found: this may have been committed a moment ago. Its exceptions reach the caller of the
        transaction, although the changes are stored.
        """
        self._announce = announce

    @property
    def is_missing(self) -> bool:
        """True if the configuration's SQLite file does not exist."""
        return not self.is_postgresql and not (self._directory / CONFIGURATION_FILE).exists()

    async def open_files(self) -> dict[str, int]:
        """Open SQLite's files, so that `require_files` notices when one is deleted or replaced.

        Return the numbers (inodes) of those that stay open until `close`, by name.
        """
        self.health.look_for_history(self._directory)
        for store, name in FILES.items():
            if file := self._files.get(name):
                with translated_errors():
                    await file.open(is_usable=self.health.up[store])
        return {name: number for file in self._files.values() for name, number in file.numbers.items()}

    def require_files(self, name: str) -> None:
        """Raise Error UNAVAILABLE if a file or its log is not the one that is open: a restart would lose writes."""
        if file := self._files.get(name):
            file.require()

    async def checkpoint(self) -> None:
        """Move what is in SQLite's logs to their files, and note which of the files were deleted or replaced."""
        for store, name in FILES.items():
            if file := self._files.get(name):
                self.health.record_replacement(store, file.find_problem())
                with suppress(Error), self.health.watching(store), translated_errors():
                    self.health.log_bytes[store] = await file.checkpoint()

    def read(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection that reads the configuration in one consistent state.

        Inside `shared_transaction` it is that transaction's, and sees what was written in it.
        """
        return self._reading(self._engines.reader, self._turns.reader)

    def query(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection for a single statement, which sees one consistent state of the configuration by itself.

        A transaction around it would take two more round trips. Inside `shared_transaction` it is the connection of
        `read`.
        """
        return self._reading(self._engines.querier, self._turns.querier)

    @asynccontextmanager
    async def _reading(self, engine: AsyncEngine, turns: Turns) -> AsyncIterator[AsyncConnection]:
        with self.health.watching(CONFIGURATION), translated_errors():
            if shared := _joined():
                yield shared.connection
                return
            async with self._begin(engine, turns) as connection:
                yield connection

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """A transaction on the configuration: committed at the end, rolled back by any exception.

        Inside `shared_transaction` it joins that transaction, which commits or rolls back everything.

        An Error that rests on what the transaction has found, such as NOT_FOUND for what another request has just
        deleted, is raised when that state is served everywhere.

        Raises:
            Error: UNAVAILABLE without `retry_after_seconds` when the change may have been stored, and with it when the
                state on which an Error rests may not be served everywhere.
        """
        if shared := _joined():
            with translated_errors():
                yield shared
            return
        begun: Transaction | None = None
        ended: Transaction | None = None
        try:
            with self.health.watching(CONFIGURATION, writes=True), translated_errors():
                self.require_files(CONFIGURATION_FILE)
                async with self._begin_to_write() as connection:
                    transaction = begun = Transaction(connection, self.instance, self._trail)
                    await connection.execution_options(**{FOUND: transaction.found})
                    yield transaction
                    ended = transaction
                    if not transaction.only_tries:
                        record_commit()
            if transaction.concerns_evaluations:
                record_committed(transaction.revision, transaction.change)
        except BaseException as error:
            if ended is None:
                if begun is not None and isinstance(error, Error):
                    await self._serve_what_it_rests_on(error, begun)
                raise
            if self._is_rolled_back(error):
                raise
            # The commit itself failed or was cancelled. It may still have reached the database, and an unnecessary
            # announcement only costs a reload. The caller gets the commit's error, not the announcement's.
            with suppress(Exception):
                await self._announce_end(Committed(ended.changes, {}, {}))
            if isinstance(error, Error) and error.code is Code.UNAVAILABLE:
                raise unconfirmed(_NOT_KNOWN) from error
            raise
        await self._announce_end(Committed(transaction.changes, transaction.found, transaction.left))

    @asynccontextmanager
    async def shared_transaction(self) -> AsyncIterator[Transaction]:
        """A transaction that every `transaction` and `read` of the same task joins until it ends."""
        async with self.transaction() as transaction:
            token = _shared.set((transaction, asyncio.current_task()))
            try:
                yield transaction
            finally:
                _shared.reset(token)  # before the announcement, whose transactions are separate

    async def _serve_what_it_rests_on(self, error: Error, undone: Transaction) -> None:
        """Wait until the state that led to an error is served everywhere; raise Error UNAVAILABLE if it may not be.

        A 404 says that nobody sees the resource any more, as a 200 says that everybody sees the change.
        """
        if error.code in _OF_NO_STATE or undone.only_tries:
            return
        try:
            await self._announce_end(Committed((), undone.found, {}))
        except Error as not_served:
            raise unavailable(_NOT_EVERYWHERE, not_served.extensions) from not_served

    def _is_rolled_back(self, error: BaseException) -> bool:
        """Return whether an error of a commit means that nothing was stored.

        SQLite has written a part of the transaction without its end, which it ignores, when the disk is full. With
        other errors, such as of a sync, and with PostgreSQL, the end may have been written.
        """
        return not self.is_postgresql and driver_errors.is_full_disk(error.__cause__)

    async def _announce_end(self, committed: Committed) -> None:
        if self._announce and (committed.changes or committed.found):
            await asyncio.shield(self._announce(committed))

    @asynccontextmanager
    async def read_history(self) -> AsyncIterator[AsyncConnection]:
        """A connection that reads the history in one consistent state."""
        with self.health.watching(HISTORY), translated_errors():
            async with self._begin(self._engines.history_reader, self._turns.history_reader) as connection:
                yield connection

    @asynccontextmanager
    async def write_history(self) -> AsyncIterator[AsyncConnection]:
        """A transaction on the history. It never waits for a transaction on the configuration."""
        with self.health.watching(HISTORY, writes=True), translated_errors():
            self.require_files(HISTORY_FILE)
            async with self._begin(self._engines.history_writer, self._turns.history_writer) as connection:
                yield connection
                record_commit()

    async def find_free_history_pages(self) -> FreePages | None:
        """The free pages of the history's file; None with PostgreSQL, whose disk cannot be seen from here."""
        if self.is_postgresql:
            return None
        async with self.read_history() as connection:
            return await _call_driver(connection, find_free_pages)

    async def find_unused_history_bytes(self) -> int | None:
        """The bytes in the history's file that hold no rows: free pages, and those that are being overwritten.

        None with PostgreSQL.
        """
        if self.is_postgresql:
            return None
        async with self.read_history() as connection:
            free: FreePages = await _call_driver(connection, find_free_pages)
            return free.bytes + await freed_pages.stored_bytes(connection)

    async def return_history_pages(self, most: int, seconds: float) -> int:
        """Give free pages of the history's file back to the disk, up to a number of bytes and for so long.

        Returns how many bytes. Batches wait meanwhile.
        """
        async with self.write_history() as connection:
            return await _call_driver(connection, partial(return_pages, most=most, seconds=seconds))

    async def overwrite_free_pages(self) -> bool:
        """Overwrite what was deleted from the history in SQLite's free pages; return False if some is left.

        Some is left if pages are freed all the time. PostgreSQL overwrites its pages itself, in its own time.
        """
        if self.is_postgresql:
            return True
        async with self.read_history() as connection:
            turns = 2 + 2 * await freed_pages.count(connection) // freed_pages.PAGES_AT_ONCE
        try:
            return not await self._repeat(freed_pages.fill, turns)
        finally:
            while await self._repeat(freed_pages.give_back, turns):
                pass

    async def empty_history_log(self) -> bool:
        """Move SQLite's log of the history to its file and empty it; return False if a reader still needs it."""
        if self.is_postgresql:
            return True
        with translated_errors():
            return await self._files[HISTORY_FILE].empty_log()

    async def _repeat(self, write: Callable[[AsyncConnection], Awaitable[bool]], most: int) -> bool:
        """Write to the history while there is more to write, but so often at most. Return whether there is more."""
        more = True
        while more and most > 0:
            async with self.write_history() as connection:
                more = await write(connection)
            most -= 1
        return more

    async def try_to_write(self) -> None:
        """Write what changes nothing to both stores, so that `health` knows whether they take writes."""
        with suppress(Error):
            async with self.transaction() as transaction:
                await transaction.connection.execute(_touch_configuration)
        with suppress(Error):
            async with self.write_history() as connection:
                await connection.execute(_touch_history)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the state of the stores, and how long writes wait and take."""
        self.health.export_metrics(metrics)
        self._write_times.export_metrics(metrics, self._turns.writer)

    @asynccontextmanager
    async def _begin_to_write(self) -> AsyncIterator[AsyncConnection]:
        project = current_claim().project if self.is_postgresql else None
        with self._write_times.measuring() as begin:
            for pause_seconds in project_turns.pauses():
                async with self._turns.writer.take():
                    if self._project_turns.is_free(project):
                        with self._project_turns.writing(project):
                            async with self._connect(self._engines.writer) as connection:
                                if await self._may_write(connection, project):
                                    begin()
                                    yield connection
                                    return
                await asyncio.sleep(pause_seconds)
        raise unavailable(_PROJECT_BUSY)

    async def _may_write(self, connection: AsyncConnection, project: UUID | None) -> bool:
        """Return whether a write shall go on with this connection, or leave it to others until its project is free."""
        if project is None or not self._turns.writer.has_others():
            return True
        return await project_turns.lock(connection, project)

    @asynccontextmanager
    async def _begin(self, engine: AsyncEngine, turns: Turns) -> AsyncIterator[AsyncConnection]:
        async with turns.take(), self._connect(engine) as connection:
            yield connection

    def _connect(self, engine: AsyncEngine) -> AbstractAsyncContextManager[AsyncConnection]:
        return self.reach.begin(engine) if self.reach else engine.begin()

    async def ping(self) -> None:
        """Check that the database responds."""
        async with self.read() as connection:
            await connection.execute(sa.text("SELECT 1"))

    async def close(self) -> None:
        """Close every pool."""
        async with AsyncExitStack() as stack:
            stack.callback(self._turns.writer.close)
            for file in self._files.values():
                stack.push_async_callback(file.close)
            for engine in set(self._engines):
                stack.push_async_callback(engine.dispose)


@asynccontextmanager
async def attempt(transaction: Transaction, *, keep: bool) -> AsyncIterator[None]:
    """Write inside a savepoint, to see whether a write succeeds; it is rolled back unless it is to be kept."""
    async with transaction.connection.begin_nested() as savepoint:
        transaction.only_tries = transaction.only_tries or not keep
        yield
        if not keep:
            forget_found(transaction.connection)
            await savepoint.rollback()


async def _call_driver(connection: AsyncConnection, function: Callable[[sqlite3.Connection], T]) -> T:
    """Call a function with SQLite's own connection, in the thread and the transaction of this one."""
    driver = (await connection.get_raw_connection()).driver_connection
    assert isinstance(driver, SqliteConnection)
    return await driver.call_in_transaction(function)


def _joined() -> Transaction | None:
    """The transaction that the current task shares, if any."""
    transaction, task = _shared.get() or (None, None)
    return transaction if task is asyncio.current_task() else None
