"""Deliveries: messages to a webhook, and when the next attempt at one is made."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

CLIENT = "webhooks"
"""The client whose turns at the database sending takes: those of the lowest class, so no kill waits for it."""
KEPT = timedelta(days=30)
WAITING_MAX = 10_000
"""The number of messages that may wait for one webhook. The oldest are dropped beyond it."""
RECORDS_MAX = 10_000
"""The number of messages of a webhook that are kept although they do not wait."""
_HOUR = 3600.0
# As Standard Webhooks recommends, in seconds after the attempt before.
RETRY_SECONDS = (5.0, 300.0, 1800.0, 2 * _HOUR, 5 * _HOUR, 10 * _HOUR, 14 * _HOUR, 20 * _HOUR, 24 * _HOUR)
ATTEMPTS_MAX = len(RETRY_SECONDS) + 1
_JITTER = 0.1
_LONGEST_WAIT_SECONDS = 24 * _HOUR


class State(StrEnum):
    """The state of a delivery."""

    WAITING = "waiting"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at a delivery: the response's status and first kilobyte, or why there was no response."""

    at: datetime
    milliseconds: int
    status: int | None
    error: str | None
    answer: str | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message to a webhook: about the changes or the notice with these numbers, or about nothing, as a test.

    Its number orders the messages of a webhook, and is part of the message's id, which is the same in all attempts.
    """

    number: int
    webhook_id: UUID
    project_id: UUID | None
    first_change: int | None
    last_change: int | None
    type: str | None
    state: State
    attempts: int
    created_at: datetime
    revision: int | None
    next_attempt_at: datetime | None
    notice: int | None
    made: Sequence[Attempt] = ()

    @property
    def message_id(self) -> str:
        """The header `webhook-id`."""
        return f"msg_{self.webhook_id.hex[-12:]}_{self.number}"

    @property
    def is_test(self) -> bool:
        """True if it is about nothing."""
        return self.first_change is None and self.notice is None


def next_attempt(now: datetime, attempts: int, retry_after_seconds: float | None) -> datetime | None:
    """The time of the next attempt after so many failed ones; None after the last.

    It varies by a tenth, so that many messages do not come at once, and is not before the receiver wants it.
    """
    if attempts >= ATTEMPTS_MAX:
        return None
    seconds = RETRY_SECONDS[attempts - 1] * random.uniform(1 - _JITTER, 1 + _JITTER)  # noqa: S311 - no secret
    wanted = min(retry_after_seconds or 0.0, _LONGEST_WAIT_SECONDS)
    return now + timedelta(seconds=max(seconds, wanted))
