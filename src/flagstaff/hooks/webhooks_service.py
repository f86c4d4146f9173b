"""Webhooks of a project, or of the whole instance: how they are created, changed and deleted."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.changes.changes import Actor, Scope, change_of
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database, Transaction
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.hooks import deliveries_store, webhooks_store
from flagstaff.hooks.access import WatchedWebhook, get_for_update, open_place, watch
from flagstaff.hooks.client.addresses import Reach
from flagstaff.hooks.webhooks import (
    INSTANCE_PATTERNS,
    PROJECT_PATTERNS,
    ROTATION_LIFETIME,
    Disabled,
    Webhook,
    check_environments,
    check_events,
    check_url,
    new_secret,
)
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.settings import Settings
from flagstaff.values.errors import invalid_field

_MICROSECOND = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Webhooks:
    """The use cases of webhooks. `project_id` is None for webhooks of the whole instance, which administrators manage.

    All raise Error NOT_FOUND for a project of which the actor is not a member.
    """

    database: Database
    now: Callable[[], datetime]
    settings: Settings
    sealer: Sealer
    reach: Reach
    wake: Callable[[], None]

    async def list_webhooks(self, actor: Actor, project_id: UUID | None) -> list[WatchedWebhook]:
        """The webhooks, oldest first."""
        async with self.database.read() as connection:
            await open_place(connection, actor, project_id)
            found = await webhooks_store.list_webhooks(connection, project_id)
            health = await webhooks_store.read_health(connection, [each.id for each in found])
        return [WatchedWebhook(each, health[each.id]) for each in found]

    async def get_webhook(self, actor: Actor, project_id: UUID | None, webhook_id: UUID) -> WatchedWebhook:
        """One webhook."""
        async with self.database.read() as connection:
            await open_place(connection, actor, project_id)
            return await watch(connection, await webhooks_store.get_webhook(connection, project_id, webhook_id))

    async def create_webhook(self, actor: Actor, project_id: UUID | None, **values: Any) -> tuple[WatchedWebhook, str]:
        """Create a webhook; returned together with its secret, which is not shown again.

        Raises:
            Error: INVALID for a URL, an event or an environment that is not accepted, FORBIDDEN, CONFLICT without room.
        """
        secret, now = new_secret(), self.now()
        webhook = Webhook(
            id=uuid7(),
            project_id=project_id,
            disabled_reason=None,
            owner_id=actor.account_id if project_id is None else None,
            created_at=now,
            updated_at=now,
            **check_values(values, project_id, self.reach),
        )
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await open_place(connection, actor, project_id, for_update=True)
            present = await webhooks_store.count_webhooks(connection, project_id)
            self.settings.max_webhooks_per_project.require_room(present)
            await webhooks_store.create_webhook(connection, webhook, self._seal(webhook, secret))
            await self._record(transaction, actor, "webhook.created", after=webhook)
            watched = await watch(connection, webhook)
        self.wake()
        return watched, secret

    async def update_webhook(
        self,
        actor: Actor,
        project_id: UUID | None,
        webhook_id: UUID,
        precondition: Precondition[WatchedWebhook] = ANY_STATE,
        **values: Any,
    ) -> WatchedWebhook:
        """Update the given fields of a webhook. Equal values change nothing.

        One that is switched on again is sent what has waited, at once. Whoever changes one of the instance owns it from
        then on: a new URL must not be sent what only the owner before could read.

        Raises:
            Error: As `create_webhook`.
        """
        checked = check_values(values, project_id, self.reach)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            webhook = await get_for_update(connection, actor, project_id, webhook_id, precondition)
            updated = replace(webhook, **checked)
            if updated != webhook:
                updated = replace(
                    updated,
                    disabled_reason=None if updated.enabled else webhook.disabled_reason,
                    owner_id=actor.account_id if project_id is None else None,
                    updated_at=_later_than(webhook, self.now()),
                )
                await webhooks_store.update_webhook(connection, updated)
                if updated.enabled and not webhook.enabled:
                    await deliveries_store.make_due(connection, webhook_id)
                await self._record(transaction, actor, "webhook.updated", before=webhook, after=updated)
            watched = await watch(connection, updated)
        self.wake()
        return watched

    async def delete_webhook(
        self,
        actor: Actor,
        project_id: UUID | None,
        webhook_id: UUID,
        precondition: Precondition[WatchedWebhook] = ANY_STATE,
    ) -> None:
        """Delete a webhook, and its deliveries."""
        async with self.database.transaction() as transaction:
            webhook = await get_for_update(transaction.connection, actor, project_id, webhook_id, precondition)
            await webhooks_store.delete_webhook(transaction.connection, webhook_id)
            await self._record(transaction, actor, "webhook.deleted", before=webhook)

    async def rotate_secret(
        self,
        actor: Actor,
        project_id: UUID | None,
        webhook_id: UUID,
        precondition: Precondition[WatchedWebhook] = ANY_STATE,
    ) -> tuple[WatchedWebhook, str]:
        """Replace the secret; for 24 hours, messages are signed with the one before, too."""
        secret = new_secret()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            webhook = await get_for_update(connection, actor, project_id, webhook_id, precondition)
            until = self.now() + ROTATION_LIFETIME
            await webhooks_store.replace_secret(connection, webhook_id, self._seal(webhook, secret), until)
            updated = replace(webhook, updated_at=_later_than(webhook, self.now()))
            await webhooks_store.update_webhook(connection, updated)
            await self._record(transaction, actor, "webhook.secret_rotated", before=webhook, after=updated)
            return await watch(connection, updated), secret

    def _seal(self, webhook: Webhook, secret: str) -> bytes:
        return self.sealer.seal(secret.encode(), webhook.id.bytes)

    async def _record(
        self,
        transaction: Transaction,
        actor: Actor,
        action: str,
        *,
        before: Webhook | None = None,
        after: Webhook | None = None,
    ) -> None:
        webhook = after or before
        assert webhook is not None
        change = change_of(actor, action, self.now(), Scope(webhook.project_id), before=before, after=after)
        await record(transaction, change)


async def switch_off(transaction: Transaction, webhook: Webhook, reason: Disabled, actor: Actor, now: datetime) -> None:
    """Switch a webhook off, for a reason that it shows."""
    updated = replace(webhook, enabled=False, disabled_reason=reason, updated_at=_later_than(webhook, now))
    await webhooks_store.update_webhook(transaction.connection, updated)
    change = change_of(actor, "webhook.disabled", now, Scope(webhook.project_id), before=webhook, after=updated)
    await record(transaction, change)


def _later_than(webhook: Webhook, now: datetime) -> datetime:
    """A time of a change, which is also its tag."""
    return max(now, webhook.updated_at + _MICROSECOND)


def check_values(values: dict[str, Any], project_id: UUID | None, reach: Reach) -> dict[str, Any]:
    """The given values of a webhook, checked; raises Error INVALID."""
    checked = dict(values)
    patterns = INSTANCE_PATTERNS if project_id is None else PROJECT_PATTERNS
    checks: dict[str, Callable[[Any], Any]] = {
        "url": lambda given: check_url(given, reach),
        "events": lambda given: check_events(given, patterns),
        "environments": check_environments,
        "tags": tuple,
    }
    for name, check in checks.items():
        if checked.get(name) is not None:
            try:
                checked[name] = check(checked[name])
            except ValueError as error:
                raise invalid_field(name, str(error)) from None
    return checked
