"""Sends to where one signal is received, beside everything else: a receiver that is away or slow disturbs nothing."""

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Generic, TypeVar

import structlog

log = structlog.get_logger(__name__)

_GRACE_SECONDS = 5.0  # the exporter gives up by itself after its timeout, unless the answer comes byte by byte

_URL = re.compile(r" with url: \S+")  # whose query may have a key

Sent = TypeVar("Sent")
Result = TypeVar("Result")


class Receiver(Generic[Sent]):
    """The receiver of one signal. `failures` counts what it did not accept, after the exporter's own attempts."""

    def __init__(
        self,
        signal: str,
        export: Callable[[Sent], bool],
        *,
        close: Callable[[], None],
        logger: str,
        timeout_seconds: float,
    ) -> None:
        """`export` blocks for up to the timeout, and returns whether all was accepted; `logger` gets its reasons."""
        self._signal = signal
        self._export = export
        self._close = close
        self._timeout_seconds = timeout_seconds
        self._reasons = _Reasons()
        logging.getLogger(logger).addFilter(self._reasons)
        self.failures = 0
        self.is_working = True

    async def send(self, batch: Sent) -> bool:
        """Send something; return whether it was accepted. Only one call at a time."""
        self._reasons.last.clear()
        sending = _begin_in_thread(self._export, batch)
        try:
            _, late = await asyncio.wait([sending], timeout=self._timeout_seconds + _GRACE_SECONDS)
            if late:  # waited for all the same, so that no more threads hang
                self._record_failure("The answer does not end.")
            is_accepted = await sending
        finally:
            sending.cancel()
        if is_accepted:
            self._record_success()
        else:
            self._record_failure(" ".join(self._reasons.last))
        return is_accepted

    def close(self) -> None:
        """Close the connections, and end attempts that are waiting."""
        self._close()

    def _record_success(self) -> None:
        if not self.is_working:
            log.info("otlp_sent_again", signal=self._signal)
        self.is_working = True

    def _record_failure(self, reason: str) -> None:
        self.failures += 1
        if self.is_working:  # once, not at each attempt
            log.warning("otlp_not_sent", signal=self._signal, reason=reason)
        self.is_working = False


class _Reasons(logging.Filter):
    """Keeps what the exporter says instead of logging it: it repeats itself with every attempt.

    The last line says that it gives up, and the one before why the attempt failed.
    """

    def __init__(self) -> None:
        super().__init__()
        self.last: deque[str] = deque(maxlen=2)

    def filter(self, record: logging.LogRecord) -> bool:
        self.last.append(_URL.sub("", record.getMessage()))
        return False


def _begin_in_thread(work: Callable[[Sent], Result], given: Sent) -> asyncio.Future[Result]:
    """Call `work` in a thread for which the end of the process does not wait, and return its future result."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Result | None, error: BaseException | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)  # type: ignore[arg-type]
        else:
            future.set_exception(error)

    def run() -> None:
        result, error = None, None
        try:
            result = work(given)
        except BaseException as raised:  # noqa: BLE001 - the caller gets it
            error = raised
        with suppress(RuntimeError):  # the loop has ended in the meantime
            loop.call_soon_threadsafe(settle, result, error)

    Thread(target=run, name="otlp", daemon=True).start()
    return future
