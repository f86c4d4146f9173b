"""Turns of several workers at one SQLite file: one begins a write that is no kill only when no other's kill waits.

SQLite's own lock knows no order: a worker that writes without end takes it again and again before another one sees it
free. So each worker locks files beside it as well (flock), which the kernel unlocks when a process ends for any reason:
the folder `commits/` together with others while its kills wait or write, and the file in it, alone, while it writes
anything else. Without these locks, as before the folder exists, writes are in no order, and as safe.
"""

import asyncio
import fcntl
import os
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from time import monotonic

from flagstaff.concurrency.claims import Priority, current_claim
from flagstaff.database.sqlite.commit_numbers import FOLDER
from flagstaff.database.turns import BUSY, WAIT_SECONDS, Turns
from flagstaff.values.errors import unavailable

GIVES_WAY_SECONDS = 0.25
"""For so long a write whose turn has come gives way to the kills of other workers, so that none starves."""
_PAUSE_SECONDS = 0.0005, 0.0015
_ATTEMPTS = 5  # at a lock that is free but for the moment in which another worker looks whether it is


class WorkerTurns(Turns):
    """The turns at a file's one writer, in this process and among the workers."""

    def __init__(self, path: Path) -> None:
        """Opens nothing yet: a lock belongs to the process that has opened its file."""
        super().__init__(1)
        self._locks = _Locks(path.parent / FOLDER, path.name)

    def close(self) -> None:
        """Give up all locks."""
        self._locks.close()

    @asynccontextmanager
    async def take(self) -> AsyncIterator[None]:
        """Wait for a turn, and keep it until the context ends; raises Error UNAVAILABLE if none comes in time."""
        if current_claim().priority is Priority.KILL:
            try:
                await self._locks.announce_kill()
                async with super().take():
                    yield
            finally:
                self._locks.end_kill()
            return
        began_at: float | None = None
        while True:
            async with super().take():
                began_at = began_at or monotonic()
                if await self._lock(began_at):
                    try:
                        yield
                    finally:
                        self._locks.end_write()
                    return

    async def _lock(self, began_at: float) -> bool:
        """Wait until no other worker writes, and for a while for kills; False if one of this process has come."""
        gives_way = monotonic() < began_at + GIVES_WAY_SECONDS
        while not self._locks.begin_write(gives_way=gives_way):
            if monotonic() >= began_at + WAIT_SECONDS:
                raise unavailable(BUSY)
            await asyncio.sleep(random.uniform(*_PAUSE_SECONDS))  # noqa: S311 - no secret
            gives_way = monotonic() < began_at + GIVES_WAY_SECONDS
            if gives_way and self.waiting["kill"]:
                return False
        return True


class _Locks:
    """The two locks of one process."""

    def __init__(self, folder: Path, name: str) -> None:
        self._paths = folder, folder / name
        self._descriptors: tuple[int, int] | None = None
        self._kills = 0

    async def announce_kill(self) -> None:
        """Let other workers know that a kill of this one waits, until `end_kill`."""
        self._kills += 1
        for _ in range(_ATTEMPTS):
            if self._kills > 1 or self._try(0, fcntl.LOCK_SH):
                return
            await asyncio.sleep(random.uniform(*_PAUSE_SECONDS))  # noqa: S311 - no secret

    def end_kill(self) -> None:
        """Note that a kill has ended."""
        self._kills -= 1
        if not self._kills:
            self._unlock(0)

    def begin_write(self, *, gives_way: bool) -> bool:
        """Begin another write if no worker has begun one, and none but this one has a kill, if it gives way to these.

        A kill of this process needs no lock: its own turns are in order.
        """
        if gives_way and not self._kills:
            if not self._try(0, fcntl.LOCK_EX):
                return False
            self._unlock(0)
        return self._try(1, fcntl.LOCK_EX)

    def end_write(self) -> None:
        """Note that the write has ended."""
        self._unlock(1)

    def close(self) -> None:
        """Close the files."""
        for each in self._descriptors or ():
            os.close(each)
        self._descriptors = None

    def _try(self, place: int, kind: int) -> bool:
        """Lock one of the two without waiting; return False if another process keeps this from it."""
        if not self._descriptors:
            self._descriptors = _open(*self._paths)
        try:
            if self._descriptors:
                fcntl.flock(self._descriptors[place], kind | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system that has no such locks
            return True
        return True

    def _unlock(self, place: int) -> None:
        if self._descriptors:
            with suppress(OSError):
                fcntl.flock(self._descriptors[place], fcntl.LOCK_UN)


def _open(folder: Path, file: Path) -> tuple[int, int] | None:
    """Open the folder and the file; None before there are both."""
    opened: list[int] = []
    try:
        opened.extend(os.open(each, os.O_RDONLY | os.O_CLOEXEC) for each in (folder, file))  # up to the first failure
    except OSError:
        for descriptor in opened:
            os.close(descriptor)
        return None
    return opened[0], opened[1]
