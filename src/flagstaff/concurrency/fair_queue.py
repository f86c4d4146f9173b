"""A queue for what is shared: some requests run at a time, the most urgent first, and clients of a class take turns."""

import asyncio
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Hashable, Sequence
from contextlib import asynccontextmanager

from flagstaff.concurrency.claims import Priority
from flagstaff.values.errors import Code, Error, unavailable

IN_A_ROW = 8
"""So many turns a class gets before one of a class below that waits all the while."""
_Turn = asyncio.Future[None]
_Queue = OrderedDict[Hashable, deque[_Turn]]  # the client whose turn is next is first
_RETRY_AFTER_SECONDS = 5


class FairQueue:
    """Grants turns to the most urgent class, and to its clients in round-robin order. For one event loop: no lock."""

    def __init__(
        self,
        *,
        at_once: int,
        waiting: int,
        waiting_of_one: int,
        too_many: str,
        too_many_of_one: str,
        kept: Sequence[int] = (0, 0, 0),
    ) -> None:
        """At most `at_once` run; at most `waiting` in all, and `waiting_of_one` per client, wait for their turn.

        `kept` is, for each class, how many of the turns neither it nor the classes below ever get. The texts are the
        messages of the refusals.
        """
        self._too_many, self._too_many_of_one = too_many, too_many_of_one
        self._most = [at_once - each for each in kept]
        self._bound = waiting
        self._bound_of_one = waiting_of_one
        self._queues: list[_Queue] = [OrderedDict() for _ in Priority]
        self._waiting = [0 for _ in Priority]
        self._running = [0 for _ in Priority]
        self._in_a_row = [0 for _ in Priority]  # turns that each class had since one below, which waits, has had one

    @property
    def waiting(self) -> dict[str, int]:
        """How many requests of each class wait, by its name."""
        return {each.name.lower(): self._waiting[each] for each in Priority}

    @property
    def running(self) -> Sequence[int]:
        """How many of each class have a turn."""
        return self._running

    @asynccontextmanager
    async def take(self, client: Hashable, priority: Priority = Priority.SHORT) -> AsyncIterator[None]:
        """Wait for a turn, and keep it until the context ends.

        Raises:
            Error: LIMITED when too many requests of this client wait; UNAVAILABLE when too many wait in all, which
                affects the least urgent class first, and in it the clients with the most waiting.
        """
        if self._has_room(priority):  # then nobody of this class, or of a more urgent one, waits
            self._running[priority] += 1
        else:
            await self._wait(client, priority)
        try:
            yield
        finally:
            self._release(priority)

    def _has_room(self, priority: Priority) -> bool:
        """Return whether a further turn of a class leaves what is kept for those above."""
        return all(sum(self._running[each:]) < self._most[each] for each in Priority if each <= priority)

    async def _wait(self, client: Hashable, priority: Priority) -> None:
        if len(self._queues[priority].get(client, ())) >= self._bound_of_one:
            raise Error(Code.LIMITED, self._too_many_of_one, retry_after_seconds=_RETRY_AFTER_SECONDS)
        if sum(self._waiting) >= self._bound:
            self._make_room(client, priority)
        turn: _Turn = asyncio.get_running_loop().create_future()
        queue = self._queues[priority]
        queue.setdefault(client, deque()).append(turn)
        self._waiting[priority] += 1
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._release(priority)  # this request has just been given its turn
            elif turn in queue.get(client, ()):
                self._remove(priority, client, turn)
            raise

    def _make_room(self, client: Hashable, priority: Priority) -> None:
        """Refuse the latest request of the client with the most waiting in the least urgent class that has any.

        The new request is refused if that class is above its own, or if no client of its own class has more.
        """
        lowest = max(each for each in Priority if self._queues[each])
        queue = self._queues[lowest]
        greediest = max(queue, key=lambda each: len(queue[each]))
        has_more = lowest == priority and len(queue[greediest]) > len(queue.get(client, ())) + 1
        if not (lowest > priority or has_more):
            raise unavailable(self._too_many)
        turn = queue[greediest][-1]
        self._remove(lowest, greediest, turn)
        if not turn.done():  # its client may have left, and its task not have run since
            turn.set_exception(unavailable(self._too_many))

    def _release(self, priority: Priority) -> None:
        self._running[priority] -= 1
        self._grant()

    def _grant(self) -> None:
        """Give the turns that are free to those who wait. A client that gets one goes to the end of its class."""
        while waiting := [each for each in Priority if self._queues[each] and self._has_room(each)]:
            priority = self._choose(waiting)
            queue = self._queues[priority]
            client, turns = next(iter(queue.items()))
            turn = turns[0]
            self._remove(priority, client, turn)
            if client in queue:
                queue.move_to_end(client)
            if turn.done():  # its client has left, and its task has not run since
                continue
            self._running[priority] += 1
            self._in_a_row[priority] = self._in_a_row[priority] + 1 if priority < waiting[-1] else 0
            self._in_a_row[:priority] = [0] * priority
            turn.set_result(None)

    def _choose(self, waiting: Sequence[Priority]) -> Priority:
        """The class that gets a turn: the most urgent one, unless it has had enough before one of those below."""
        for each in waiting[:-1]:
            if self._in_a_row[each] < IN_A_ROW:
                return each
        return waiting[-1]

    def _remove(self, priority: Priority, client: Hashable, turn: _Turn) -> None:
        queue = self._queues[priority]
        queue[client].remove(turn)
        self._waiting[priority] -= 1
        if not queue[client]:
            del queue[client]
