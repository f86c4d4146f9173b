"""Makes what a write has left visible to evaluations on every instance before its response is sent.

A write that changes nothing is held to the same: what it found may have been committed a moment ago by another request,
which is still waiting. So is a write that is refused because of what it found, such as one to a flag that has been
deleted. The law is that the answer to any write says that every evaluation anywhere now sees at least this state.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol
from uuid import UUID

import structlog

from flagstaff.changes.changes import Change, Committed
from flagstaff.database.revisions import Wanted
from flagstaff.values.errors import unconfirmed

log = structlog.get_logger(__name__)

Place = tuple[UUID, UUID | None]
"""A project, or one of its environments."""

_MOST_REMEMBERED = 10_000


class Others(Protocol):
    """The other instances."""

    @property
    def period(self) -> int:
        """Rises whenever an instance may have begun to answer that was not asked before."""

    async def confirm(self, wanted: Mapping[UUID, Wanted]) -> None:
        """Wait until they serve what is wanted of these projects.

        Raises:
            Error: UNAVAILABLE, without a time to retry after.
        """

    def record_live_on(self) -> None:
        """Note for the response where the state of this instance is served."""


class Propagation:
    """Makes a committed change visible on all instances before its response is sent."""

    def __init__(
        self,
        *,
        refresh: Callable[[UUID, UUID | None], Awaitable[None]],
        catch_up: Callable[[UUID], Awaitable[object]],
        others: Others | None,
        load_seconds: float,
    ) -> None:
        """`catch_up` loads what of a project differs from what is committed.

        A change waits for this instance for `load_seconds`, such as while another session has locked a table.
        """
        self._refresh = refresh
        self._catch_up = catch_up
        self._others = others
        self._load_seconds = load_seconds
        # By project: in which period which revision was the latest that is known to be served everywhere.
        self._served: dict[UUID, tuple[int, int]] = {}

    async def propagate(self, committed: Committed) -> None:
        """Serve what a transaction has left here, and wait until every other instance does.

        Costs nothing if it has changed nothing, and found what is known to be served everywhere.

        Raises:
            Error: UNAVAILABLE, without a time to retry after: the changes are stored, and repeating the request could
                undo them.
        """
        period = self._others.period if self._others else 0
        places = changed_places(committed.changes)
        unsure = [
            project_id
            for project_id, revision in committed.found.items()
            if revision is None or self._served.get(project_id) != (period, revision)
        ]
        wanted = {project_id: Wanted(committed.found[project_id]) for project_id in unsure}
        for project_id, _ in places:
            revision = committed.left.get(project_id)
            wanted[project_id] = Wanted(revision, is_announced=revision is not None)
        await self._load_everywhere(places, unsure, wanted)
        for project_id, found in committed.found.items():
            self._record_served(project_id, period, committed.left.get(project_id, found))

    async def _load_everywhere(
        self, places: Collection[Place], unsure: Collection[UUID], wanted: Mapping[UUID, Wanted]
    ) -> None:
        """Load here, while the others load, and wait until they have."""
        if self._others is None:
            await self._load(places, unsure)
        elif wanted:
            outcomes = await asyncio.gather(
                self._load(places, unsure), self._others.confirm(wanted), return_exceptions=True
            )
            for outcome in outcomes:
                if outcome is not None:
                    raise outcome
        else:
            self._others.record_live_on()

    async def _load(self, places: Collection[Place], unsure: Collection[UUID]) -> None:
        """Serve these places and projects here. A load that does not end in time goes on."""
        try:
            async with asyncio.timeout(self._load_seconds):
                outcomes = await asyncio.gather(
                    *(self._refresh(*place) for place in places),
                    *(self._catch_up(project_id) for project_id in unsure),  # after these loads have begun
                    return_exceptions=True,
                )
        except TimeoutError as error:
            log.warning("change_not_loaded", seconds=self._load_seconds)
            raise unconfirmed(
                f"The change is stored, but this instance has not loaded it within {self._load_seconds:g} seconds, "
                "for example because another program has locked a table. It still answers with the previous state, and "
                "will serve the change as soon as it can."
            ) from error
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise unconfirmed(
                    "The change is stored, but this instance could not load it and still answers with the previous "
                    "state. It tries again every second."
                ) from outcome

    def _record_served(self, project_id: UUID, period: int, revision: int | None) -> None:
        """Note that a revision is served everywhere; a transaction before it may have ended later."""
        known = self._served.pop(project_id, None)
        if revision is None:
            return
        self._served[project_id] = max((period, revision), known or (period, revision))
        if len(self._served) > _MOST_REMEMBERED:
            del self._served[next(iter(self._served))]


def changed_places(changes: Sequence[Change]) -> set[Place]:
    """The scopes to load for these changes, without environments whose whole project is loaded."""
    places: set[Place] = set()
    for change in changes:
        scope = change.scope
        if scope.project_id is not None:
            places.add((scope.project_id, scope.environment_id))
    whole = {project_id for project_id, environment_id in places if environment_id is None}
    return {place for place in places if place[1] is None or place[0] not in whole}
