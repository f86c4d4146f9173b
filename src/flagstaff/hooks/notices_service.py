"""Notices stale flags, missing ones, instances that lag and histories that fall behind, and tells webhooks.

What is told is told once, and again only after it has ended. One process at a time decides, so that several instances
tell it once.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog

from flagstaff.database.database import Connection, Database
from flagstaff.hooks import notices_store
from flagstaff.hooks.deliveries import KEPT
from flagstaff.hooks.notices import FLAGS_MAX, NoticeType
from flagstaff.hooks.notices_store import Place
from flagstaff.projects import projects_store
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

LOOK_SECONDS = 10.0
BEHIND_SECONDS = 10.0
"""An instance is told of when it is so far behind."""
STUCK_SECONDS = 60.0
"""For how long nothing may be written of evaluations that wait before it is told."""
_MISSING_EVERY = timedelta(minutes=5)
_ASK_EVERY = timedelta(minutes=1)  # which environments these are
_STALE_EVERY = timedelta(days=1)
_PLACES_AT_ONCE = 500
_LOOK_FOR_SECONDS = 2.0  # at environments, in one look

Described = Mapping[str, Mapping[str, Any]]
"""Flags by their keys, as notices describe them."""


@dataclass(frozen=True, slots=True)
class Lagging:
    """An instance that lags, by name, with the details of its notice."""

    name: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Recorded:
    """Evaluations that this process has written to the history, and those that wait to be."""

    written: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources of facts: the flags of an environment by key, instances that lag, and this one's history.

    `list_asked` returns the environments of which applications have asked for flags.
    """

    list_asked: Callable[[], Awaitable[Collection[UUID]]]
    find_stale: Callable[[Place], Awaitable[Described]]
    find_missing: Callable[[Place], Awaitable[Described]]
    find_lagging: Callable[[], Awaitable[Sequence[Lagging]]]
    read_history: Callable[[], Recorded]


@dataclass(slots=True)
class Noticer:
    """Looks again and again. `wake` is called after something was told."""

    database: Database
    now: Callable[[], datetime]
    clock: Callable[[], float]
    name: str
    sources: Sources
    wake: Callable[[], None]
    _written: int = field(default=-1, init=False)
    _written_at: float = field(default=0.0, init=False)
    _asked_at: datetime | None = field(default=None, init=False)

    async def look(self) -> None:
        """Look at the instances, at this one's history, and at the environments that are due."""
        await self.look_at_instances()
        now = self.now()
        if self._asked_at is None or abs(now - self._asked_at) >= _ASK_EVERY:
            self._asked_at = now
            asked = await self.sources.list_asked()
            await self._look_at_flags(NoticeType.FLAG_MISSING, _MISSING_EVERY, self.sources.find_missing, asked)
        await self._look_at_flags(NoticeType.FLAG_STALE, _STALE_EVERY, self.sources.find_stale, None)

    async def look_at_instances(self) -> None:
        """Tell of instances that lag, and of this one if nothing is written of evaluations that wait."""
        lagging = {each.name: each.details for each in await self.sources.find_lagging()}
        await self._tell_of_instances(NoticeType.INSTANCE_LAGGING, NoticeType.INSTANCE_RECOVERED, lagging)
        behind, waiting = self._waiting_in_vain(), self.sources.read_history().waiting
        await self._tell_of_instances(
            NoticeType.HISTORY_BEHIND,
            NoticeType.HISTORY_RECOVERED,
            {self.name: {"waiting": waiting}} if behind else {},
            only=self.name,
        )

    async def _look_at_flags(
        self,
        kind: NoticeType,
        every: timedelta,
        find: Callable[[Place], Awaitable[Described]],
        among: Collection[UUID] | None,
    ) -> None:
        """Examine environments that were not examined for so long, and tell of the flags that are new.

        They are claimed one by one, so that several instances share the work.
        """
        began, before = self.clock(), self.now() - every
        async with self.database.read() as connection:
            due = await notices_store.list_due(connection, kind, before, _PLACES_AT_ONCE, among)
        for place in due:
            if self.clock() - began >= _LOOK_FOR_SECONDS:
                break
            try:
                async with self.database.transaction() as transaction:
                    is_mine = await notices_store.claim_look(
                        transaction.connection, kind, place.environment_id, before, self.now()
                    )
                if is_mine:
                    await self._tell_of_flags(kind, place, await find(place))
            except Error as error:
                if error.code is not Code.NOT_FOUND:  # it was deleted meanwhile
                    raise

    async def purge(self) -> None:
        """Delete the notices that are older than 30 days."""
        async with self.database.transaction() as transaction:
            await notices_store.purge_notices(transaction.connection, self.now() - KEPT)
            await notices_store.forget_instances(transaction.connection, self.now() - KEPT)

    async def _tell_of_flags(self, kind: NoticeType, place: Place, found: Described) -> None:
        async with self.database.read() as connection:
            if await notices_store.list_noticed_flags(connection, place.environment_id, kind) == found.keys():
                return  # nearly always: then the project is not locked
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            if await projects_store.find_project_for_update(connection, place.project_id) is None:
                return  # first, as every write to a project does
            known = await notices_store.list_noticed_flags(connection, place.environment_id, kind)
            added, ended = [key for key in found if key not in known], known - found.keys()
            if added or ended:
                await notices_store.replace_noticed_flags(
                    connection, place.environment_id, kind, now, added=added, ended=ended
                )
            for at in range(0, len(added), FLAGS_MAX):
                flags = [{"key": key, **found[key]} for key in added[at : at + FLAGS_MAX]]
                await notices_store.create_notice(
                    connection,
                    kind,
                    now,
                    {"count": len(flags), "flags": flags},
                    project_id=place.project_id,
                    environment_id=place.environment_id,
                )
        if added:
            self.wake()

    async def _tell_of_instances(
        self,
        begun: NoticeType,
        over: NoticeType,
        found: Mapping[str, Mapping[str, Any]],
        *,
        only: str | None = None,
    ) -> None:
        """Tell what has begun and what is over. `only` is the one instance that this is about, if it is not all."""
        async with self.database.read() as connection:
            if not await _differences(connection, begun, found, only):
                return
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await notices_store.lock_notices(connection)
            for name in await _differences(connection, begun, found, only):
                if name in found:
                    await notices_store.record_instance(connection, begun, name, now)
                    await notices_store.create_notice(connection, begun, now, {"instance": name, **found[name]})
                    log.warning("noticed", type=begun.value, instance=name, **found[name])
                else:
                    await notices_store.forget_instance(connection, begun, name)
                    await notices_store.create_notice(connection, over, now, {"instance": name})
                    log.info("noticed", type=over.value, instance=name)
        self.wake()

    def _waiting_in_vain(self) -> bool:
        """Return whether evaluations have waited for a minute without any being written."""
        recorded, at = self.sources.read_history(), self.clock()
        if recorded.written != self._written or not recorded.waiting:
            self._written, self._written_at = recorded.written, at
        return at - self._written_at >= STUCK_SECONDS


async def _differences(
    connection: Connection, kind: NoticeType, found: Mapping[str, Any], only: str | None
) -> list[str]:
    """The instances whose notice must be sent now, because their state has begun or ended since the last one."""
    known = await notices_store.list_noticed_instances(connection, kind)
    if only is not None:
        known &= {only}
    return sorted(known ^ found.keys())
