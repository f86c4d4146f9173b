"""Deliveries of webhooks: they are listed, shown and repeated, and tests are sent."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.hooks import deliveries_store, webhooks_store
from flagstaff.hooks.access import get_for_update, open_place
from flagstaff.hooks.deliveries import Delivery, State
from flagstaff.hooks.events_service import Events
from flagstaff.hooks.messages import compose
from flagstaff.hooks.repeats import Repeats
from flagstaff.hooks.webhooks import TEST_EVENT
from flagstaff.values.errors import invalid_field

REPEATED_MAX = 1000


class DeliveriesPage(NamedTuple):
    """Some deliveries, newest first, and the number that the next page is before; None at the end."""

    items: Sequence[Delivery]
    next_before: int | None


class ShownDelivery(NamedTuple):
    """A delivery, and the body of its message; None if there is nothing left that could be sent."""

    delivery: Delivery
    body: str | None


@dataclass(frozen=True, slots=True)
class Deliveries:
    """The use cases. All raise Error NOT_FOUND for a webhook that is not there or is not the actor's to use."""

    database: Database
    now: Callable[[], datetime]
    public_url: str
    wake: Callable[[], None]
    repeats: Repeats

    async def send_test(self, actor: Actor, project_id: UUID | None, webhook_id: UUID) -> Delivery:
        """Send a message about no change, at once and also to a webhook that is switched off."""
        with self.repeats.counting(webhook_id, actor.account_id) as repeated:
            async with self.database.transaction() as transaction:
                connection = transaction.connection
                await get_for_update(connection, actor, project_id, webhook_id)
                number = await deliveries_store.create_test(connection, webhook_id, TEST_EVENT, self.now())
                delivery = await deliveries_store.get_delivery(connection, webhook_id, number)
            repeated.count = 1
        self.wake()
        return delivery

    async def get_delivery(self, actor: Actor, project_id: UUID | None, webhook_id: UUID, number: int) -> ShownDelivery:
        """A message with its body, as it is sent; without the number of dropped ones, unless it waits.

        Of a webhook of the instance, without contents that the actor may not read.
        """
        async with self.database.read() as connection:
            await open_place(connection, actor, project_id)
            webhook = await webhooks_store.get_webhook(connection, project_id, webhook_id)
            delivery = await deliveries_store.get_delivery(connection, webhook_id, number)
            waits = delivery.state is State.WAITING
            dropped = await deliveries_store.count_untold(connection, webhook_id) if waits else 0
            event = await Events(connection, self.public_url, actor.account_id).find(webhook, delivery, dropped)
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
            await open_place(connection, actor, project_id)
            await webhooks_store.get_webhook(connection, project_id, webhook_id)
            found = await deliveries_store.list_deliveries(connection, webhook_id, state, before, limit + 1)
        items = found[:limit]
        return DeliveriesPage(items, items[-1].number if len(found) > limit else None)

    async def repeat_delivery(self, actor: Actor, project_id: UUID | None, webhook_id: UUID, number: int) -> Delivery:
        """Send a message again, with the same id; one that waits stays as it is."""
        with self.repeats.counting(webhook_id, actor.account_id) as repeated:
            async with self.database.transaction() as transaction:
                connection = transaction.connection
                await get_for_update(connection, actor, project_id, webhook_id)
                await deliveries_store.get_delivery(connection, webhook_id, number)
                count = await deliveries_store.repeat(connection, webhook_id, number=number, most=1)
                delivery = await deliveries_store.get_delivery(connection, webhook_id, number)
            repeated.count = count
        self.wake()
        return delivery

    async def repeat_deliveries(
        self, actor: Actor, project_id: UUID | None, webhook_id: UUID, since: datetime, until: datetime
    ) -> int:
        """Send the messages about changes in a time again, at most a thousand and as many as there is room for.

        Return how many.
        """
        if until <= since:
            raise invalid_field("to", "must be later than from")
        with self.repeats.counting(webhook_id, actor.account_id) as repeated:
            most = min(REPEATED_MAX, repeated.room)
            async with self.database.transaction() as transaction:
                connection = transaction.connection
                await get_for_update(connection, actor, project_id, webhook_id)
                count = await deliveries_store.repeat(connection, webhook_id, since=since, until=until, most=most)
            repeated.count = count
        self.wake()
        return count
