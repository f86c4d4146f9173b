"""A connection that listens on PostgreSQL's NOTIFY channel and sends on it. Other modules interpret the messages."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.errors import unavailable
from flagstaff.storage import dialect

_CHANNEL = "flagstaff"
_PING_SECONDS = 5.0


async def notify_at_commit(connection: AsyncConnection, message: str) -> None:
    """Send a message when the connection's transaction commits; with SQLite, do nothing."""
    await dialect.notify(connection, _CHANNEL, message)


class Notifications:
    """One session that listens. PostgreSQL delivers messages to it in the order in which they were committed."""

    def __init__(self, url: str, session_name: str) -> None:
        """Opens nothing yet. `session_name` is the session's name in `pg_stat_activity`."""
        self._url = url
        self._session_name = session_name
        self._connection: asyncpg.Connection | None = None
        self._statement = asyncio.Lock()  # a connection runs one statement at a time
        self.connected = asyncio.Event()

    async def listen(self, *, catch_up: Callable[[], Awaitable[None]], receive: Callable[[str], None]) -> None:
        """Pass each message to `receive`, one after the other, until the connection is lost.

        `catch_up` is awaited once connected, before the first message, to make up for missed messages.

        Raises:
            Error: UNAVAILABLE when the server cannot be reached or the connection is lost.
        """
        try:
            connection = await dialect.postgresql_connection(self._url)
            try:
                await self._listen(connection, catch_up, receive)
            finally:
                self.connected.clear()
                self._connection = None
                connection.terminate()
        except dialect.RAW_ERRORS as error:
            raise unavailable(f"No connection to PostgreSQL for notifications: {type(error).__name__}.") from error

    async def send(self, message: str) -> None:
        """Send a message at once; raises what the driver raises, or Error UNAVAILABLE without a connection."""
        await self.fetch("SELECT pg_notify($1, $2)", _CHANNEL, message)

    async def fetch(self, query: str, *parameters: object) -> list[Any]:
        """Run a query on the session; raises what the driver raises, or Error UNAVAILABLE without a connection."""
        async with self._statement:
            if self._connection is None:
                raise unavailable("There is no connection to PostgreSQL for notifications.")
            rows: list[Any] = await self._connection.fetch(query, *parameters)
            return rows

    async def _listen(
        self, connection: asyncpg.Connection, catch_up: Callable[[], Awaitable[None]], receive: Callable[[str], None]
    ) -> None:
        messages: asyncio.Queue[str | None] = asyncio.Queue()
        connection.add_termination_listener(lambda _: messages.put_nowait(None))
        await connection.add_listener(_CHANNEL, lambda *arguments: messages.put_nowait(str(arguments[-1])))
        await connection.execute("SELECT set_config('application_name', $1, false)", self._session_name)
        await catch_up()
        self._connection = connection
        self.connected.set()
        while True:
            try:
                async with asyncio.timeout(_PING_SECONDS):
                    message = await messages.get()
            except TimeoutError:
                async with asyncio.timeout(_PING_SECONDS):  # a hanging connection counts as lost
                    await self.fetch("SELECT 1")
                continue
            if message is None:
                raise unavailable("The connection to PostgreSQL for notifications was lost.")
            receive(message)
