"""A caller for each worker of a server. The ids that workers give to requests identify them."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.support.processes import children_of
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess

_SECONDS = 30


def worker_pids(server: ServerProcess) -> set[int]:
    """Return the processes that the server's parent has started and not reaped yet."""
    return set(children_of(server.pid))


def is_running(pid: int) -> bool:
    """Return whether there is such a process, which may be a zombie that its parent has not reaped."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    # The first thread is a zombie as soon as it has ended. Other threads may still hold the process's sockets.
    return state != "Z" or _threads(pid) > 1


def _threads(pid: int) -> int:
    try:
        return sum(1 for _ in Path(f"/proc/{pid}/task").iterdir())
    except (FileNotFoundError, ProcessLookupError):
        return 0


@asynccontextmanager
async def a_caller_of_each(server: ServerProcess, count: int, *, token: str = "") -> AsyncIterator[list[RemoteCaller]]:
    """Open callers whose connections stay open, each to another worker."""
    found: dict[str, RemoteCaller] = {}
    async with AsyncExitStack() as opened, asyncio.timeout(_SECONDS):
        while len(found) < count:
            caller = RemoteCaller(server.url)
            answer = await caller.get("/health")
            worker = answer.headers["x-request-id"].partition("-")[0]
            if worker in found:
                await caller.aclose()
                continue
            found[worker] = caller
            opened.push_async_callback(caller.aclose)
            if token:
                caller.headers["authorization"] = token
        yield list(found.values())
