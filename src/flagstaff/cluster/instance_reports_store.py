"""Stores the report of an instance while it renews its lease, and the change up to which it serves everything."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress

import msgspec

from flagstaff.cluster.instances import Report
from flagstaff.values.errors import Error

REPORT_SECONDS = 3.0

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(Report).decode


def encode_report(report: Report) -> str:
    """A report as JSON."""
    return _encode(report).decode()


def decode_report(text: str | bytes | None) -> Report | None:
    """The report in this JSON; None if there is none, or only one in the form of another release."""
    try:
        return _decode(text) if text else None
    except msgspec.DecodeError:
        return None


class Reporting:
    """Decides with which renewals of the lease a report goes.

    The number of the newest change is read after a renewal. When a renewal that begins later succeeds, the instance has
    received every message about changes up to it, and if it has loaded what they concern, it serves them.
    """

    def __init__(
        self,
        describe: Callable[[int | None], Report],
        read_newest: Callable[[], Awaitable[int]],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`describe` makes the report, with the number of a change up to which the instance serves everything.

        `read_newest` returns the number of the newest change that is committed, or raises Error UNAVAILABLE.
        """
        self._describe = describe
        self._read_newest = read_newest
        self._clock = clock
        self._due_at = clock()
        self._served: int | None = None
        self._newest: int | None = None
        self._found: int | None = None  # the newest, read since the last renewal began
        self._has_heard = True
        self._has_news = False  # of what it serves

    def record_change(self) -> None:
        """A change has been committed, here or elsewhere."""
        self._has_heard = True

    def report_due(self) -> str | None:
        """The report for the next renewal, which begins now, if it is time for one."""
        if self._found is not None:
            self._newest, self._found = self._found, None
        now = self._clock()
        if now >= self._due_at:
            self._due_at = now + REPORT_SECONDS
            self._has_heard = True  # not all changes are announced
        elif not self._has_news:
            return None
        self._has_news = False
        return encode_report(self._describe(self._served))

    def record_renewal(self, *, is_serving_all: bool) -> bool:
        """Note that the lease was renewed; return whether to `find_newest` now.

        `is_serving_all` is whether everything has been loaded of which this instance has heard, and none was missed.
        """
        if is_serving_all and self._newest is not None and self._newest != self._served:
            self._served = self._newest
            self._has_news = True
        asks, self._has_heard = self._has_heard, False
        return asks

    async def find_newest(self) -> None:
        """Read the number of the newest change; without the database, it is asked for again with the next report."""
        with suppress(Error, TimeoutError):
            async with asyncio.timeout(REPORT_SECONDS):
                self._found = await self._read_newest()
