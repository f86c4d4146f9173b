"""Records the results of attempts at messages: of all webhooks together, some at a time, a few times a second.

With SQLite there is one writer, and a transaction for each message would keep people's changes waiting. A webhook gets
no further message until its results are stored, so only the messages of one turn can be sent again after a kill.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import monotonic

from flagstaff.changes.changes import COMMAND_LINE
from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.concurrency.supervisor import is_set_within
from flagstaff.database.database import Connection, Database
from flagstaff.hooks import deliveries_store, webhooks_store
from flagstaff.hooks.deliveries import CLIENT, Attempt, Delivery, State
from flagstaff.hooks.deliveries_store import Tried
from flagstaff.hooks.messages import Event
from flagstaff.hooks.webhooks import Disabled, Webhook
from flagstaff.hooks.webhooks_service import switch_off
from flagstaff.projects import projects_store
from flagstaff.values.errors import Code, Error

RECORDED_AT_ONCE = 50
"""The number of messages in a transaction, after which another webhook's results wait for the next one."""
_BETWEEN_SECONDS = 0.2
_TRIED_SECONDS = 15.0  # a database that is busy for longer is told again what came of a second attempt


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

    @property
    def names_dropped(self) -> int:
        """The number of dropped messages that the receiver now knows of."""
        return self.event.dropped if self.state is State.DELIVERED and not self.delivery.is_test else 0

    @property
    def tried(self) -> Tried:
        """The result as it is stored."""
        return Tried(self.delivery, self.event.type, self.attempt, self.state, self.next_attempt_at)


@dataclass(slots=True)
class _Entry:
    results: Sequence[Result]
    unwanted: Sequence[int]
    tried_until: float
    is_written: bool = False
    error: Exception | None = None

    @property
    def numbers(self) -> list[int]:
        """The numbers of its messages."""
        return [*(each.delivery.number for each in self.results), *self.unwanted]


@dataclass(slots=True)
class Recorder:
    """Records results. `written` counts the transactions; `hurries` is set at a stop, which waits for no pause."""

    database: Database
    now: Callable[[], datetime]
    between_seconds: float = _BETWEEN_SECONDS
    written: int = field(default=0, init=False)
    hurries: asyncio.Event = field(default_factory=asyncio.Event, init=False)
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _waiting: list[_Entry] = field(default_factory=list, init=False)
    _next_at: float = field(default=0.0, init=False)

    async def record(self, results: Sequence[Result], unwanted: Sequence[int]) -> None:
        """Write what came of messages, and delete the unwanted ones, together with the results of other webhooks."""
        recorded = [each for each in results if each.disabled is None]
        entry = _Entry(recorded, unwanted, monotonic() + _TRIED_SECONDS)
        if entry.results or entry.unwanted:
            self._waiting.append(entry)
            async with self._lock:
                while not entry.is_written and entry.error is None:
                    await self._pause()
                    await self._write_some()
            if entry.error is not None:
                raise entry.error
        for each in results:
            if each.disabled is not None:
                await self._record_last(each, each.disabled)

    async def _pause(self) -> None:
        """Leave time between transactions, in which more results come together."""
        if (seconds := self._next_at - monotonic()) > 0:
            await is_set_within(self.hurries, seconds)

    async def _write_some(self) -> None:
        entries = self._take_some()
        try:
            with claiming(CLIENT, Priority.LONG):
                async with self.database.transaction() as transaction:
                    await _write(transaction.connection, entries)
        except Exception as error:  # noqa: BLE001 - everyone whose results these are raises it
            for entry in entries:
                if self._is_tried_again(entry, error):
                    self._waiting.append(entry)
                else:
                    entry.error = error
        except BaseException:  # a stop has cancelled this one; whoever waits writes them
            self._waiting[:0] = entries
            raise
        else:
            self.written += 1
            for entry in entries:
                entry.is_written = True
        finally:
            self._next_at = monotonic() + self.between_seconds

    def _is_tried_again(self, entry: _Entry, error: Exception) -> bool:
        """Return whether a busy database may take results later, which is better than to send their messages again."""
        is_busy = isinstance(error, Error) and error.code is Code.UNAVAILABLE
        return is_busy and monotonic() < entry.tried_until and not self.hurries.is_set()

    def _take_some(self) -> list[_Entry]:
        """The entries that have waited longest, for one transaction."""
        taken: list[_Entry] = []
        count = 0
        while self._waiting and (not taken or count + len(self._waiting[0].numbers) <= RECORDED_AT_ONCE):
            taken.append(self._waiting.pop(0))
            count += len(taken[-1].numbers)
        return taken

    async def _record_last(self, result: Result, reason: Disabled) -> None:
        """Record a failure after which there is no attempt, and switch the webhook off."""
        async with self.database.transaction() as transaction:
            connection, sent_to = transaction.connection, result.webhook
            if sent_to.project_id is not None:  # first, as every write to a project does
                await projects_store.find_project_for_update(connection, sent_to.project_id)
            webhook = await webhooks_store.find_webhook(connection, sent_to.id)
            if webhook is None or webhook.url != sent_to.url:
                return  # the message is sent to the new address
            if await deliveries_store.record_attempts(connection, [result.tried]) and webhook.enabled:
                await switch_off(transaction, webhook, reason, COMMAND_LINE, self.now())


async def _write(connection: Connection, entries: Sequence[_Entry]) -> None:
    """Write entries. What has another state by now was sent by another process, and stays as it is."""
    results = [result for entry in entries for result in entry.results]
    unwanted = [number for entry in entries for number in entry.unwanted]
    await deliveries_store.hold_webhooks(connection, [*(each.delivery.number for each in results), *unwanted])
    # Before the messages, in the order in which an update of the webhook locks both, and webhooks in one order.
    naming = sorted((each for each in results if each.names_dropped), key=lambda each: each.webhook.id)
    for each in naming:
        await deliveries_store.record_told(connection, each.webhook.id, each.names_dropped)
    written = await deliveries_store.record_attempts(connection, [each.tried for each in results])
    for each in naming:
        if each.delivery.number not in written:
            await deliveries_store.record_told(connection, each.webhook.id, -each.names_dropped)
    if unwanted:
        await deliveries_store.settle_unwanted(connection, unwanted)
