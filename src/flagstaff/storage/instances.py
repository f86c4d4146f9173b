"""The instances on one PostgreSQL: which exist, how each learns of the others' changes, and whether all serve them.

A change is notified in its own transaction, so that none is lost even if its instance is killed. After the commit, the
instance that made it asks every other one whether it serves the new state. PostgreSQL delivers notifications in the
order of their commits: an instance that receives the question has received every change before it.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Coroutine
from contextlib import suppress
from itertools import count
from typing import Any
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.changes import Scope
from flagstaff.domain.errors import Error, unavailable, unconfirmed
from flagstaff.storage import dialect
from flagstaff.storage.notifications import Notifications, notify_at_commit

log = structlog.get_logger(__name__)

CONFIRM_SECONDS = 5.0
_ASK_AGAIN_SECONDS = 0.5
_WHOLE_PROJECT = "-"
# An instance exists while PostgreSQL has a session with this name; the session ends with the process in any case.
_SESSION = "flagstaff feed "
_OTHERS = """
    SELECT substr(application_name, $1) FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, $2) AND application_name <> $2 || $3
"""


async def notify_change(connection: AsyncConnection, instance: str, scope: Scope) -> None:
    """Notify the other instances of a change when its transaction commits; with SQLite there are none."""
    if scope.project_id is not None:
        place = f"{scope.project_id} {scope.environment_id or _WHOLE_PROJECT}"
        await notify_at_commit(connection, f"change {instance} {place}")


class _Question:
    def __init__(self) -> None:
        self._answered_by: set[str] = set()
        self._news = asyncio.Event()

    def note_answer(self, instance: str) -> None:
        self._answered_by.add(instance)
        self._news.set()

    async def wait_for(self, instances: Collection[str]) -> None:
        while not self._answered_by.issuperset(instances):
            self._news.clear()
            await self._news.wait()


class Instances:
    """This instance among the others."""

    def __init__(
        self,
        url: str,
        instance: str,
        *,
        begin_refresh: Callable[[UUID, UUID | None], object],
        refresh_all: Callable[[], Awaitable[None]],
        is_served: Callable[[UUID], Awaitable[bool]],
        start_task: Callable[[str, Coroutine[Any, Any, None]], None],
        confirm_seconds: float = CONFIRM_SECONDS,
    ) -> None:
        """`begin_refresh` starts to reload a project or one of its environments, and `refresh_all` reloads everything.

        `is_served` waits for the requested loads of a project, and returns whether this instance serves their state.
        """
        self._instance = instance
        self._begin_refresh = begin_refresh
        self._refresh_all = refresh_all
        self._is_served = is_served
        self._start_task = start_task
        self._confirm_seconds = confirm_seconds
        self._notifications = Notifications(url, f"{_SESSION}{instance}")
        self._questions = count(1)
        self._open_questions: dict[str, _Question] = {}

    async def follow(self) -> None:
        """Apply the others' changes and answer their questions until the connection is lost.

        Raises:
            Error: UNAVAILABLE when PostgreSQL cannot be reached or the connection is lost.
        """
        await self._notifications.listen(catch_up=self._refresh_all, receive=self._receive)

    def is_connected(self) -> bool:
        """Whether this instance receives the others' changes."""
        return self._notifications.connected.is_set()

    async def wait_until_connected(self) -> None:
        """Wait until it does; raises Error UNAVAILABLE after some seconds."""
        try:
            async with asyncio.timeout(self._confirm_seconds):
                await self._notifications.connected.wait()
        except TimeoutError as error:
            raise unavailable() from error

    async def confirm(self, project_ids: Collection[UUID]) -> None:
        """Return when every other instance serves what was committed to these projects before this call.

        Raises:
            Error: UNAVAILABLE when that does not happen within some seconds. The change is stored and effective here,
                so the error has no time to retry after.
        """
        try:
            async with asyncio.timeout(self._confirm_seconds):
                await self._notifications.connected.wait()
                for project_id in project_ids:
                    await self._ask(project_id)
        except (Error, *dialect.RAW_ERRORS) as error:
            log.warning("change_not_confirmed", error=type(error).__name__)
            raise unconfirmed(
                "The change is stored and this instance serves it, but not every other instance has confirmed that it "
                "does. Each will serve it as soon as it can."
            ) from error

    async def _ask(self, project_id: UUID) -> None:
        waiting_for = await self._others()
        if not waiting_for:
            return
        number = str(next(self._questions))
        question = self._open_questions[number] = _Question()
        try:
            while True:
                # Asked again and again: an instance that cannot answer now may have loaded the project a moment later.
                await self._notifications.send(f"question {self._instance} {number} {project_id}")
                with suppress(TimeoutError):
                    async with asyncio.timeout(_ASK_AGAIN_SECONDS):
                        await question.wait_for(waiting_for)
                        return
                waiting_for &= await self._others()  # an instance that has ended serves no requests and need not answer
        finally:
            del self._open_questions[number]

    async def _others(self) -> set[str]:
        rows = await self._notifications.fetch(_OTHERS, len(_SESSION) + 1, _SESSION, self._instance)
        return {row[0] for row in rows}

    def _receive(self, message: str) -> None:
        try:
            self._interpret(message.split())
        except ValueError:
            log.warning("notification_ignored", message=message[:200])

    def _interpret(self, words: list[str]) -> None:
        """Start what a message requests without waiting, so that no project delays another."""
        match words:
            case ["change" | "question" | "answer", self._instance, *_]:
                return
            case ["change", _, project_id, environment_id]:
                whole = environment_id == _WHOLE_PROJECT
                self._begin_refresh(UUID(project_id), None if whole else UUID(environment_id))
            case ["question", asker, number, project_id]:
                self._start_task("answer", self._answer(asker, number, UUID(project_id)))
            case ["answer", instance, asker, number]:
                question = self._open_questions.get(number) if asker == self._instance else None
                if question:
                    question.note_answer(instance)
            case _:
                raise ValueError(words)

    async def _answer(self, asker: str, number: str, project_id: UUID) -> None:
        """Answer that this instance serves the project's committed state; if it does not, send nothing."""
        try:
            if await self._is_served(project_id):
                await self._notifications.send(f"answer {self._instance} {asker} {number}")
        except (Error, *dialect.RAW_ERRORS) as error:
            log.warning("answer_not_sent", error=type(error).__name__)  # the connection is made again
