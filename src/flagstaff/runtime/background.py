"""Work that goes on after its request was answered, such as a mail; a stop waits for it."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import structlog

log = structlog.get_logger(__name__)


class Background:
    """Runs coroutines side by side; their failures are logged, for nobody is left to be told."""

    def __init__(self) -> None:
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        """Begin a piece of work; `name` says in the log what it was."""
        task = asyncio.create_task(self._run(name, work), name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def drain(self, deadline_seconds: float) -> None:
        """Wait for what is under way; what is not done by the deadline is ended."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=deadline_seconds)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _run(self, name: str, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception:
            log.exception("background_work_failed", work=name)
