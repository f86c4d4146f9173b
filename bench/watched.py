"""`flagstaff serve` that measures how long its event loop is held, into the file that BENCH_HOLDS names.

While the file asks for it, every turn of the loop is timed: in processor time of its thread, which other processes do
not affect, and by the clock, which also counts waiting for threads that use the interpreter.
"""

import asyncio
import gc
import mmap
import os
import time
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import uvloop

from flagstaff.cli.main import main

PLACES = 8
WATCHED, HELD, HELD_BY_CLOCK, COLLECTED, TURNS = range(5)
"""The numbers in the file: whether to watch, the longest holds and collection of garbage, all in seconds, and turns."""
_LOOK_SECONDS = 0.02


class Watch:
    """Watches the loop that it is started on."""

    def __init__(self, path: Path) -> None:
        with path.open("r+b") as file:
            self._numbers = memoryview(mmap.mmap(file.fileno(), 8 * PLACES)).cast("d")
        self._before = (0.0, 0.0)
        self._collecting_since = 0.0

    def start(self) -> None:
        """Begin to look whether to watch."""
        self._loop = asyncio.get_running_loop()
        gc.callbacks.append(self._time_collection)
        self._look()

    def _look(self) -> None:
        if self._numbers[WATCHED]:
            self._before = time.thread_time(), time.perf_counter()
            self._loop.call_soon(self._turn)
        else:
            self._loop.call_later(_LOOK_SECONDS, self._look)

    def _turn(self) -> None:
        now = time.thread_time(), time.perf_counter()
        for place, last, this in zip((HELD, HELD_BY_CLOCK), self._before, now, strict=True):
            self._numbers[place] = max(self._numbers[place], this - last)
        self._before = now
        self._numbers[TURNS] += 1
        self._loop.call_soon(self._turn if self._numbers[WATCHED] else self._look)

    def _time_collection(self, phase: str, _: object) -> None:
        now = time.thread_time()
        if phase == "start":
            self._collecting_since = now
        else:
            self._numbers[COLLECTED] = max(self._numbers[COLLECTED], now - self._collecting_since)


def _watch_loops() -> None:
    run = uvloop.run

    def run_watched(work: Coroutine[Any, Any, Any]) -> Any:
        async def work_watched() -> Any:
            Watch(Path(os.environ["BENCH_HOLDS"])).start()
            return await work

        return run(work_watched())

    uvloop.run = run_watched  # type: ignore[assignment]


if __name__ == "__main__":
    _watch_loops()
    main()
