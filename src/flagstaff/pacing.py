"""Long work on the event loop, done in pieces of a millisecond so that evaluations are answered in between.

Pieces take turns: however many requests run at the same time, the loop checks the network after each piece.
"""

import asyncio
from asyncio import AbstractEventLoop, Lock
from collections.abc import Generator, Iterable
from time import perf_counter
from typing import TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")

PIECE_SECONDS = 0.001

_turns: WeakKeyDictionary[AbstractEventLoop, Lock] = WeakKeyDictionary()


async def pause() -> None:
    """Return when it is the caller's turn to do another piece of work."""
    loop = asyncio.get_running_loop()
    turn = _turns.get(loop)
    if turn is None:
        turn = _turns[loop] = Lock()
    async with turn:
        await asyncio.sleep(0)


async def in_pieces(work: Generator[None, None, T]) -> T:
    """Run a generator to its end and return its value. It yields where it may be interrupted."""
    while True:
        until = perf_counter() + PIECE_SECONDS
        while perf_counter() < until:
            try:
                next(work)
            except StopIteration as end:
                value: T = end.value
                return value
        await pause()


def finish(work: Generator[None, None, T]) -> T:
    """Run a generator to its end at once, where nothing else waits, and return its value."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            value: T = end.value
            return value


async def collect(items: Iterable[T]) -> list[T]:
    """The items as a list. Each must take less than a piece of work to make."""
    collected: list[T] = []

    def work() -> Generator[None]:
        for item in items:
            collected.append(item)
            yield

    await in_pieces(work())
    return collected


class Turns:
    """Turns for work that cannot be a generator because it awaits in between."""

    def __init__(self) -> None:
        self._ends_at = perf_counter() + PIECE_SECONDS

    def is_over(self) -> bool:
        """Whether the current piece has used up its time."""
        return perf_counter() >= self._ends_at

    async def give(self) -> None:
        """Pause if the current piece has used up its time. Call this between small steps; most calls return at once."""
        if self.is_over():
            await pause()
            self._ends_at = perf_counter() + PIECE_SECONDS
