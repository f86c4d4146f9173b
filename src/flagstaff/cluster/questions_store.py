"""Questions that this instance asks the others after its writes: whether they serve what was committed.

All writes that wait share their questions. A round is one reading of the leases and one statement that asks, and only
one round runs at a time. A write that comes meanwhile is in the next round, so everything that a round reads and sends
is later than the commits that it is about. The number of statements does not grow with the number of writes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any, NamedTuple
from uuid import UUID

from flagstaff.cluster import messages
from flagstaff.database import dialect
from flagstaff.values.errors import Error, unavailable

ASK_AGAIN_SECONDS = 0.25


class Present(NamedTuple):
    """The addresses of the other instances that may be answering, by their ids, and whether all of them take lists."""

    addresses: dict[str, str]
    take_lists: bool


class _Question:
    """A question about a project for all writes that came before a round."""

    def __init__(self, project_id: UUID) -> None:
        self.project_id = project_id
        self.writes = 0  # that wait for it
        self.waiting_for: dict[str, str] | None = None  # the addresses of those without an answer; None: not asked yet
        self.error: Exception | None = None
        self._ended = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return self.writes > 0 and not self._ended.is_set()

    def note_present(self, addresses: dict[str, str]) -> None:
        """Note who may be answering. An instance that has come later has loaded what was committed before."""
        known = addresses if self.waiting_for is None else self.waiting_for
        self.waiting_for = {instance: address for instance, address in known.items() if instance in addresses}
        self._end_if_answered()

    def note_answer(self, instance: str) -> None:
        if self.waiting_for is not None:
            self.waiting_for.pop(instance, None)
            self._end_if_answered()

    def fail(self, error: Exception) -> None:
        self.error = error
        self._ended.set()

    async def wait(self) -> None:
        await self._ended.wait()
        if self.error:
            raise self.error

    def _end_if_answered(self) -> None:
        if not self.waiting_for:
            self._ended.set()


class Questions:
    """The questions of this instance that are open."""

    def __init__(
        self,
        instance: str,
        *,
        read: Callable[[], Awaitable[Present]],
        send: Callable[[Collection[str]], Awaitable[None]],
        start_task: Callable[[str, Coroutine[Any, Any, None]], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`read` returns who may be answering, by a reading that begins during the call; `send` sends messages."""
        self._instance = instance
        self._read = read
        self._send = send
        self._start_task = start_task
        self._clock = clock
        self._numbers = count(1)
        self._next: dict[UUID, _Question] = {}  # for the next round
        self._open: dict[str, _Question] = {}  # by their numbers
        self._news = asyncio.Event()
        self._is_asking = False
        self._ask_again_at = 0.0

    async def ask(self, project_ids: Collection[UUID], missing: set[str]) -> None:
        """Return when all others serve what was committed to these projects before the call.

        If it ends otherwise, `missing` gets the addresses of the instances without an answer. Raises what reading and
        sending raise.
        """
        questions = [self._join(project_id) for project_id in project_ids]
        try:
            for question in questions:
                await question.wait()
        finally:
            for question in questions:
                missing.update((question.waiting_for or {}).values())
                question.writes -= 1

    def record_answer(self, instance: str, number: str) -> None:
        """Note the answer of an instance; numbers of questions that are not open any more are ignored."""
        if question := self._open.get(number):
            question.note_answer(instance)
            if not question.is_open:
                del self._open[number]
                self._news.set()

    def _join(self, project_id: UUID) -> _Question:
        question = self._next.setdefault(project_id, _Question(project_id))
        question.writes += 1
        self._news.set()
        if not self._is_asking:
            self._is_asking = True
            self._start_task("questions", self._ask_until_answered())
        return question

    async def _ask_until_answered(self) -> None:
        error: Exception = unavailable()  # if this task is cancelled
        try:
            self._ask_again_at = self._clock() + ASK_AGAIN_SECONDS
            while self._next or self._open:
                await self._ask_once()
                await self._wait()
        except dialect.raw_errors(Error) as raised:
            error = raised
        finally:
            self._is_asking = False
            for question in (*self._open.values(), *self._next.values()):
                question.fail(error)
            self._open, self._next = {}, {}

    async def _ask_once(self) -> None:
        """Ask what is new, and from time to time everything.

        An instance that cannot answer now may have loaded the project a moment later.
        """
        new = {str(next(self._numbers)): question for question in self._next.values()}
        self._next = {}
        self._open.update(new)
        present = await self._read()
        for question in self._open.values():
            question.note_present(present.addresses)
        self._forget()
        now = self._clock()
        if now >= self._ask_again_at:
            self._ask_again_at = now + ASK_AGAIN_SECONDS
            new = self._open
        asked = [(number, question.project_id) for number, question in new.items() if question.is_open]
        if asked:
            await self._send(messages.questions(self._instance, asked, as_lists=present.take_lists))

    async def _wait(self) -> None:
        """Wait until there is something to ask, or nothing any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(self._ask_again_at - self._clock(), 0)):
                while self._open and not self._next:
                    self._news.clear()
                    await self._news.wait()
        self._forget()

    def _forget(self) -> None:
        """Forget the questions that have been answered, and those for which no write waits any more."""
        self._open = {number: question for number, question in self._open.items() if question.is_open}
