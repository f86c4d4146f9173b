"""Webhooks of a project, or of the whole instance, and their deliveries."""

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from uuid_utils.compat import uuid7

from flagstaff.audit import changes_store
from flagstaff.audit.changes import Actor, NumberedChange, Scope, change_of
from flagstaff.audit.changes_store import record
from flagstaff.concurrency.pacing import Turns
from flagstaff.database.database import Connection, Database, Transaction
from flagstaff.hooks import deliveries_store, webhooks_store
from flagstaff.hooks.addresses import Reach
from flagstaff.hooks.deliveries import Delivery, State
from flagstaff.hooks.events_service import Events, were_made_together
from flagstaff.hooks.messages import compose
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
PREVIEWED_FOR = timedelta(days=1)
PREVIEWED_MAX = 500
"""The number of changes that a preview examines, the newest ones."""
SHOWN_MAX = 20
"""The number of messages that a preview shows."""
_READ_AT_ONCE = 50
_MICROSECOND = timedelta(microseconds=1)


class WatchedWebhook(NamedTuple):
    """A webhook, and how it fares."""

    webhook: Webhook
    health: Health


class DeliveriesPage(NamedTuple):
    """Some deliveries, newest first, and the number that the next page is before; None at the end."""

    items: Sequence[Delivery]
    next_before: int | None


class ShownDelivery(NamedTuple):
    """A delivery, and the body of its message; None if there is nothing left that could be sent."""

    delivery: Delivery
    body: str | None


class WouldBeSent(NamedTuple):
    """A message that would have been sent."""

    type: str
    at: datetime
    body: str


@dataclass(frozen=True, slots=True)
class Preview:
    """The messages that would have been sent about the changes since a moment, newest first.

    `count` is the number of all messages, of which the first ones are shown, and `examined` that of the changes.
    `since` is later than a day ago if there were too many.
    """

    since: datetime
    examined: int
    count: int
    messages: Sequence[WouldBeSent]


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
    reach: Reach
    public_url: str
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
            disabled_reason=None,
            created_at=now,
            updated_at=now,
            **self._checked(values, project_id),
        )
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await _open(connection, actor, project_id, for_update=True)
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
                    disabled_reason=None if updated.enabled else webhook.disabled_reason,
                    updated_at=_later_than(webhook, self.now()),
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
            updated = replace(webhook, updated_at=_later_than(webhook, self.now()))
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

    async def preview(self, actor: Actor, project_id: UUID | None, **values: Any) -> Preview:
        """The messages that a webhook with these values would have been sent about the last day's changes.

        Raises:
            Error: INVALID for an event or an environment that is not accepted, FORBIDDEN.
        """
        now = self.now()
        webhook = Webhook(
            id=uuid7(),
            project_id=project_id,
            url="",
            description=None,
            enabled=True,
            disabled_reason=None,
            created_at=now,
            updated_at=now,
            **self._checked(values, project_id),
        )
        since, examined, count = now - PREVIEWED_FOR, 0, 0
        messages: list[WouldBeSent] = []
        async with self.database.read() as connection:
            await _open(connection, actor, project_id)
            events, turns = Events(connection, self.public_url), Turns()
            async for group in _list_groups(connection, project_id, since, together=webhook.is_chat):
                await turns.give()
                examined += len(group)
                if examined >= PREVIEWED_MAX:
                    since = group[0].change.at
                event = await events.of_changes(webhook, group)
                if event is None:
                    continue
                count += 1
                if len(messages) < SHOWN_MAX:
                    messages.append(WouldBeSent(event.type, event.at, compose(event, webhook.format).decode()))
        return Preview(since, examined, count, messages)

    async def get_delivery(self, actor: Actor, project_id: UUID | None, webhook_id: UUID, number: int) -> ShownDelivery:
        """A message with its body, as it is sent; without the number of dropped ones, unless it waits."""
        async with self.database.read() as connection:
            await _open(connection, actor, project_id)
            webhook = await webhooks_store.get_webhook(connection, project_id, webhook_id)
            delivery = await deliveries_store.get_delivery(connection, webhook_id, number)
            waits = delivery.state is State.WAITING
            dropped = await deliveries_store.count_untold(connection, webhook_id) if waits else 0
            event = await Events(connection, self.public_url).find(webhook, delivery, dropped)
        return ShownDelivery(delivery, compose(event, webhook.format).decode() if event else None)

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
            "url": lambda given: check_url(given, self.reach),
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


async def _list_groups(
    connection: Connection, project_id: UUID | None, since: datetime, *, together: bool
) -> AsyncIterator[list[NumberedChange]]:
    """The newest changes since a time, newest first: each alone, or those that were made together.

    They are read some at a time: the states of each can have half a megabyte.
    """
    group: list[NumberedChange] = []
    before: int | None = None
    for _ in range(0, PREVIEWED_MAX, _READ_AT_ONCE):
        newest = await changes_store.list_newest(connection, project_id, before, _READ_AT_ONCE)
        for each in newest:
            if each.change.at < since:
                break
            if group and not (together and were_made_together(group[0], each) and len(group) < _READ_AT_ONCE):
                yield group[::-1]
                group = []
            group.append(each)
        else:
            if len(newest) == _READ_AT_ONCE:
                before = newest[-1].number
                continue
        break
    if group:
        yield group[::-1]


async def _open(connection: Connection, actor: Actor, project_id: UUID | None, *, for_update: bool = False) -> None:
    if project_id is None:
        await (hold_administrators if for_update else require_administrator)(connection, actor)
        return
    _, member = await open_membership(connection, actor, project_id, Permission.KEYS_ROTATE, for_update=for_update)
    require(member, Permission.AUDIT_READ)


async def _find_for_update(
    connection: Connection,
    actor: Actor,
    project_id: UUID | None,
    webhook_id: UUID,
    precondition: Precondition[WatchedWebhook] = ANY_STATE,
) -> Webhook:
    await _open(connection, actor, project_id, for_update=True)
    webhook = await webhooks_store.get_webhook(connection, project_id, webhook_id)
    await precondition.require(connection, await _watch(connection, webhook), webhook_id, project_id)
    return webhook


async def _watch(connection: Connection, webhook: Webhook) -> WatchedWebhook:
    return WatchedWebhook(webhook, (await webhooks_store.read_health(connection, [webhook.id]))[webhook.id])


async def switch_off(transaction: Transaction, webhook: Webhook, reason: Disabled, actor: Actor, now: datetime) -> None:
    """Switch a webhook off because of what its receiver has answered."""
    updated = replace(webhook, enabled=False, disabled_reason=reason, updated_at=_later_than(webhook, now))
    await webhooks_store.update_webhook(transaction.connection, updated)
    change = change_of(actor, "webhook.disabled", now, Scope(webhook.project_id), before=webhook, after=updated)
    await record(transaction, change)


def _later_than(webhook: Webhook, now: datetime) -> datetime:
    """A time of a change, which is also its tag."""
    return max(now, webhook.updated_at + _MICROSECOND)
