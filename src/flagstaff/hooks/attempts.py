"""Makes the attempts at messages: signs and sends each once, and decides by the response what comes of it."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from time import perf_counter

import structlog

from flagstaff.hooks.batches import Batch, Message
from flagstaff.hooks.client.answers import Answer, SendError
from flagstaff.hooks.client.lazy_client import LazyClient
from flagstaff.hooks.deliveries import Attempt, Delivery, State, next_attempt
from flagstaff.hooks.messages import Event, compose
from flagstaff.hooks.recorder import Result
from flagstaff.hooks.signing import sign
from flagstaff.hooks.webhooks import Disabled, Webhook

log = structlog.get_logger(__name__)

_GONE = 410
_OK = range(200, 300)
_USER_AGENT = "Flagstaff-Webhooks/1"
_UNREADABLE = "The secret cannot be read, because FLAGSTAFF_SECRET_KEY has changed since. Rotate the secret."


@dataclass(frozen=True, slots=True)
class Attempts:
    """Makes attempts with the client."""

    now: Callable[[], datetime]
    client: LazyClient

    async def make(self, batch: Batch, message: Message) -> Result:
        """Send a message once, and say what comes of it."""
        webhook, (delivery, event) = batch.webhook, message
        body, at = compose(event, webhook.format), self.now()
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
                answer = await self.client.send(webhook.url, headers, body)
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
            waits_until = next_attempt(self.now(), delivery.attempts + 1, answer and answer.retry_after_seconds)
        state = State.DELIVERED if accepted else State.FAILED if waits_until is None else State.WAITING
        disabled = None
        if state is State.FAILED and not delivery.is_test:
            disabled = Disabled.GONE if gone else Disabled.FAILED
        return Result(webhook, delivery, event, attempt, state, waits_until, disabled)
