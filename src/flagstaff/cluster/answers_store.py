"""Tells other instances which state this one serves: answers to questions, and acknowledgements.

All that are ready are sent together, each to the instance that waits for it (messages.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine, Iterable
from typing import Any
from uuid import UUID

import structlog

from flagstaff.database import driver_errors, messages
from flagstaff.database.messages import Asked, Message
from flagstaff.values.errors import Error

log = structlog.get_logger(__name__)


class Answers:
    """The answers and acknowledgements of this instance."""

    def __init__(
        self,
        instance: str,
        *,
        is_served: Callable[[UUID], Awaitable[bool]],
        find_served: Callable[[UUID], Awaitable[int | None]],
        find_session: Callable[[], int | None],
        find_acknowledging: Callable[[], Collection[str]],
        send: Callable[[Iterable[Message]], Awaitable[None]],
        start_task: Callable[[str, Coroutine[Any, Any, None]], None],
    ) -> None:
        """`is_served` and `find_served` are methods of `Serving`.

        `find_session` returns a number of the session, or None until everything was loaded once in it; until then, this
        instance may have missed changes. `find_acknowledging` returns the other instances that acknowledge changes.
        """
        self._instance = instance
        self._is_served = is_served
        self._find_served = find_served
        self._find_session = find_session
        self._find_acknowledging = find_acknowledging
        self._send = send
        self._start_task = start_task
        self._answering: set[tuple[str, str]] = set()  # the askers and numbers of questions
        self._answers: list[Asked] = []  # to send
        self._acknowledgements: dict[tuple[str, UUID], int] = {}  # to send: revisions, by asker and project
        self._sending = asyncio.Lock()

    def begin_to_answer(self, asked: Asked, project_id: UUID) -> None:
        """Answer that this instance serves the project's committed state, once it does.

        If it does not, nothing is sent, and the question is asked again.
        """
        if (asked.asker, asked.number) not in self._answering:  # it is asked again while the answer is being found
            self._answering.add((asked.asker, asked.number))
            self._start_task("answer", self._answer(asked, project_id))

    def begin_to_acknowledge(self, asker: str, project_id: UUID) -> None:
        """Tell who has made a change up to which revision this instance serves the project, when it has loaded it.

        If it does not, nothing is sent, and the asker asks.
        """
        self._start_task("acknowledgement", self._acknowledge(asker, project_id))

    async def _answer(self, asked: Asked, project_id: UUID) -> None:
        try:
            if self._has_caught_up() and await self._is_served(project_id) and self._has_caught_up():
                self._answers.append(asked)
                await self._send_all()
        except driver_errors.raw_errors(Error) as error:
            log.warning("answer_not_sent", error=type(error).__name__)  # the connection is made again
        finally:
            self._answering.discard((asked.asker, asked.number))

    def _has_caught_up(self) -> bool:
        return self._find_session() is not None

    async def _acknowledge(self, asker: str, project_id: UUID) -> None:
        session = self._find_session()
        if session is None:
            return
        try:
            revision = await self._find_served(project_id)
            # What was loaded in an earlier session may have been lost by the database since.
            if revision is not None and self._find_session() == session:
                self._acknowledgements[asker, project_id] = revision
                await self._send_all()
        except driver_errors.raw_errors(Error) as error:
            log.warning("acknowledgement_not_sent", error=type(error).__name__)

    async def _send_all(self) -> None:
        """Send in one statement all that was found while the statement before was under way."""
        async with self._sending:
            sent = messages.answers(self._instance, self._answers, self._find_acknowledging())
            sent += messages.acknowledgements(self._instance, self._acknowledgements)
            self._answers, self._acknowledgements = [], {}
            if sent:
                await self._send(sent)
