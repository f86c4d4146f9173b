"""Turns on the event loop: when many requests come at once, clients take turns, however many each has sent.

One pass of the loop calls everything that is ready. Without turns, the first steps of hundreds of requests would be
one pass, for which all others wait. Here, a pass has room for two milliseconds. What finds no room waits in the queue
of its client, and each further pass calls one piece of work from the queues, or short ones for a millisecond.
"""

import asyncio
from asyncio import AbstractEventLoop, Future
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from enum import IntEnum
from time import perf_counter
from typing import NamedTuple
from weakref import WeakKeyDictionary

PASS_SECONDS = 0.002
"""The time in which a pass of the loop begins requests."""
QUEUES_SECONDS = 0.001
"""The part of it for those that have waited, so that there is room for a client that does not."""
_Waiting = Callable[[], object] | Future[None]


class Rank(IntEnum):
    """The order of clients. A higher rank has a lower number and goes first."""

    CHANGE = 0
    """An account that changes something, such as turning a flag off, and whatever tells of the change."""
    KNOWN = 1
    """An account, or a project with its SDK keys."""
    STRANGER = 2
    """An address without a valid key or token."""


ROTATION = (Rank.CHANGE, Rank.KNOWN, Rank.CHANGE, Rank.STRANGER)
"""The ranks whose turn it is, one after the other, so that each gets on. If none of one waits, the highest goes on."""


class LoopClient(NamedTuple):
    """The client that a piece of work is done for: an account, a project or an address."""

    rank: Rank
    name: Hashable


BACKGROUND = LoopClient(Rank.KNOWN, "background")
"""The client of work that no request has begun."""

_client: ContextVar[LoopClient] = ContextVar("client_of_the_loop", default=BACKGROUND)


@contextmanager
def working_for(client: LoopClient) -> Iterator[None]:
    """Let the work in this context take the turns of a client."""
    token = _client.set(client)
    try:
        yield
    finally:
        _client.reset(token)


class LoopTurns:
    """The turns of one event loop."""

    def __init__(self, clock: Callable[[], float] = perf_counter) -> None:
        self._clock = clock
        self._ends_at: float | None = None  # of the room in this pass; None before its first piece of work
        self._queues: tuple[OrderedDict[LoopClient, deque[_Waiting]], ...] = tuple(OrderedDict() for _ in Rank)
        self._waiting = 0
        self._turn = 0

    def __len__(self) -> int:
        """The pieces of work that wait."""
        return self._waiting

    def is_busy(self) -> bool:
        """Return whether to ask `has_room` before a piece of work, because not every client has it."""
        if self._ends_at is None:
            self._begin(self._clock())
            return self._waiting > 0
        return self._waiting > 0 or self._clock() >= self._ends_at

    def has_room(self, client: LoopClient) -> bool:
        """Return whether a client may do a piece of work now. What waits for it already goes first."""
        if client in self._queues[client.rank]:
            return False
        now = self._clock()
        if self._ends_at is None:
            self._begin(now)
            return True
        return now < self._ends_at

    def call(self, client: LoopClient, work: Callable[[], object]) -> None:
        """Call a short piece of work when it is the client's turn."""
        self._add(client, work)

    async def wait(self, client: LoopClient | None = None) -> None:
        """Return when it is the turn of a client, by default of the one that the work is done for."""
        turn = asyncio.get_running_loop().create_future()
        self._add(client or _client.get(), turn)
        await turn
        self.is_busy()  # begins the pass

    def _add(self, client: LoopClient, waiting: _Waiting) -> None:
        self._waiting += 1
        self._queues[client.rank].setdefault(client, deque()).append(waiting)
        if self._ends_at is None:
            self._begin(self._clock())

    def _begin(self, now: float) -> None:
        self._ends_at = now + PASS_SECONDS
        asyncio.get_running_loop().call_soon(self._end)

    def _end(self) -> None:
        """End a pass, and call what waits. Whatever else is ready is called in between."""
        self._ends_at = None
        if not self._waiting:
            return
        began = self._clock()
        self._begin(began)
        while self._waiting:
            waiting = self._take()
            if isinstance(waiting, Future):
                if waiting.done():
                    continue  # nobody waits for it any more
                waiting.set_result(None)  # the task goes on in the next pass, before this is called again
                return
            waiting()
            if self._clock() - began >= QUEUES_SECONDS:
                return

    def _take(self) -> _Waiting:
        """Take what is next from the queues: by rank, and within a rank from each client in rotation."""
        self._turn = (self._turn + 1) % len(ROTATION)
        queue_of = self._queues[ROTATION[self._turn]] or next(each for each in self._queues if each)
        client, queue = next(iter(queue_of.items()))
        waiting = queue.popleft()
        self._waiting -= 1
        if queue:
            queue_of.move_to_end(client)
        else:
            del queue_of[client]
        return waiting


_turns: WeakKeyDictionary[AbstractEventLoop, LoopTurns] = WeakKeyDictionary()


def loop_turns() -> LoopTurns:
    """The turns of the running event loop."""
    loop = asyncio.get_running_loop()
    turns = _turns.get(loop)
    if turns is None:
        turns = _turns[loop] = LoopTurns()
    return turns
