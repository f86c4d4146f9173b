"""Measures how long something blocks the event loop, in processor time, which other processes do not affect."""

import asyncio
import gc
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp, Message


@dataclass
class Holds:
    """The longest times between two polls of the network, in seconds, and the number of polls."""

    longest: float = 0
    second: float = 0
    looks: int = 0
    unit: float = 0
    """The time that a millisecond's work of an idle machine takes now, on this machine."""

    @property
    def longest_in_units(self) -> float:
        """The second longest time, or half of the longest one, as a multiple of the unit.

        A machine that is virtual takes some milliseconds from a thread now and then, which count as the thread's own.
        """
        return max(self.second, self.longest / 2) / self.unit


@asynccontextmanager
async def watch_holds(pause_seconds: float = 0) -> AsyncIterator[Holds]:
    """Watch the loop without garbage collection, which would scan all of the tests' modules.

    With a pause between two looks, the threads of a database get the interpreter more often.
    """
    holds = Holds()
    gc.collect()
    gc.disable()
    units = [_time_unit() for _ in range(5)]

    async def watch() -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(pause_seconds)
            now = time.thread_time()
            *_, holds.second, holds.longest = sorted((holds.second, holds.longest, now - before))
            holds.looks += 1
            before = now

    watching = asyncio.create_task(watch())
    await asyncio.sleep(0)
    try:
        yield holds
    finally:
        await asyncio.sleep(0)
        watching.cancel()
        await asyncio.wait([watching])
        units += [_time_unit() for _ in range(5)]  # nobody watches this any more
        holds.unit = sorted(units)[len(units) // 2]
        gc.enable()


def _time_unit() -> float:
    began = time.thread_time()
    assert {str(number): [number] for number in range(5000)}
    return time.thread_time() - began


async def ask(
    asgi: ASGIApp,
    method: str,
    path: str,
    *,
    token: str = "",
    query: str = "",
    content: bytes = b"",
    linger: Callable[[], Awaitable[object]] | None = None,
) -> tuple[int, int]:
    """Ask an application without a client, whose own work would count; return the status and the answer's length.

    `linger` is awaited before each part of the answer is taken, as by a client that reads slowly.
    """
    status = length = 0
    headers = [(b"authorization", f"Bearer {token}".encode()), (b"content-type", b"application/json")]
    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "scheme": "http",
        "headers": headers if token else headers[1:],
        "client": ("192.0.2.1", 50_000),
        "server": ("flagstaff.test", 80),
    }

    messages: list[Message] = [{"type": "http.request", "body": content}]

    async def receive() -> Message:
        if not messages:
            await asyncio.Event().wait()  # the client stays connected until it has its answer
        return messages.pop()

    async def send(message: Message) -> None:
        nonlocal status, length
        if linger is not None:
            await linger()
        status = message.get("status", status)
        length += len(message.get("body", b""))

    await asgi(scope, receive, send)
    return status, length
