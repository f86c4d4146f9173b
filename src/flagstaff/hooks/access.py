"""Resolves webhooks in a path, and requires the permission to use them.

Webhooks of a project need `webhooks:read`, or to change or send anything `webhooks:write`, and `audit:read`, in the
whole project: a message has what the trail has of every environment. Webhooks of the whole instance belong to its
administrators.
"""

from typing import NamedTuple
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Connection
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.hooks import webhooks_store
from flagstaff.hooks.webhooks import Webhook
from flagstaff.hooks.webhooks_store import Health
from flagstaff.identity.administration.rights import hold_administrators, require_administrator
from flagstaff.permissions.permissions import Permission, require
from flagstaff.projects.access import open_membership


class WatchedWebhook(NamedTuple):
    """A webhook, and how it fares."""

    webhook: Webhook
    health: Health


async def open_place(
    connection: Connection, actor: Actor, project_id: UUID | None, *, for_update: bool = False
) -> None:
    """Require the permission to see the webhooks of a project or of the whole instance, or to change them.

    Raises:
        Error: NOT_FOUND for a project of which the actor is not a member, FORBIDDEN.
    """
    if project_id is None:
        await (hold_administrators if for_update else require_administrator)(connection, actor)
        return
    permission = Permission.WEBHOOKS_WRITE if for_update else Permission.WEBHOOKS_READ
    _, member = await open_membership(connection, actor, project_id, permission, for_update=for_update)
    require(member, Permission.AUDIT_READ)


async def get_for_update(
    connection: Connection,
    actor: Actor,
    project_id: UUID | None,
    webhook_id: UUID,
    precondition: Precondition[WatchedWebhook] = ANY_STATE,
) -> Webhook:
    """A webhook that is to be changed, or sent to; raises Error NOT_FOUND, FORBIDDEN, PRECONDITION_FAILED."""
    await open_place(connection, actor, project_id, for_update=True)
    webhook = await webhooks_store.get_webhook(connection, project_id, webhook_id)
    await precondition.require(connection, await watch(connection, webhook), webhook_id, project_id)
    return webhook


async def watch(connection: Connection, webhook: Webhook) -> WatchedWebhook:
    """A webhook with how it fares."""
    return WatchedWebhook(webhook, (await webhooks_store.read_health(connection, [webhook.id]))[webhook.id])
