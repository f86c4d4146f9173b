"""Waits after this instance's writes until the others serve what was committed, and asks those that do not say so.

An instance acknowledges the changes of this one when it has loaded them. One of the previous release does not: it is
asked at once. So are all about a write that has changed nothing, of which they were not told. Whoever has not answered
after a while is asked again.

All writes that wait share their questions. A round is one reading of the leases and one statement that asks, and only
one round runs at a time. A write that comes meanwhile is in the next round, so everything that a round reads and sends
is later than the commits that it is about. The number of statements does not grow with the number of writes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping
from contextlib import suppress
from itertools import count
from math import inf
from typing import Any, NamedTuple
from uuid import UUID

from flagstaff.database import driver_errors
from flagstaff.database.messages import Message, questions
from flagstaff.database.revisions import Wanted
from flagstaff.values.errors import Error, unavailable

ASK_AGAIN_SECONDS = 0.25
_MOST_REMEMBERED = 1000


class Present(NamedTuple):
    """The addresses of the other instances that may be answering, by their ids, and those that acknowledge changes."""

    addresses: dict[str, str]
    acknowledging: Collection[str]


class _Question:
    """A question about a project for all writes that came before a round."""

    def __init__(self, project_id: UUID) -> None:
        self.project_id = project_id
        self._revision: float = -inf  # for all of them; no acknowledgement is enough for infinity
        self._is_announced = True
        self.writes = 0  # that wait for it
        self.waiting_for: dict[str, str] | None = None  # the addresses of those without an answer; None: not asked yet
        self.error: Exception | None = None
        self._ended = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return self.writes > 0 and not self._ended.is_set()

    def join(self, wanted: Wanted) -> None:
        self.writes += 1
        self._revision = max(self._revision, inf if wanted.revision is None else wanted.revision)
        self._is_announced &= wanted.is_announced

    def must_be_asked(self, acknowledging: Collection[str]) -> bool:
        """Return whether an instance without an answer may not say by itself that it serves the project."""
        return not self._is_announced or any(each not in acknowledging for each in self.waiting_for or ())

    def record_served(self, instance: str, revision: int) -> None:
        if revision >= self._revision:
            self.record_answer(instance)

    def record_present(self, addresses: dict[str, str]) -> None:
        """Note who may be answering. An instance that has come later has loaded what was committed before."""
        known = addresses if self.waiting_for is None else self.waiting_for
        self.waiting_for = {instance: address for instance, address in known.items() if instance in addresses}
        self._end_if_answered()

    def record_answer(self, instance: str) -> None:
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
        send: Callable[[Collection[Message]], Awaitable[None]],
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
        self._served: dict[UUID, dict[str, int]] = {}  # the revisions that others have acknowledged, latest last
        self._news = asyncio.Event()
        self._is_asking = False
        self._ask_again_at = 0.0

    async def ask(self, wanted: Mapping[UUID, Wanted], missing: set[str]) -> None:
        """Return when all others serve what is wanted of these projects.

        If it ends otherwise, `missing` gets the addresses of the instances without an answer. Raises what reading and
        sending raise.
        """
        questions = [self._join(*each) for each in wanted.items()]
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
            question.record_answer(instance)
            self._news.set()

    def record_served(self, instance: str, project_id: UUID, revision: int) -> None:
        """Note that an instance serves a project up to a revision. It may come before the write has begun to wait."""
        served = self._served.pop(project_id, {})
        served[instance] = max(revision, served.get(instance, revision))
        self._served[project_id] = served
        if len(self._served) > _MOST_REMEMBERED:
            del self._served[next(iter(self._served))]
        for question in self._open.values():
            if question.project_id == project_id:
                question.record_served(instance, revision)
                self._news.set()

    def forget_served(self) -> None:
        """Forget what was acknowledged: the database may have lost it since, and given its revisions anew."""
        self._served.clear()

    def _join(self, project_id: UUID, wanted: Wanted) -> _Question:
        question = self._next.setdefault(project_id, _Question(project_id))
        question.join(wanted)
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
        except driver_errors.raw_errors(Error) as raised:
            error = raised
        finally:
            self._is_asking = False
            for question in (*self._open.values(), *self._next.values()):
                question.fail(error)
            self._open, self._next = {}, {}

    async def _ask_once(self) -> None:
        """Ask what is new of whoever will not say it, and from time to time everything.

        An instance that cannot answer now may have loaded the project a moment later.
        """
        new = {str(next(self._numbers)): question for question in self._next.values()}
        self._next = {}
        self._open.update(new)
        present = await self._read()
        for question in self._open.values():
            question.record_present(present.addresses)
        for question in new.values():
            for instance, revision in self._served.get(question.project_id, {}).items():
                question.record_served(instance, revision)
        self._forget()
        asked = {number: each for number, each in new.items() if each.must_be_asked(present.acknowledging)}
        now = self._clock()
        if now >= self._ask_again_at:
            self._ask_again_at = now + ASK_AGAIN_SECONDS
            asked = self._open
        await self._send_questions(asked, as_lists=present.addresses.keys() <= set(present.acknowledging))

    async def _send_questions(self, asked: Mapping[str, _Question], *, as_lists: bool) -> None:
        numbers = [(number, question.project_id) for number, question in asked.items() if question.is_open]
        if numbers:
            await self._send(questions(self._instance, numbers, as_lists=as_lists))

    async def _wait(self) -> None:
        """Wait until there is something to ask, or nothing any more."""
        with suppress(TimeoutError):
            async with asyncio.timeout(max(self._ask_again_at - self._clock(), 0)):
                while self._open and not self._next:
                    self._news.clear()
                    await self._news.wait()
                    self._forget()
        self._forget()

    def _forget(self) -> None:
        """Forget the questions that have been answered, and those for which no write waits any more."""
        self._open = {number: question for number, question in self._open.items() if question.is_open}
