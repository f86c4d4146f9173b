"""Sends messages to webhooks: in order for each, and each webhook by one process at a time.

A message was written with its change. It is sent until its receiver has accepted it: at least once, because a process
can end between a response and its record. Nothing here is on the way of a request.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import datetime
from time import monotonic, perf_counter
from typing import Any
from uuid import UUID

import structlog

from flagstaff.concurrency.supervisor import Supervisor, is_set_within
from flagstaff.database.database import Connection, Database
from flagstaff.hooks import deliveries_store
from flagstaff.hooks.batches import Batch, Batches, Result
from flagstaff.hooks.client.answers import Answer, SendError
from flagstaff.hooks.client.lazy_client import LazyClient
from flagstaff.hooks.deliveries import KEPT, WAITING_MAX, Attempt, Delivery, State, next_attempt
from flagstaff.hooks.messages import Event, compose
from flagstaff.hooks.signing import sign
from flagstaff.hooks.webhooks import Disabled, Webhook
from flagstaff.identity.administration.administrators_store import list_administrators
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Error

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0
_BETWEEN_SECONDS = 0.02
TURN_SECONDS = 30.0  # after its last attempt, another process may go on
_RENEWED_AFTER_SECONDS = TURN_SECONDS / 3  # an attempt takes a quarter of a turn at most
_AT_ONCE = 64
_AT_ONCE_OF_PROJECT = 20  # as many webhooks as a project may have by default, so that none waits for another
_PURGED_AT_ONCE = 500
_GONE = 410
_OK = range(200, 300)
_USER_AGENT = "Flagstaff-Webhooks/1"
_UNREADABLE = "The secret cannot be read, because FLAGSTAFF_SECRET_KEY has changed since. Rotate the secret."
_LONGEST_WORK_SECONDS = 10.0  # for one webhook, before others get their turn
_DUE_MAX = 1000


class Sender:
    """Sends what waits. `sent` counts messages that were accepted, and `failures` attempts that were not."""

    def __init__(
        self,
        database: Database,
        now: Callable[[], datetime],
        sealer: Sealer,
        client: LazyClient,
        supervisor: Supervisor,
        *,
        public_url: str,
        tell_administrator: Callable[[str, str, str, str], Coroutine[Any, Any, None]],
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """`tell_administrator` mails that a webhook of the instance is off: address, host, page's path, reason."""
        self._database, self._now, self._client = database, now, client
        self._supervisor, self._tell_administrator = supervisor, tell_administrator
        self._batches = Batches(database, now, sealer, public_url)
        self._look_seconds = look_seconds
        self._woken = asyncio.Event()
        self._running: dict[UUID, asyncio.Task[None]] = {}
        self._busy: Counter[UUID | None] = Counter()
        """The number of webhooks of each project that are being sent to; None stands for the instance."""
        self._served: dict[UUID, float] = {}
        self.sent = self.failures = self.dropped = 0
        self._oldest: datetime | None = None
        self._has_webhooks = False

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the counts of messages and attempts, and the lag."""
        metrics.add_counter("webhook_messages_sent", "Messages that webhooks have accepted.", lambda: self.sent)
        metrics.add_counter("webhook_failures", "Attempts that webhooks did not accept.", lambda: self.failures)
        metrics.add_counter(
            "webhook_messages_dropped", "Messages dropped because too many waited.", lambda: self.dropped
        )
        metrics.add_gauge("webhook_lag_seconds", "The age of the oldest message that waits.", self.lag_seconds, max)

    def wake(self) -> None:
        """Look for messages now: there is a new one."""
        self._woken.set()

    def notice_commit(self) -> None:
        """Look for messages soon, if there are webhooks: a change may have been written for them."""
        if self._has_webhooks:
            self._woken.set()

    def lag_seconds(self) -> float:
        """The age of the oldest message that waits for a webhook that is switched on; 0 if there is none."""
        return 0.0 if self._oldest is None else max(0.0, (self._now() - self._oldest).total_seconds())

    async def run(self) -> None:
        """Send what waits, until cancelled."""
        while True:
            self._woken.clear()
            await self.look()
            await is_set_within(self._woken, self._look_seconds)
            # The response to the change goes first, and changes that follow each other closely are one look.
            await asyncio.sleep(_BETWEEN_SECONDS)

    async def look(self) -> bool:
        """Begin to send to the webhooks with a message that is due; return whether any is being sent to."""
        async with self._database.read() as connection:
            self._has_webhooks = await deliveries_store.has_webhooks(connection)
            if not self._has_webhooks:
                self._oldest = None
                return False
        for each in await self._batches.end_without_owner():
            await self._tell_administrators(each, Disabled.NO_OWNER)
        async with self._database.read() as connection:
            due = await deliveries_store.find_due(connection, self._now(), _DUE_MAX)
            self._oldest = await deliveries_store.find_oldest_waiting(connection)
        # Those that were served longest ago come first, and a project has a part only: slow receivers leave turns.
        self._served = {each: self._served[each] for each in due if each in self._served}
        idle = sorted((each for each in due if each not in self._running), key=lambda each: self._served.get(each, 0.0))
        for webhook_id in idle:
            if len(self._running) < _AT_ONCE and self._busy[due[webhook_id]] < _AT_ONCE_OF_PROJECT:
                self._begin(webhook_id, due[webhook_id])
        return bool(self._running)

    def _begin(self, webhook_id: UUID, project_id: UUID | None) -> None:
        """Begin to send to a webhook."""
        self._served[webhook_id] = monotonic()
        self._busy[project_id] += 1
        task = self._supervisor.spawn(f"webhook-{webhook_id}", self._serve_logged(webhook_id))
        self._running[webhook_id] = task

        def end(_: asyncio.Task[None]) -> None:
            del self._running[webhook_id]
            self._busy -= Counter({project_id: 1})  # which forgets projects with none

        task.add_done_callback(end)

    async def finish(self) -> None:
        """Wait for the webhooks that are sent to now. For tests and a stop."""
        while self._running:
            await asyncio.wait(self._running.values())

    async def purge(self) -> None:
        """Delete messages that are older than 30 days, some at a time, and drop what is beyond the bound.

        The next attempt of a webhook whose receiver fails can be a day away, and drops nothing until then.
        """
        async with self._database.read() as connection:
            overflowing = await deliveries_store.list_overflowing(connection, WAITING_MAX)
        for webhook_id in overflowing:
            async with self._database.transaction() as transaction:
                await self._drop_beyond(transaction.connection, webhook_id)
        deleted = _PURGED_AT_ONCE
        while deleted == _PURGED_AT_ONCE:
            async with self._database.transaction() as transaction:
                deleted = await deliveries_store.purge(transaction.connection, self._now() - KEPT, _PURGED_AT_ONCE)

    async def _serve_logged(self, webhook_id: UUID) -> None:
        try:
            await self._serve(webhook_id)
        except Error as error:
            log.warning("webhook_not_sent", webhook=str(webhook_id), reason=error.message)
        except Exception:  # the edge of a background task: others go on, and it is looked at again
            log.exception("webhook_not_sent", webhook=str(webhook_id))

    async def _serve(self, webhook_id: UUID) -> None:
        """Send the messages to one webhook, as long as it is this process's turn and one is due."""
        if not await self._take_turn(webhook_id):
            return
        taken_at = began = monotonic()
        try:
            while (batch := await self._batches.read(webhook_id)) is not None:
                goes_on = await self._send(batch, until=taken_at + _RENEWED_AFTER_SECONDS)
                if not goes_on or monotonic() - began > _LONGEST_WORK_SECONDS:
                    break
                if monotonic() - taken_at > _RENEWED_AFTER_SECONDS:
                    taken_at = monotonic()
                    if not await self._take_turn(webhook_id):
                        break
        finally:
            await self._end_turn(webhook_id)

    async def _take_turn(self, webhook_id: UUID) -> bool:
        """Take or keep the turn, and drop what is beyond the bound. With SQLite, no other process sends."""
        if self._database.is_postgresql:
            async with self._database.transaction() as transaction:
                connection = transaction.connection
                has_turn = await deliveries_store.take_turn(
                    connection, webhook_id, self._database.instance, TURN_SECONDS
                )
                if has_turn:
                    await self._drop_beyond(connection, webhook_id)
            return has_turn
        async with self._database.read() as connection:
            is_within = await deliveries_store.find_oldest_kept(connection, webhook_id, WAITING_MAX) is None
        if not is_within:
            async with self._database.transaction() as transaction:
                await self._drop_beyond(transaction.connection, webhook_id)
        return True

    async def _drop_beyond(self, connection: Connection, webhook_id: UUID) -> None:
        if dropped := await deliveries_store.drop_beyond(connection, webhook_id, WAITING_MAX):
            self.dropped += dropped
            log.warning("webhook_messages_dropped", webhook=str(webhook_id), count=dropped)

    async def _end_turn(self, webhook_id: UUID) -> None:
        if self._database.is_postgresql:
            async with self._database.transaction() as transaction:
                await deliveries_store.end_turn(transaction.connection, webhook_id, self._database.instance)

    async def _send(self, batch: Batch, until: float) -> bool:
        """Send messages in order, but begin none after a moment; record what came of them.

        Return whether the next ones can follow.
        """
        results: list[Result] = []
        unwanted: list[int] = []
        try:
            for each in batch.messages:
                if each.event is None:
                    unwanted.append(each.delivery.number)
                    continue
                results.append(await self._attempt(batch, each.delivery, each.event))
                if not results[-1].lets_others_follow or monotonic() > until:
                    break
        finally:
            await self._batches.record(results, unwanted)
        self.sent += sum(each.state is State.DELIVERED for each in results)
        self.failures += sum(each.state is not State.DELIVERED for each in results)
        reason = next((each.disabled for each in results if each.disabled), None)
        if batch.webhook.project_id is None and reason is not None:
            await self._tell_administrators(batch.webhook, reason)
        return all(each.lets_others_follow for each in results)

    async def _attempt(self, batch: Batch, delivery: Delivery, event: Event) -> Result:
        """Send a message once."""
        webhook = batch.webhook
        body, at = compose(event, webhook.format), self._now()
        timestamp = int(at.timestamp())
        headers = {
            "content-type": "application/json",
            "user-agent": _USER_AGENT,
            "webhook-id": delivery.message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(batch.secrets, delivery.message_id, timestamp, body),
        }
        began, answer, failure = perf_counter(), None, None
        if not batch.secrets:
            failure = _UNREADABLE
        else:
            try:
                answer = await self._client.send(webhook.url, headers, body)
            except SendError as error:
                failure = str(error)
            except Exception:  # it must count as an attempt, or the message would be sent without end
                log.exception("webhook_attempt_failed", webhook=str(webhook.id))
                failure = "The attempt failed because of an error of the server, which is in its log."
        milliseconds = round((perf_counter() - began) * 1000)
        attempt = Attempt(at, milliseconds, answer and answer.status, failure, answer and answer.text)
        return self._judge(webhook, delivery, event, attempt, answer)

    def _judge(
        self, webhook: Webhook, delivery: Delivery, event: Event, attempt: Attempt, answer: Answer | None
    ) -> Result:
        """Decide what comes of a message after an attempt."""
        accepted = answer is not None and answer.status in _OK
        gone = answer is not None and answer.status == _GONE
        waits_until = None
        if not accepted and not gone and not delivery.is_test:  # whoever has sent a test looks at what came of it
            waits_until = next_attempt(self._now(), delivery.attempts + 1, answer and answer.retry_after_seconds)
        state = State.DELIVERED if accepted else State.FAILED if waits_until is None else State.WAITING
        disabled = None
        if state is State.FAILED and not delivery.is_test:
            disabled = Disabled.GONE if gone else Disabled.FAILED
        return Result(webhook, delivery, event, attempt, state, waits_until, disabled)

    async def _tell_administrators(self, webhook: Webhook, reason: Disabled) -> None:
        """Mail that a webhook of the instance is off. Of a project's, the notifier tells those who want to know."""
        async with self._database.read() as connection:
            addresses = await list_administrators(connection)
        for address in addresses:
            self._supervisor.start("mail", self._tell_administrator(address, webhook.host, "/admin/webhooks", reason))
