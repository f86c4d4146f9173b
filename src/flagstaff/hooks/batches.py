"""Reads the messages to a webhook that are due, some at a time, and records what came of them, of all webhooks at once.

A transaction for each message would cost more than the message, and would compete with people's changes for the
database: with SQLite, there is one writer.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from flagstaff.changes.changes import COMMAND_LINE
from flagstaff.database.database import Connection, Database
from flagstaff.hooks import deliveries_store, webhooks_store
from flagstaff.hooks.deliveries import Attempt, Delivery, State
from flagstaff.hooks.events_service import Events
from flagstaff.hooks.messages import Event
from flagstaff.hooks.webhooks import Disabled, Webhook
from flagstaff.hooks.webhooks_service import switch_off
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.projects import projects_store

AT_ONCE = 20
"""The number of messages that are read and recorded together: so many may be sent again after a kill."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message to send. `event` is None if its webhook does not want it."""

    delivery: Delivery
    event: Event | None


@dataclass(frozen=True, slots=True)
class Batch:
    """The next messages to a webhook, in order, and the secrets that sign them, newest first."""

    webhook: Webhook
    secrets: tuple[str, ...]
    messages: Sequence[Message]


@dataclass(frozen=True, slots=True)
class Result:
    """The result of an attempt at a message."""

    webhook: Webhook
    delivery: Delivery
    event: Event
    attempt: Attempt
    state: State
    next_attempt_at: datetime | None
    disabled: Disabled | None

    @property
    def lets_others_follow(self) -> bool:
        """True if the next message may be sent: after one that was accepted, and after a test."""
        return self.state is State.DELIVERED or self.delivery.is_test


@dataclass(slots=True)
class _Entry:
    results: Sequence[Result]
    unwanted: Sequence[int]
    is_written: bool = False
    error: Exception | None = None

    @property
    def numbers(self) -> list[int]:
        """The numbers of its messages."""
        return [*(each.delivery.number for each in self.results), *self.unwanted]


@dataclass(slots=True)
class Batches:
    """Reads and records. `lock` and `waiting` let the results of several webhooks share a transaction."""

    database: Database
    now: Callable[[], datetime]
    sealer: Sealer
    public_url: str
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _waiting: list[_Entry] = field(default_factory=list, init=False)

    async def read(self, webhook_id: UUID) -> Batch | None:
        """The next messages to a webhook that are due, if there are any."""
        now = self.now()
        async with self.database.read() as connection:
            found = await deliveries_store.find_next(connection, webhook_id, AT_ONCE)
            due: list[Delivery] = []
            for each in found:
                if (each.next_attempt_at or now) > now:
                    break
                due.append(each)
            webhook = await webhooks_store.find_webhook(connection, webhook_id) if due else None
            if webhook is None or webhook in await webhooks_store.list_without_owner(connection):
                return None
            messages = await self._find_events(connection, webhook, due)
            secrets = await self._read_secrets(connection, webhook_id, now)
        return Batch(webhook, secrets, messages)

    async def record(self, results: Sequence[Result], unwanted: Sequence[int]) -> None:
        """Write what came of messages, and delete the unwanted ones, together with the results of other webhooks."""
        entry = _Entry([each for each in results if each.disabled is None], unwanted)
        if entry.results or entry.unwanted:
            self._waiting.append(entry)
            async with self._lock:
                if not entry.is_written and entry.error is None:
                    await self._write_waiting()
            if entry.error is not None:
                raise entry.error
        for each in results:
            if each.disabled is not None:
                await self._record_last(each, each.disabled)

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

    async def _find_events(self, connection: Connection, webhook: Webhook, due: Sequence[Delivery]) -> list[Message]:
        """The events of messages. Those that were dropped are named by the first one that is no test."""
        untold = await deliveries_store.count_untold(connection, webhook.id)
        events, messages = Events(connection, self.public_url), []
        for each in due:
            event = await events.find(webhook, each, untold)
            messages.append(Message(each, event))
            if event is not None and not each.is_test:
                untold = 0
        return messages

    async def _read_secrets(self, connection: Connection, webhook_id: UUID, now: datetime) -> tuple[str, ...]:
        stored = await webhooks_store.read_secrets(connection, webhook_id)
        sealed = [stored.present]
        if stored.previous is not None and stored.previous_until is not None and stored.previous_until > now:
            sealed.append(stored.previous)
        opened = [self.sealer.open(each, webhook_id.bytes) for each in sealed]
        return tuple(each.decode() for each in opened if each is not None)

    async def _write_waiting(self) -> None:
        entries, self._waiting = self._waiting, []
        try:
            async with self.database.transaction() as transaction:
                numbers = [each for entry in entries for each in entry.numbers]
                await deliveries_store.hold_webhooks(transaction.connection, numbers)
                for entry in entries:
                    for result in entry.results:
                        await _write(transaction.connection, result)
                    if entry.unwanted:
                        await deliveries_store.settle_unwanted(transaction.connection, entry.unwanted)
        except Exception as error:  # noqa: BLE001 - everyone whose results these are raises it
            for entry in entries:
                entry.error = error
        except BaseException:  # a stop has cancelled this one; whoever waits writes them
            self._waiting[:0] = entries
            raise
        else:
            for entry in entries:
                entry.is_written = True

    async def _record_last(self, result: Result, reason: Disabled) -> None:
        """Record a failure after which there is no attempt, and switch the webhook off."""
        async with self.database.transaction() as transaction:
            connection, sent_to = transaction.connection, result.webhook
            if sent_to.project_id is not None:  # first, as every write to a project does
                await projects_store.find_project_for_update(connection, sent_to.project_id)
            webhook = await webhooks_store.find_webhook(connection, sent_to.id)
            if webhook is None or webhook.url != sent_to.url:
                return  # the message is sent to the new address
            if await _write(connection, result) and webhook.enabled:
                await switch_off(transaction, webhook, reason, COMMAND_LINE, self.now())


async def _write(connection: Connection, result: Result) -> bool:
    """Write a result; return False if another process has sent the message meanwhile."""
    delivery, event = result.delivery, result.event
    names_dropped = event.dropped and result.state is State.DELIVERED and not delivery.is_test
    if names_dropped:  # before the message, in the order in which an update of the webhook locks both
        await deliveries_store.record_told(connection, result.webhook.id, event.dropped)
    is_written = await deliveries_store.record_attempt(
        connection, delivery, event.type, result.attempt, result.state, result.next_attempt_at
    )
    if names_dropped and not is_written:
        await deliveries_store.record_told(connection, result.webhook.id, -event.dropped)
    return is_written
