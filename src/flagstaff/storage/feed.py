"""How several instances on one PostgreSQL keep each other's snapshots fresh.

A change is notified in its own transaction, so that none is lost however its instance ends. After the commit, the
instance that made it waits until every other one has said that it serves the new state. PostgreSQL delivers
notifications in the order of their commits: who answers a question has heard every change before it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from itertools import count
from uuid import UUID

import asyncpg
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.changes import Scope
from flagstaff.domain.errors import Error, unavailable
from flagstaff.storage import dialect

log = structlog.get_logger(__name__)

CHANNEL = "flagstaff"
CONFIRM_SECONDS = 5.0
_RECONNECT_SECONDS = 0.5
_PING_SECONDS = 5.0
_PRESENCE_SECONDS = 0.5
_LOST = "lost"
# An instance is there while PostgreSQL sees a session of this name; it vanishes with the process, however that ends.
_PRESENCE = "flagstaff feed "
_OTHERS = """
    SELECT substr(application_name, $1) FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, $2) AND application_name <> $2 || $3
"""


async def notify_change(connection: AsyncConnection, instance: str, scope: Scope) -> None:
    """Tell the other instances of a change when its transaction commits; with SQLite there are none."""
    if scope.project_id is not None:
        await dialect.notify(connection, CHANNEL, f"change {instance} {scope.project_id} {scope.environment_id or '-'}")


class Feed:
    """One instance's ear and voice."""

    def __init__(
        self,
        url: str,
        instance: str,
        *,
        refresh: Callable[[UUID, UUID | None], Awaitable[None]],
        refresh_all: Callable[[], Awaitable[None]],
    ) -> None:
        """`refresh` loads a project or one of its environments anew; `refresh_all` whatever is loaded."""
        self._url = url
        self._instance = instance
        self._refresh = refresh
        self._refresh_all = refresh_all
        self._connection: asyncpg.Connection | None = None
        self._connected = asyncio.Event()
        self._voice = asyncio.Lock()  # a connection takes one statement at a time
        self._questions = count(1)
        self._confirmations: dict[str, set[str]] = {}
        self._news = asyncio.Condition()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to listen; raises Error UNAVAILABLE if the server cannot be reached."""
        self._task = asyncio.create_task(self._listen_for_good(), name="feed")
        try:
            async with asyncio.timeout(CONFIRM_SECONDS):
                await self._connected.wait()
        except TimeoutError as error:
            raise unavailable() from error

    async def stop(self) -> None:
        """Fall silent; from now on nobody waits for this instance."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def confirm(self) -> None:
        """Return when every other instance serves what was committed before this call.

        Raises:
            Error: UNAVAILABLE when that cannot be had within some seconds. The change is in force here all the same,
                and each other instance will take it over as soon as it can.
        """
        try:
            async with asyncio.timeout(CONFIRM_SECONDS):
                await self._connected.wait()
                question = str(next(self._questions))
                self._confirmations[question] = set()
                try:
                    await self._ask(question)
                finally:
                    del self._confirmations[question]
        except (TimeoutError, *dialect.RAW_ERRORS) as error:
            log.warning("change_not_confirmed", error=type(error).__name__)
            raise unavailable(
                "The change is stored and in force here, but not every instance has confirmed it yet."
            ) from error

    async def _ask(self, question: str) -> None:
        others = await self._others()
        if not others:
            return
        await self._say(f"question {self._instance} {question}")
        async with self._news:
            while not others <= self._confirmations[question]:
                with suppress(TimeoutError):
                    async with asyncio.timeout(_PRESENCE_SECONDS):
                        await self._news.wait()
                        continue
                others &= await self._others()  # who is gone serves nobody and need not answer

    async def _others(self) -> set[str]:
        async with self._voice:
            connection = self._require_connection()
            rows = await connection.fetch(_OTHERS, len(_PRESENCE) + 1, _PRESENCE, self._instance)
        return {row[0] for row in rows}

    async def _say(self, words: str) -> None:
        async with self._voice:
            await self._require_connection().execute("SELECT pg_notify($1, $2)", CHANNEL, words)

    def _require_connection(self) -> asyncpg.Connection:
        if self._connection is None:
            raise unavailable()
        return self._connection

    async def _listen_for_good(self) -> None:
        while True:
            try:
                await self._listen()
            except (Error, TimeoutError, *dialect.RAW_ERRORS) as error:
                log.warning("feed_lost", error=type(error).__name__)
            await asyncio.sleep(_RECONNECT_SECONDS)

    async def _listen(self) -> None:
        """Listen until the connection is lost."""
        connection = await dialect.postgresql_connection(self._url)
        try:
            heard: asyncio.Queue[str] = asyncio.Queue()
            connection.add_termination_listener(lambda _: heard.put_nowait(_LOST))
            await connection.add_listener(CHANNEL, lambda *told: heard.put_nowait(str(told[-1])))
            await connection.execute(f"SET application_name = '{_PRESENCE}{self._instance}'")
            # From here on every change reaches the queue; what happened before is made good for now.
            await self._refresh_all()
            self._connection = connection
            self._connected.set()
            await self._follow(heard)
        finally:
            self._connected.clear()
            self._connection = None
            connection.terminate()

    async def _follow(self, heard: asyncio.Queue[str]) -> None:
        while True:
            try:
                async with asyncio.timeout(_PING_SECONDS):
                    words = await heard.get()
            except TimeoutError:
                async with asyncio.timeout(_PING_SECONDS):  # a connection that hangs is as good as lost
                    await self._others()
                continue
            if words == _LOST:
                return
            await self._heed(words)

    async def _heed(self, words: str) -> None:
        match words.split():
            case ["change", instance, project_id, environment_id] if instance != self._instance:
                await self._refresh(UUID(project_id), None if environment_id == "-" else UUID(environment_id))
            case ["question", instance, question] if instance != self._instance:
                await self._say(f"answer {self._instance} {instance} {question}")
            case ["answer", instance, asker, question] if asker == self._instance and question in self._confirmations:
                async with self._news:
                    self._confirmations[question].add(instance)
                    self._news.notify_all()
