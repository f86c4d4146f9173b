"""The places of webhooks: a project, and the whole instance. Both have the same operations."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple
from uuid import UUID

from flagstaff.api.ids import Id
from flagstaff.api.operations import Needs
from flagstaff.http.operations import Caller
from flagstaff.permissions.permissions import Permission


async def _of_project(project_id: Id) -> UUID | None:
    return project_id


async def _of_instance() -> None:
    return None


class Place(NamedTuple):
    """A place of webhooks: the beginning of the paths, and what finds the project, which the whole instance has not.

    `kind` is part of the operations' names, `reading` and `writing` are what operations need besides `also`, and
    `statuses` the statuses of every refusal.
    """

    base: str
    kind: str
    of: Callable[..., Awaitable[UUID | None]]
    reading: Needs
    writing: Needs
    also: tuple[Permission, ...]
    statuses: tuple[int, ...]


PLACES = (
    Place(
        "/projects/{project_id}/webhooks",
        "webhook",
        _of_project,
        Permission.WEBHOOKS_READ,
        Permission.WEBHOOKS_WRITE,
        (Permission.AUDIT_READ,),
        (401, 404),
    ),
    Place("/admin/webhooks", "instance_webhook", _of_instance, Caller.PERSON, Caller.PERSON, (), (401, 403)),
)
