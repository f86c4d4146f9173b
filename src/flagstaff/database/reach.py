"""Tells whether PostgreSQL is within reach, as the session of the lease shows, and ends what waits when it is not.

A driver that waits for an answer cannot tell a database that works from one that is cut off. The session that holds the
lease can, because it asks again and again (cluster/instances_store.py).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from flagstaff.database.driver_errors import translated_errors
from flagstaff.values.errors import unavailable

if TYPE_CHECKING:
    import asyncpg

log = structlog.get_logger(__name__)

LOST_SECONDS = 4.0
"""After so long without an answer, PostgreSQL is lost. So a request that needs it is answered within five seconds."""
_OPEN_SECONDS = 4.0  # until a connection is open, or found to respond: the limits of the single steps would add up
_LATE_SECONDS = 0.5


class Reach:
    """PostgreSQL, through the pool of an engine. Engines that are made from it share the pool."""

    def __init__(self, engine: AsyncEngine, clock: Callable[[], float] = time.monotonic) -> None:
        self._engine = engine
        self._clock = clock
        self._is_lost = False
        self._alarm: asyncio.TimerHandle | None = None
        self._timeouts: set[asyncio.Timeout] = set()
        self._open: WeakSet[asyncpg.Connection] = WeakSet()

        @sa.event.listens_for(engine.sync_engine, "connect")
        def note(connection: Any, _record: object) -> None:
            self._open.add(connection.driver_connection)

        @sa.event.listens_for(engine.sync_engine, "invalidate")
        def end(connection: Any, _record: object, _error: object) -> None:
            connection.driver_connection.terminate()  # closing it in order would wait for the server's answer

    @asynccontextmanager
    async def begin(self, engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
        """A transaction on one of the engines; raises Error UNAVAILABLE while PostgreSQL is lost."""
        if self._is_lost:
            raise unavailable()
        async with AsyncExitStack() as stack:
            async with asyncio.timeout(_OPEN_SECONDS) as timeout:
                with self.ending(timeout):
                    connection = await stack.enter_async_context(engine.begin())
            yield connection

    async def check(self) -> None:
        """Return when PostgreSQL has answered on a connection of the pool; raises Error UNAVAILABLE if it does not."""
        with translated_errors():
            async with asyncio.timeout(_OPEN_SECONDS), self.begin(self._engine) as connection:
                await connection.execute(sa.text("SELECT 1"))

    def record_session(self, *, is_late: bool) -> None:
        """Begin transactions again. If the session is late, the connections from before may be dead, and end."""
        if is_late:
            self._end_all()
        self.record_answer(self._clock())

    def record_answer(self, asked_at: float) -> None:
        """Note that PostgreSQL has answered what it was asked at this time of the clock.

        If it was lost, it is within reach again: the answer was late, but the session that waited for it has not ended.
        """
        if self._is_lost:
            log.info("database_found")
            self._is_lost = False
        self.stop()
        self._set_alarm(asked_at + LOST_SECONDS)

    def stop(self) -> None:
        """Expect no more answers."""
        if self._alarm:
            self._alarm.cancel()
            self._alarm = None

    @contextmanager
    def ending(self, timeout: asyncio.Timeout) -> Iterator[None]:
        """Let a timeout expire at once when PostgreSQL is lost, or is lost already."""
        if self._is_lost:
            timeout.reschedule(0)
        self._timeouts.add(timeout)
        try:
            yield
        finally:
            self._timeouts.discard(timeout)

    def _set_alarm(self, due: float) -> None:
        loop = asyncio.get_running_loop()
        self._alarm = loop.call_at(loop.time() + due - self._clock(), self._ring, due)

    def _ring(self, due: float) -> None:
        if self._clock() - due > _LATE_SECONDS:  # this process did not run itself, and may get its answer now
            self._set_alarm(self._clock() + _LATE_SECONDS)
            return
        log.warning("database_lost", seconds_without_answer=LOST_SECONDS)
        self._is_lost = True
        self._end_all()
        for timeout in self._timeouts:
            if not timeout.expired():
                timeout.reschedule(0)

    def _end_all(self) -> None:
        """End all connections, and with them what waits for an answer."""
        for connection in tuple(self._open):
            connection.terminate()
