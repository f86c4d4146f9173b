"""Resolves the names of receivers in threads of its own.

The library's executor is shared by everything that must not wait, such as writes to disk, and a name server that never
answers would fill it. Threads of a pool would also delay the end of the process; these do not.
"""

import asyncio
import socket
import threading
from collections.abc import Callable
from contextlib import suppress

THREADS_MAX = 32
"""The number of names that are resolved at once, including those that nobody waits for any more."""


class Resolver:
    """Resolves names. `look_up` is what asks the system."""

    def __init__(self, look_up: Callable[[str, int], list[str]] | None = None) -> None:
        """By default, addresses are those that the system's resolver returns, in its order."""
        self._look_up = look_up or _ask_system
        self._free = asyncio.Semaphore(THREADS_MAX)

    async def resolve(self, host: str, port: int) -> list[str]:
        """The addresses of a host, each once. While too many names are being resolved, it waits.

        Raises:
            OSError: the host has no address.
        """
        await self._free.acquire()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[list[str]] = loop.create_future()

        def tell(addresses: list[str], error: OSError | None) -> None:
            self._free.release()
            if found.done():  # nobody waits any more
                return
            if error is not None:
                found.set_exception(error)
            else:
                found.set_result(addresses)

        def work() -> None:
            addresses: list[str] = []
            failure: OSError | None = None
            try:
                addresses = self._look_up(host, port)
            except OSError as error:
                failure = error
            except UnicodeError:
                failure = OSError("It is not the name of a host.")
            with suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(tell, addresses, failure)

        try:
            threading.Thread(target=work, name="webhook-name", daemon=True).start()
        except RuntimeError as error:  # the system has no thread to give
            self._free.release()
            raise OSError(str(error)) from error
        return list(dict.fromkeys(await found))


def _ask_system(host: str, port: int) -> list[str]:
    return [str(each[4][0]) for each in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
