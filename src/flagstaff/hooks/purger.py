"""Deletes messages to webhooks that are too old or too many, some at a time."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import structlog

from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.database.database import Connection, Database
from flagstaff.hooks import deliveries_store
from flagstaff.hooks.deliveries import CLIENT, KEPT, RECORDS_MAX, WAITING_MAX
from flagstaff.telemetry.metrics import Metrics

log = structlog.get_logger(__name__)

_AT_ONCE = 500


@dataclass(slots=True)
class Purger:
    """Deletes messages. `dropped` counts those that waited and were never sent."""

    database: Database
    now: Callable[[], datetime]
    dropped: int = field(default=0, init=False)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the dropped messages."""
        metrics.add_counter(
            "webhook_messages_dropped", "Messages dropped because too many waited.", lambda: self.dropped
        )

    async def purge(self) -> None:
        """Delete messages that are older than 30 days or beyond their bounds, of all webhooks.

        The next attempt of a webhook whose receiver fails can be a day away, and drops nothing until then.
        """
        async with self.database.read() as connection:
            overflowing = await deliveries_store.list_overflowing(connection, WAITING_MAX)
            recorded = await deliveries_store.list_overflowing(connection, RECORDS_MAX, waits=False)
        for each in overflowing:
            await self.drop_beyond(each)
        for each in recorded:
            await self._repeat(
                partial(deliveries_store.purge_beyond, webhook_id=each, most=RECORDS_MAX, at_once=_AT_ONCE)
            )
        await self._repeat(partial(deliveries_store.purge, before=self.now() - KEPT, most=_AT_ONCE))

    async def drop_beyond(self, webhook_id: UUID) -> None:
        """Drop the oldest messages of a webhook beyond the bound on those that wait."""
        async with self.database.read() as connection:
            is_within = await deliveries_store.find_oldest_kept(connection, webhook_id, WAITING_MAX) is None
        if is_within:
            return
        count = await self._repeat(
            partial(deliveries_store.drop_beyond, webhook_id=webhook_id, most=WAITING_MAX, at_once=_AT_ONCE)
        )
        self.dropped += count
        log.warning("webhook_messages_dropped", webhook=str(webhook_id), count=count)

    async def _repeat(self, delete: Callable[[Connection], Coroutine[Any, Any, int]]) -> int:
        """Delete messages in short transactions, until few are left; return how many were deleted."""
        count, deleted = 0, _AT_ONCE
        while deleted == _AT_ONCE:
            with claiming(CLIENT, Priority.LONG):
                async with self.database.transaction() as transaction:
                    deleted = await delete(transaction.connection)
            count += deleted
        return count
