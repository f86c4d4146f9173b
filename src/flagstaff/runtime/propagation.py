"""Makes a committed change visible to evaluations on every instance before its response is sent."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from uuid import UUID

from flagstaff.domain.changes import Change
from flagstaff.domain.errors import unconfirmed

Place = tuple[UUID, UUID | None]
"""A project, or one of its environments."""


async def propagate(
    changes: Sequence[Change],
    *,
    refresh: Callable[[UUID, UUID | None], Awaitable[None]],
    confirm: Callable[[Collection[UUID]], Awaitable[None]] | None,
) -> None:
    """Serve committed changes here and wait until every other instance does; `confirm`, if given, asks them.

    Raises:
        Error: UNAVAILABLE, without a time to retry after: the changes are stored, and repeating the request could undo
            them.
    """
    places = changed_places(changes)
    outcomes = await asyncio.gather(*(refresh(*place) for place in places), return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise unconfirmed(
                "The change is stored, but this instance could not load it and still answers with the previous state. "
                "It tries again every second."
            ) from outcome
    if confirm and places:
        await confirm({project_id for project_id, _ in places})


def changed_places(changes: Sequence[Change]) -> set[Place]:
    """The scopes to load for these changes, without environments whose whole project is loaded."""
    places: set[Place] = set()
    for change in changes:
        scope = change.scope
        if scope.project_id is not None:
            places.add((scope.project_id, scope.environment_id))
    whole = {project_id for project_id, environment_id in places if environment_id is None}
    return {place for place in places if place[1] is None or place[0] not in whole}
