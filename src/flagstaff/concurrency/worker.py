"""Threads for work that takes longer than some milliseconds, so that the event loop answers evaluations meanwhile.

A thread gets input that nobody changes and returns a result. It touches nothing that the event loop uses. Callers take
turns, so input that can be large is given in parts. What changes, evaluations and guards wait for has threads of its
own, because everybody's turns at the others would delay a kill.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import perf_counter
from typing import Any, ParamSpec, TypeVar

from flagstaff.concurrency.pacing import end_if_abandoned

P = ParamSpec("P")
T = TypeVar("T")

TURN_SECONDS = 0.01


class Worker:
    """A thread that runs one function after another, in the order in which they come."""

    def __init__(self, name: str) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function in the thread and return its result.

        If the caller is cancelled before the function has begun, it is not run; afterwards, its result is dropped.

        Raises:
            AbandonedError: in a context of `until`, when nobody waits for the work any more.
        """
        end_if_abandoned()
        return await asyncio.get_running_loop().run_in_executor(self._thread, partial(work, *args, **kwargs))


_reads, _writes, _changes = Worker("reads"), Worker("writes"), Worker("changes")

in_worker = _reads.run
in_write_worker = _writes.run
"""For work inside of a transaction that writes, which others wait for."""
in_change_worker = _changes.run
"""For what a change, an evaluation or a guard waits for, such as compiling the flags that a change has altered."""

Run = Callable[..., Awaitable[Any]]
"""One of these, where a caller chooses."""


async def exhaust(run: Run, steps: Iterator[object]) -> None:
    """Take all steps of an iterator in one of the threads, in turns of ten milliseconds."""
    while not await run(_advance, steps):
        pass


def _advance(steps: Iterator[object]) -> bool:
    """Take steps for a turn; return whether there are no more."""
    ends_at = perf_counter() + TURN_SECONDS
    return all(perf_counter() < ends_at for _ in steps)


async def joined_in_worker(pieces: Iterable[bytes], most: int) -> AsyncIterator[bytes]:
    """Make pieces in the thread and join them, in turns of ten milliseconds that also end with so many bytes."""
    left, is_last = iter(pieces), False
    while not is_last:
        joined, is_last = await in_worker(join_some, left, most)
        yield joined


def join_some(pieces: Iterator[bytes], most: int) -> tuple[bytes, bool]:
    """The next pieces, of ten milliseconds or so many bytes, and whether these are the last."""
    joined, ends_at = bytearray(), perf_counter() + TURN_SECONDS
    for piece in pieces:
        joined += piece
        if len(joined) >= most or perf_counter() >= ends_at:
            return bytes(joined), False
    return bytes(joined), True
