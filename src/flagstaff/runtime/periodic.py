"""Runs a piece of work every so many seconds, and stops cleanly. One failed run never ends the next ones."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from flagstaff.domain.errors import Error

log = structlog.get_logger(__name__)


class Periodic:
    """Awaits `run` every `every_seconds`, counted from the end of one run to the start of the next."""

    def __init__(self, name: str, every_seconds: float, run: Callable[[], Awaitable[object]]) -> None:
        self._name = name
        self._every_seconds = every_seconds
        self._run = run
        self._stopping = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin; the first run is one period away."""
        assert self._task is None, "started already"
        self._stopping.clear()
        self._task = asyncio.create_task(self._loop(), name=self._name)

    async def stop(self, deadline_seconds: float = 5) -> None:
        """Begin no further run, wait for the one under way, and cancel it at the deadline."""
        task, self._task = self._task, None
        if task is None:
            return
        self._stopping.set()
        try:
            _, late = await asyncio.wait([task], timeout=deadline_seconds)
        finally:
            task.cancel()  # also when the stop itself is cancelled
        if late:
            log.warning("periodic_run_cancelled", work=self._name)
            await asyncio.wait([task])

    async def _loop(self) -> None:
        while not await self._is_stopping_within_a_period():
            try:
                await self._run()
            except Error as error:  # foreseen, such as an outage, which would fill the log with tracebacks
                log.warning("periodic_run_failed", work=self._name, reason=error.message)
            except Exception:  # the edge of a background loop: nothing stands above it
                log.exception("periodic_run_failed", work=self._name)

    async def _is_stopping_within_a_period(self) -> bool:
        try:
            async with asyncio.timeout(self._every_seconds):
                return await self._stopping.wait()
        except TimeoutError:
            return False
