"""A queue for expensive work: a few requests run at a time, and clients take turns however many each has waiting."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager

from flagstaff.values.errors import Code, Error, unavailable

_Turn = asyncio.Future[None]
_RETRY_AFTER_SECONDS = 5


class FairQueue:
    """Grants turns to clients in round-robin order. For one event loop: it takes no lock."""

    def __init__(self, *, at_once: int, waiting: int, waiting_of_one: int, too_many: str, too_many_of_one: str) -> None:
        """At most `at_once` run; at most `waiting` in all, and `waiting_of_one` per client, wait for their turn.

        The texts are the messages of the refusals.
        """
        self._too_many, self._too_many_of_one = too_many, too_many_of_one
        self._free = at_once
        self._bound = waiting
        self._bound_of_one = waiting_of_one
        self._queues: OrderedDict[Hashable, deque[_Turn]] = OrderedDict()  # the client whose turn is next is first
        self._waiting = 0

    @asynccontextmanager
    async def take(self, client: Hashable) -> AsyncIterator[None]:
        """Wait for a turn, and keep it until the context ends.

        Raises:
            Error: LIMITED when too many requests of this client wait; UNAVAILABLE when too many wait in all, which
                affects the clients with the most waiting first.
        """
        if self._free:
            self._free -= 1
        else:
            await self._wait(client)
        try:
            yield
        finally:
            self._pass_on()

    async def _wait(self, client: Hashable) -> None:
        if len(self._queues.get(client, ())) >= self._bound_of_one:
            raise Error(Code.LIMITED, self._too_many_of_one, retry_after_seconds=_RETRY_AFTER_SECONDS)
        if self._waiting >= self._bound:
            self._make_room(client)
        turn: _Turn = asyncio.get_running_loop().create_future()
        self._queues.setdefault(client, deque()).append(turn)
        self._waiting += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._pass_on()  # this request has just been given its turn
            elif client in self._queues and turn in self._queues[client]:
                self._remove(client, turn)
            raise

    def _make_room(self, client: Hashable) -> None:
        """Refuse the latest request of the client with the most waiting; the new request if no client has more."""
        greediest = max(self._queues, key=lambda each: len(self._queues[each]))
        if len(self._queues[greediest]) <= len(self._queues.get(client, ())) + 1:
            raise unavailable(self._too_many)
        turn = self._queues[greediest][-1]
        self._remove(greediest, turn)
        if not turn.done():  # its client may have left, and its task not have run since
            turn.set_exception(unavailable(self._too_many))

    def _pass_on(self) -> None:
        """Give the turn that has ended to the next client, which then goes to the end of the queue."""
        while self._queues:
            client, queue = next(iter(self._queues.items()))
            turn = queue[0]
            self._remove(client, turn)
            if client in self._queues:
                self._queues.move_to_end(client)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

    def _remove(self, client: Hashable, turn: _Turn) -> None:
        queue = self._queues[client]
        queue.remove(turn)
        self._waiting -= 1
        if not queue:
            del self._queues[client]
