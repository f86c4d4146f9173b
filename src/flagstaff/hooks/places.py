"""The places of webhooks: a project, and the whole instance. Both have the same operations."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple
from uuid import UUID

from flagstaff.api.ids import Id
from flagstaff.api.operations import Needs
from flagstaff.http.operations import Caller
from flagstaff.projects.permissions import Permission


async def _of_project(project_id: Id) -> UUID | None:
    return project_id


async def _of_instance() -> None:
    return None


class Place(NamedTuple):
    """A place of webhooks: the beginning of the paths, and what finds the project, which the whole instance has not.

    `kind` is part of the operations' names, `shown` the permission to see a webhook, and `statuses` those of every
    refusal.
    """

    base: str
    kind: str
    of: Callable[..., Awaitable[UUID | None]]
    needs: Needs
    also: tuple[Permission, ...]
    shown: Permission | None
    statuses: tuple[int, ...]


PLACES = (
    Place(
        "/projects/{project_id}/webhooks",
        "webhook",
        _of_project,
        Permission.KEYS_ROTATE,
        (Permission.AUDIT_READ,),
        Permission.KEYS_ROTATE,
        (401, 404),
    ),
    Place("/admin/webhooks", "instance_webhook", _of_instance, Caller.PERSON, (), None, (401, 403)),
)
