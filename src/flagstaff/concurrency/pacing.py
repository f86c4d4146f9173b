"""Work on the event loop itself, in pieces of a millisecond so that evaluations are answered in between.

It awaits, or touches what the loop uses, such as streams; long work that does neither is for the thread of worker.py.

Pieces take turns, by the clients they are for (loop_turns.py): however many requests run at the same time, the loop
checks the network after each piece.
"""

import asyncio
import gc
from asyncio import Lock
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from time import perf_counter
from typing import TypeVar

from flagstaff.concurrency.loop_turns import loop_turns
from flagstaff.values.errors import unavailable

T = TypeVar("T")

PIECE_SECONDS = 0.001
# The collector of garbage counts allocations less what is freed. Work that frees rows while it makes flags of them
# would leave all flags to one pass, of tens of milliseconds. So each pause has a pass over what a piece has made.
_YOUNG = 1

_is_abandoned: ContextVar[Callable[[], bool] | None] = ContextVar("is_abandoned", default=None)


class AbandonedError(BaseException):
    """Raised by a pause when nobody waits for the work any more. Only whoever began the work handles it."""


@contextmanager
def until(is_abandoned: Callable[[], bool]) -> Iterator[None]:
    """End the work in this context at its next pause once nobody waits for it, and never within a statement."""
    token = _is_abandoned.set(is_abandoned)
    try:
        yield
    except AbandonedError:
        return
    finally:
        _is_abandoned.reset(token)


def end_if_abandoned() -> None:
    """Raise AbandonedError in a context of `until`, when nobody waits for the work any more."""
    is_abandoned = _is_abandoned.get()
    if is_abandoned is not None and is_abandoned():
        raise AbandonedError


async def pause() -> None:
    """Return when it is the turn of the caller's client to do another piece of work.

    Raises:
        AbandonedError: in a context of `until`, when nobody waits for the work any more.
    """
    end_if_abandoned()
    await loop_turns().wait()
    if gc.isenabled():
        gc.collect(_YOUNG)


async def collect(items: Iterable[T]) -> list[T]:
    """The items as a list. Each must take less than a piece of work to make."""
    return [item async for item in paced(items)]


async def paced(items: Iterable[T]) -> AsyncIterator[T]:
    """The items one by one, with a pause whenever a piece of work has used up its time."""
    turns = Turns()
    for item in items:
        yield item
        await turns.give()


class Turns:
    """Turns of work that awaits in between."""

    def __init__(self) -> None:
        self._ends_at = perf_counter() + PIECE_SECONDS

    def is_over(self) -> bool:
        """Return whether the current piece has used up its time."""
        return perf_counter() >= self._ends_at

    async def give(self) -> None:
        """Pause if the current piece has used up its time. Call this often; most calls return at once."""
        if self.is_over():
            await pause()
            self._ends_at = perf_counter() + PIECE_SECONDS


class Share:
    """Work that takes at most half of the event loop's time, one piece after another, however much of it there is."""

    def __init__(self, waiting_max: int, clock: Callable[[], float] = perf_counter) -> None:
        """At most `waiting_max` pieces wait for their turn."""
        self._waiting_max = waiting_max
        self._clock = clock
        self._waiting = 0
        self._turn = Lock()
        self._free_at = 0.0

    def has_room(self) -> bool:
        """Return whether a short piece may be done at once, without waiting for a turn."""
        return not self._turn.locked() and self._free_at <= self._clock() + PIECE_SECONDS

    @contextmanager
    def at_once(self) -> Iterator[None]:
        """Do a short piece, when there is room. It counts like those that wait for a turn."""
        began = self._clock()
        try:
            yield
        finally:
            ended = self._clock()
            self._free_at = max(self._free_at, ended) + (ended - began)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn. After it, nobody gets one for as long as it took.

        Raises:
            Error: UNAVAILABLE when too many wait.
        """
        if self._waiting >= self._waiting_max:
            raise unavailable("Too many of these requests wait. Send this one again shortly.")
        self._waiting += 1
        try:
            await self._turn.acquire()
        finally:
            self._waiting -= 1
        try:
            await asyncio.sleep(max(0.0, self._free_at - self._clock()))
            began = self._clock()
            try:
                yield
            finally:
                ended = self._clock()
                self._free_at = ended + (ended - began)
        finally:
            self._turn.release()
