"""Webhooks of a project, or of the whole instance, and their deliveries."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.audit.changes import Actor, Scope, change_of
from flagstaff.audit.changes_store import record
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.hooks import deliveries_store, webhooks_store
from flagstaff.hooks.addresses import Networks
from flagstaff.hooks.deliveries import Delivery, State
from flagstaff.hooks.webhooks import (
    INSTANCE_EVENTS,
    PROJECT_EVENTS,
    ROTATION_LIFETIME,
    TEST_EVENT,
    Disabled,
    Webhook,
    check_environments,
    check_events,
    check_url,
    host_of,
    new_secret,
)
from flagstaff.hooks.webhooks_store import Health
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.projects.access import hold_administrators, open_membership, require_administrator
from flagstaff.projects.permissions import Permission, require
from flagstaff.projects.preconditions import ANY_STATE, Precondition
from flagstaff.values.errors import invalid_field
from flagstaff.values.quotas import Quota

REPEATED_MAX = 1000
_MICROSECOND = timedelta(microseconds=1)


class WatchedWebhook(NamedTuple):
    """A webhook, and how it fares."""

    webhook: Webhook
    health: Health


class DeliveriesPage(NamedTuple):
    """Some deliveries, newest first, and the number that the next page is before; None at the end."""

    items: Sequence[Delivery]
    next_before: int | None


@dataclass(frozen=True, slots=True)
class Webhooks:
    """The use cases of webhooks. `project_id` is None for those of the whole instance, which administrators manage.

    Those of a project need the permissions to manage its keys and to read its audit trail, in the whole project: a
    message has what the trail has of every environment. All raise Error NOT_FOUND for a project of which the actor is
    not a member.
    """

    database: Database
    now: Callable[[], datetime]
    quota: Quota
    sealer: Sealer
    networks: Networks
    wake: Callable[[], None]

    async def list_webhooks(self, actor: Actor, project_id: UUID | None) -> list[WatchedWebhook]:
        """The webhooks, oldest first."""
        async with self.database.read() as connection:
            await _open(connection, actor, project_id)
            found = await webhooks_store.list_webhooks(connection, project_id)
            health = await webhooks_store.read_health(connection, [each.id for each in found])
        return [WatchedWebhook(each, health[each.id]) for each in found]

    async def get_webhook(self, actor: Actor, project_id: UUID | None, webhook_id: UUID) -> WatchedWebhook:
        """One webhook."""
        async with self.database.read() as connection:
            await _open(connection, actor, project_id)
            return await _watch(connection, await webhooks_store.get_webhook(connection, project_id, webhook_id))

    async def create_webhook(self, actor: Actor, project_id: UUID | None, **values: Any) -> tuple[WatchedWebhook, str]:
        """Create a webhook; returned together with its secret, which is not shown again.

        Raises:
            Error: INVALID for a URL, an event or an environment that is not accepted, FORBIDDEN, CONFLICT without room.
        """
        secret, now = new_secret(), self.now()
        webhook = Webhook(
            id=uuid7(),
            project_id=project_id,
            host="",
            disabled_reason=None,
            created_at=now,
            updated_at=now,
            **self._checked(values, project_id),
        )
        webhook = replace(webhook, host=host_of(webhook.url))
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await _open_for_update(connection, actor, project_id)
            self.quota.require_room(await webhooks_store.count_webhooks(connection, project_id))
            await webhooks_store.create_webhook(connection, webhook, self._seal(webhook, secret))
            await self._record(transaction, actor, "webhook.created", after=webhook)
            watched = await _watch(connection, webhook)
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
        """Update those of a webhook's fields that are given. Equal values change nothing.

        One that is switched on again is sent what has waited, at once.

        Raises:
            Error: As `create_webhook`.
        """
        checked = self._checked(values, project_id)
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            webhook = await _find_for_update(connection, actor, project_id, webhook_id, precondition)
            updated = replace(webhook, **checked)
            if updated != webhook:
                updated = replace(
                    updated,
                    host=host_of(updated.url),
                    disabled_reason=None if updated.enabled else webhook.disabled_reason,
                    updated_at=self._later_than(webhook),
                )
                await webhooks_store.update_webhook(connection, updated)
                if updated.enabled and not webhook.enabled:
                    await deliveries_store.make_due(connection, webhook_id)
                await self._record(transaction, actor, "webhook.updated", before=webhook, after=updated)
            watched = await _watch(connection, updated)
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
            webhook = await _find_for_update(transaction.connection, actor, project_id, webhook_id, precondition)
            await webhooks_store.delete_webhook(transaction.connection, webhook_id)
            await self._record(transaction, actor, "webhook.deleted", before=webhook)

    async def rotate_secret(
        self, actor: Actor, project_id: UUID | None, webhook_id: UUID
    ) -> tuple[WatchedWebhook, str]:
        """Replace the secret; for 24 hours, messages are signed with the one before, too."""
        secret = new_secret()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            webhook = await _find_for_update(connection, actor, project_id, webhook_id)
            until = self.now() + ROTATION_LIFETIME
            await webhooks_store.replace_secret(connection, webhook_id, self._seal(webhook, secret), until)
            updated = replace(webhook, updated_at=self._later_than(webhook))
            await webhooks_store.update_webhook(connection, updated)
            await self._record(transaction, actor, "webhook.secret_rotated", before=webhook, after=updated)
            return await _watch(connection, updated), secret

    async def send_test(self, actor: Actor, project_id: UUID | None, webhook_id: UUID) -> Delivery:
        """Send a message about no change, at once and also to a webhook that is switched off."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await _find_for_update(connection, actor, project_id, webhook_id)
            number = await deliveries_store.create_test(connection, webhook_id, TEST_EVENT, self.now())
            delivery = await deliveries_store.get_delivery(connection, webhook_id, number)
        self.wake()
        return delivery

    async def list_deliveries(
        self,
        actor: Actor,
        project_id: UUID | None,
        webhook_id: UUID,
        *,
        state: State | None,
        before: int | None,
        limit: int,
    ) -> DeliveriesPage:
        """The messages of the last 30 days, newest first, with their attempts."""
        async with self.database.read() as connection:
            await _open(connection, actor, project_id)
            await webhooks_store.get_webhook(connection, project_id, webhook_id)
            found = await deliveries_store.list_deliveries(connection, webhook_id, state, before, limit + 1)
        items = found[:limit]
        return DeliveriesPage(items, items[-1].number if len(found) > limit else None)

    async def repeat_delivery(self, actor: Actor, project_id: UUID | None, webhook_id: UUID, number: int) -> Delivery:
        """Send a message again, with the same id; one that waits stays as it is."""
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await _find_for_update(connection, actor, project_id, webhook_id)
            await deliveries_store.get_delivery(connection, webhook_id, number)
            await deliveries_store.repeat(connection, webhook_id, number=number, most=1)
            delivery = await deliveries_store.get_delivery(connection, webhook_id, number)
        self.wake()
        return delivery

    async def repeat_deliveries(
        self, actor: Actor, project_id: UUID | None, webhook_id: UUID, since: datetime, until: datetime
    ) -> int:
        """Send the messages about changes in a time again, at most a thousand of them; return how many."""
        if until <= since:
            raise invalid_field("to", "must be later than from")
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await _find_for_update(connection, actor, project_id, webhook_id)
            count = await deliveries_store.repeat(connection, webhook_id, since=since, until=until, most=REPEATED_MAX)
        self.wake()
        return count

    def _checked(self, values: dict[str, Any], project_id: UUID | None) -> dict[str, Any]:
        """The given values, checked; raises Error INVALID."""
        checked = dict(values)
        known = INSTANCE_EVENTS if project_id is None else PROJECT_EVENTS
        checks: dict[str, Callable[[Any], Any]] = {
            "url": lambda given: check_url(given, self.networks),
            "events": lambda given: check_events(given, known),
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

    def _seal(self, webhook: Webhook, secret: str) -> bytes:
        return self.sealer.seal(secret.encode(), webhook.id.bytes)

    def _later_than(self, webhook: Webhook) -> datetime:
        """A time of a change, which is also its tag."""
        return max(self.now(), webhook.updated_at + _MICROSECOND)

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


async def _open(connection: Connection, actor: Actor, project_id: UUID | None) -> None:
    if project_id is None:
        await require_administrator(connection, actor)
    else:
        _, member = await open_membership(connection, actor, project_id, Permission.KEYS_ROTATE)
        require(member, Permission.AUDIT_READ)


async def _open_for_update(connection: Connection, actor: Actor, project_id: UUID | None) -> None:
    if project_id is None:
        await hold_administrators(connection, actor)
    else:
        _, member = await open_membership(connection, actor, project_id, Permission.KEYS_ROTATE, for_update=True)
        require(member, Permission.AUDIT_READ)


async def _find_for_update(
    connection: Connection,
    actor: Actor,
    project_id: UUID | None,
    webhook_id: UUID,
    precondition: Precondition[WatchedWebhook] = ANY_STATE,
) -> Webhook:
    await _open_for_update(connection, actor, project_id)
    webhook = await webhooks_store.get_webhook(connection, project_id, webhook_id)
    await precondition.require(connection, await _watch(connection, webhook), webhook_id, project_id)
    return webhook


async def _watch(connection: Connection, webhook: Webhook) -> WatchedWebhook:
    return WatchedWebhook(webhook, (await webhooks_store.read_health(connection, [webhook.id]))[webhook.id])


async def switch_off(transaction: Transaction, webhook: Webhook, reason: Disabled, actor: Actor, now: datetime) -> None:
    """Switch a webhook off because of what its receiver has answered."""
    updated = replace(
        webhook, enabled=False, disabled_reason=reason, updated_at=max(now, webhook.updated_at + _MICROSECOND)
    )
    await webhooks_store.update_webhook(transaction.connection, updated)
    change = change_of(actor, "webhook.disabled", now, Scope(webhook.project_id), before=webhook, after=updated)
    await record(transaction, change)
