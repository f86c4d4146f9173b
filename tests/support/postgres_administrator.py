"""A connection to a PostgreSQL server that outlives the event loops of tests."""

import asyncio
from collections.abc import Awaitable, Callable
from threading import Thread
from typing import TypeVar

import asyncpg

Result = TypeVar("Result")

_CLOSE_SECONDS = 10


class Administrator:
    """Does what tests need before and after them, in a thread with its own event loop.

    Two connections for each test took as long as creating and dropping its database.
    """

    def __init__(self, url: str) -> None:
        """Opens no connection yet."""
        self._url = url
        self._loop = asyncio.new_event_loop()
        self._turn = asyncio.Lock()
        self._connection: asyncpg.Connection | None = None
        self._thread = Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    async def do(self, work: Callable[[asyncpg.Connection], Awaitable[Result]]) -> Result:
        """Await work with the connection, which is reopened if the server has stopped meanwhile."""
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._do(work), self._loop))

    async def execute(self, statement: str) -> None:
        """Run a statement."""
        await self.do(lambda connection: connection.execute(statement))

    def close(self) -> None:
        """End the connection and the thread."""
        try:
            asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(_CLOSE_SECONDS)
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _do(self, work: Callable[[asyncpg.Connection], Awaitable[Result]]) -> Result:
        async with self._turn:
            if self._connection is None or self._connection.is_closed():
                self._connection = await asyncpg.connect(self._url)
            return await work(self._connection)

    async def _close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()  # the server may hang or have stopped
            await asyncio.sleep(0)  # the transport closes its socket in this step
