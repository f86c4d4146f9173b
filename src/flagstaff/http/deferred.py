"""An application that is made after the start, so that others answer before it."""

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.values.errors import unavailable


class Deferred:
    """In front of an application that takes long to make. Requests wait until it is made."""

    def __init__(self, make: Callable[[], ASGIApp]) -> None:
        """`make` is called once, in a thread."""
        self._make = make
        self._making: asyncio.Future[ASGIApp] | None = None
        self._app: ASGIApp | None = None

    async def load(self) -> ASGIApp:
        """Make the application, unless it is made; raises what `make` raised."""
        if self._app is None:
            if self._making is None:
                self._making = asyncio.get_running_loop().run_in_executor(None, self._make)
            self._app = await asyncio.shield(self._making)  # a request that is given up does not end it
        return self._app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            app = self._app or await self.load()
        except Exception as error:  # whoever loads it reports it once, instead of each request
            raise unavailable("The management API cannot be loaded. The server's log says why.") from error
        await app(scope, receive, send)
