"""Reads the messages to a webhook that are due, some at a time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from flagstaff.changes.changes import COMMAND_LINE
from flagstaff.database.database import Connection, Database
from flagstaff.hooks import deliveries_store, webhooks_store
from flagstaff.hooks.deliveries import Delivery
from flagstaff.hooks.events_service import Events
from flagstaff.hooks.messages import Event
from flagstaff.hooks.pace import TURN
from flagstaff.hooks.webhooks import Disabled, Webhook
from flagstaff.hooks.webhooks_service import switch_off
from flagstaff.identity.second_factors.sealing import Sealer

_READ_AT_ONCE = 50  # of which a turn's are sent, and those before them that the webhook does not want are deleted


class Message(NamedTuple):
    """A message to send, and its content."""

    delivery: Delivery
    event: Event


@dataclass(frozen=True, slots=True)
class Batch:
    """The next messages to a webhook, in order, and the secrets that sign them, newest first.

    `unwanted` are the numbers of messages before the last of them that the webhook does not want.
    """

    webhook: Webhook
    secrets: tuple[str, ...]
    messages: Sequence[Message]
    unwanted: Sequence[int]


@dataclass(frozen=True, slots=True)
class Batches:
    """Reads the messages."""

    database: Database
    now: Callable[[], datetime]
    sealer: Sealer
    public_url: str

    async def read(self, webhook_id: UUID) -> Batch | None:
        """The next messages to a webhook that are due, at most as many as a turn has, if there are any."""
        now = self.now()
        async with self.database.read() as connection:
            found = await deliveries_store.find_next(connection, webhook_id, _READ_AT_ONCE)
            due: list[Delivery] = []
            for each in found:
                if (each.next_attempt_at or now) > now:
                    break
                due.append(each)
            webhook = await webhooks_store.find_webhook(connection, webhook_id) if due else None
            if webhook is None or webhook in await webhooks_store.list_without_owner(connection):
                return None
            messages, unwanted = await self._find_events(connection, webhook, due)
            secrets = await self._read_secrets(connection, webhook_id, now)
        return Batch(webhook, secrets, messages, unwanted)

    async def end_without_owner(self) -> list[Webhook]:
        """Switch off the webhooks of the instance whose owner is not an administrator any more, and return them."""
        async with self.database.read() as connection:
            if not await webhooks_store.list_without_owner(connection):
                return []
        async with self.database.transaction() as transaction:
            ended = await webhooks_store.list_without_owner(transaction.connection, for_update=True)
            for each in ended:
                await switch_off(transaction, each, Disabled.NO_OWNER, COMMAND_LINE, self.now())
        return ended

    async def _find_events(
        self, connection: Connection, webhook: Webhook, due: Sequence[Delivery]
    ) -> tuple[list[Message], list[int]]:
        """The messages that are wanted, and the numbers of others. The first that is no test names the dropped ones."""
        untold = await deliveries_store.count_untold(connection, webhook.id)
        events = Events(connection, self.public_url)
        messages: list[Message] = []
        unwanted: list[int] = []
        for each in due:
            event = await events.find(webhook, each, untold)
            if event is None:
                unwanted.append(each.number)
                continue
            messages.append(Message(each, event))
            if not each.is_test:
                untold = 0
            if len(messages) == TURN:
                break
        return messages, unwanted

    async def _read_secrets(self, connection: Connection, webhook_id: UUID, now: datetime) -> tuple[str, ...]:
        stored = await webhooks_store.read_secrets(connection, webhook_id)
        sealed = [stored.present]
        if stored.previous is not None and stored.previous_until is not None and stored.previous_until > now:
            sealed.append(stored.previous)
        opened = [self.sealer.open(each, webhook_id.bytes) for each in sealed]
        return tuple(each.decode() for each in opened if each is not None)
