"""Sends messages to webhooks: in order for each, and each webhook by one process at a time.

A message was written with its change. It is sent until its receiver has accepted it: at least once, because a process
can end between a response and its record. Nothing here is on the way of a request, and no webhook's messages keep
others' waiting: webhooks are served in turns, at a pace.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Mapping
from datetime import datetime
from itertools import zip_longest
from time import monotonic
from typing import Any
from uuid import UUID

import structlog

from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.concurrency.supervisor import Supervisor, is_set_within
from flagstaff.hooks import deliveries_store
from flagstaff.hooks.attempts import Attempts
from flagstaff.hooks.batches import Batch, Batches
from flagstaff.hooks.deliveries import CLIENT, State
from flagstaff.hooks.pace import TURN, Pace
from flagstaff.hooks.purger import Purger
from flagstaff.hooks.recorder import Recorder, Result
from flagstaff.hooks.webhooks import Disabled, Webhook
from flagstaff.identity.administration.administrators_store import list_administrators
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Error

log = structlog.get_logger(__name__)

LOOK_SECONDS = 1.0
_BETWEEN_SECONDS = 0.02
TURN_SECONDS = 30.0  # after its last attempt, another process may go on
_RENEWED_AFTER_SECONDS = TURN_SECONDS / 3  # an attempt takes a quarter of a turn at most
_AT_ONCE = 64
_AT_ONCE_OF_PROJECT = 20  # as many webhooks as a project may have by default, so that none waits for another
_LONGEST_WORK_SECONDS = 10.0  # for one webhook, before others get their turn
_DUE_MAX = 1000
_REMEMBERED = 20_000  # the webhooks and projects that were served last
_FIRST = UUID(int=0)


class Sender:
    """Sends what waits. `sent` counts messages that were accepted, and `failures` attempts that were not."""

    def __init__(
        self,
        batches: Batches,
        attempts: Attempts,
        recorder: Recorder,
        purger: Purger,
        pace: Pace,
        supervisor: Supervisor,
        *,
        tell_administrator: Callable[[str, str, str, str], Coroutine[Any, Any, None]],
        look_seconds: float = LOOK_SECONDS,
    ) -> None:
        """`tell_administrator` mails that a webhook of the instance is off: address, host, page's path, reason."""
        self._database, self._now = batches.database, batches.now
        self._batches, self._attempts, self._recorder, self._purger = batches, attempts, recorder, purger
        self._supervisor, self._tell_administrator = supervisor, tell_administrator
        self._pace, self._is_stopping = pace, False
        self._look_seconds = look_seconds
        self._woken = asyncio.Event()
        self._running: dict[UUID, asyncio.Task[None]] = {}
        self._busy: Counter[UUID | None] = Counter()
        """The number of webhooks of each project that are being sent to; None stands for the instance."""
        self._served: dict[UUID | None, float] = {}
        """When webhooks and projects were served last, those of longest ago first."""
        self._after, self._is_crowded = _FIRST, False
        self.sent = self.failures = self.named = 0
        self._oldest: datetime | None = None
        self._has_webhooks = False

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the counts of messages and attempts, and the lag."""
        metrics.add_counter("webhook_messages_sent", "Messages that webhooks have accepted.", lambda: self.sent)
        metrics.add_counter("webhook_failures", "Attempts that webhooks did not accept.", lambda: self.failures)
        metrics.add_counter(
            "webhook_messages_missed",
            "Messages of which receivers were told that they are missing.",
            lambda: self.named,
        )
        metrics.add_gauge("webhook_lag_seconds", "The age of the oldest message that waits.", self.lag_seconds, max)
        metrics.add_gauge("webhook_turns_waiting", "Webhooks that wait for the pace.", lambda: self._pace.waiting)
        metrics.add_counter("webhook_records", "Transactions with results.", lambda: self._recorder.written)

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
        due = await self._find_due()
        idle = {each: project_id for each, project_id in due.items() if each not in self._running}
        for webhook_id in self._in_turns(idle):
            if len(self._running) < _AT_ONCE and self._busy[idle[webhook_id]] < _AT_ONCE_OF_PROJECT:
                self._begin(webhook_id, idle[webhook_id])
        self._is_crowded = len(self._running) >= _AT_ONCE and any(each not in self._running for each in idle)
        return bool(self._running)

    async def _find_due(self) -> Mapping[UUID, UUID | None]:
        """The next webhooks in the order of their ids, so that each comes up however many there are."""
        async with self._database.read() as connection:
            due = await deliveries_store.find_due(connection, self._now(), self._after, _DUE_MAX)
            self._oldest = await deliveries_store.find_oldest_waiting(connection)
        is_rest, was_all = len(due) < _DUE_MAX, self._after == _FIRST
        self._after = _FIRST if is_rest else max(due)
        return due if due or was_all else await self._find_due()

    def _in_turns(self, due: Mapping[UUID, UUID | None]) -> Iterable[UUID]:
        """Webhooks in their order: one of each project, then the next one of each.

        Those that were served longest ago come first, and projects to whose webhooks nothing is being sent.
        """
        of_projects: dict[UUID | None, list[UUID]] = {}
        for each in sorted(due, key=lambda each: self._served.get(each, 0.0)):
            of_projects.setdefault(due[each], []).append(each)
        projects = sorted(of_projects, key=lambda each: (self._busy[each], self._served.get(each, 0.0)))
        rounds = zip_longest(*(of_projects[each] for each in projects))
        return (each for some in rounds for each in some if each is not None)

    def _begin(self, webhook_id: UUID, project_id: UUID | None) -> None:
        """Begin to send to a webhook."""
        for each in (webhook_id, project_id):
            self._served.pop(each, None)
            self._served[each] = monotonic()
        while len(self._served) > _REMEMBERED:
            del self._served[next(iter(self._served))]
        self._busy[project_id] += 1
        task = self._supervisor.spawn(f"webhook-{webhook_id}", self._serve_logged(webhook_id, project_id))
        self._running[webhook_id] = task

        def end(_: asyncio.Task[None]) -> None:
            del self._running[webhook_id]
            self._busy -= Counter({project_id: 1})  # which forgets projects with none
            if self._is_crowded:
                self.wake()

        task.add_done_callback(end)

    def stop(self) -> None:
        """Begin no more attempts, and record those that were made without a pause."""
        self._is_stopping = True
        self._recorder.hurries.set()
        self._pace.open()

    async def finish(self) -> None:
        """Wait for the webhooks that are sent to now. For tests and a stop."""
        while self._running:
            await asyncio.wait(self._running.values())

    async def _serve_logged(self, webhook_id: UUID, project_id: UUID | None) -> None:
        try:
            with claiming(CLIENT, Priority.LONG):
                await self._serve(webhook_id, project_id)
        except Error as error:
            log.warning("webhook_not_sent", webhook=str(webhook_id), reason=error.message)
        except Exception:  # the edge of a background task: others go on, and it is looked at again
            log.exception("webhook_not_sent", webhook=str(webhook_id))

    async def _serve(self, webhook_id: UUID, project_id: UUID | None) -> None:
        """Send the messages to one webhook, as long as it is this process's turn, one is due, and others do not wait.

        What is sent is read after the wait for the pace: meanwhile, another process may have sent it.
        """
        began, taken_at, goes_on = monotonic(), None, True
        try:
            while goes_on:
                await self._pace.take(project_id, webhook_id)
                made = 0
                try:
                    if self._is_stopping:
                        break
                    if taken_at is None or monotonic() - taken_at > _RENEWED_AFTER_SECONDS:
                        if not await self._take_turn(webhook_id):
                            break
                        taken_at = monotonic()
                    batch = await self._batches.read(webhook_id)
                    if batch is None:
                        break
                    results = await self._send(batch, until=taken_at + _RENEWED_AFTER_SECONDS)
                    made = len(results)
                finally:
                    self._pace.give_back(project_id, TURN - made)
                goes_on = all(each.lets_others_follow for each in results) and not self._is_crowded
                goes_on = goes_on and monotonic() - began <= _LONGEST_WORK_SECONDS
        finally:
            if taken_at is not None:
                await self._end_turn(webhook_id)

    async def _take_turn(self, webhook_id: UUID) -> bool:
        """Take or keep the turn, and drop what is beyond the bound. With SQLite, no other process sends."""
        if self._database.is_postgresql:
            async with self._database.transaction() as transaction:
                has_turn = await deliveries_store.take_turn(
                    transaction.connection, webhook_id, self._database.instance, TURN_SECONDS
                )
            if not has_turn:
                return False
        await self._purger.drop_beyond(webhook_id)
        return True

    async def _end_turn(self, webhook_id: UUID) -> None:
        if self._database.is_postgresql:
            async with self._database.transaction() as transaction:
                await deliveries_store.end_turn(transaction.connection, webhook_id, self._database.instance)

    async def _send(self, batch: Batch, until: float) -> list[Result]:
        """Send messages in order, but begin none after a moment; record what came of them, and return it."""
        results: list[Result] = []
        try:
            for each in batch.messages:
                results.append(await self._attempts.make(batch, each))
                if not results[-1].lets_others_follow or monotonic() > until or self._is_stopping:
                    break
        finally:
            await self._recorder.record(results, batch.unwanted)
        self.sent += sum(each.state is State.DELIVERED for each in results)
        self.failures += sum(each.state is not State.DELIVERED for each in results)
        self.named += sum(each.names_dropped for each in results)
        reason = next((each.disabled for each in results if each.disabled), None)
        if batch.webhook.project_id is None and reason is not None:
            await self._tell_administrators(batch.webhook, reason)
        return results

    async def _tell_administrators(self, webhook: Webhook, reason: Disabled) -> None:
        """Mail that a webhook of the instance is off. Of a project's, the notifier tells those who want to know."""
        async with self._database.read() as connection:
            addresses = await list_administrators(connection)
        for address in addresses:
            self._supervisor.start("mail", self._tell_administrator(address, webhook.host, "/admin/webhooks", reason))
