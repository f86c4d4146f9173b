"""Preconditions: a request changes a resource only if it is still as its sender has read it.

A use case checks the resource that it has read under the lock of its project or account, so that exactly one of
two requests with the same precondition is carried out.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar
from uuid import UUID

from flagstaff.changes.changes import Change
from flagstaff.database.changes_store import find_latest_change
from flagstaff.database.database import Connection
from flagstaff.values.errors import Code, Error

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Precondition(Generic[T]):
    """In which states a resource may be changed, and the error in all others, which gets the latest change to it."""

    holds: Callable[[T], bool]
    error: Callable[[T, Change | None], Error]

    async def require(
        self, connection: Connection, resource: T, resource_id: UUID | None, project_id: UUID | None
    ) -> None:
        """Raise the error, whose code is PRECONDITION_FAILED, if the resource is in another state.

        The caller has checked that the actor may make the change. `resource_id` is None for what the audit trail does
        not have, and `project_id` for what is in no project.
        """
        if not self.holds(resource):
            latest = None if resource_id is None else await find_latest_change(connection, project_id, resource_id)
            raise self.error(resource, latest)


def _never(_resource: object, _change: Change | None) -> Error:
    return Error(Code.INTERNAL, "Every state is accepted.")


ANY_STATE: Precondition[Any] = Precondition(lambda _: True, _never)
"""The precondition of a request that has none."""
