"""Compares the secret key of this process with the key in its file, and with the keys of the other instances."""

import asyncio
import hashlib
import hmac
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import structlog

from flagstaff.cluster.instances import LeaseState, ListedInstance, without_former
from flagstaff.database.situations import DIFFERENT_KEYS, LOST_KEY, OTHER_KEY, Situation
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Error

log = structlog.get_logger(__name__)

LOOK_SECONDS = 10.0
_FINGERPRINT_CHARACTERS = 16


def fingerprint_of(secret_key: str) -> str:
    """A short text by which keys are compared, and from which the key cannot be computed."""
    digest = hmac.digest(secret_key.encode(), b"flagstaff fingerprint", hashlib.sha256)
    return digest.hex()[:_FINGERPRINT_CHARACTERS]


class KeyWatch:
    """The result of the last comparison. Nothing fails because of it before the next start, so it is only reported."""

    def __init__(
        self,
        secret_key: str,
        find_kept: Callable[[], str | None] | None,
        list_instances: Callable[[], Awaitable[Sequence[ListedInstance]]] | None,
    ) -> None:
        """`find_kept` returns the key in the file, and is None if the settings have the key.

        `list_instances` is None if there cannot be others; the workers of one instance have the same key.
        """
        self.fingerprint = fingerprint_of(secret_key)
        self._find_kept = find_kept
        self._list_instances = list_instances
        self._of_file: Situation | None = None
        self._of_instances: Situation | None = None

    async def look(self) -> None:
        """Look at the file and at the other instances, and log what has changed."""
        before = self._situations()
        if self._find_kept is not None:
            self._of_file = await asyncio.to_thread(self._look_at_file, self._find_kept)
        if self._list_instances is not None:
            with suppress(Error):  # the database cannot be reached: what was found before stays
                self._of_instances = self._compare(await self._list_instances())
        found = self._situations()
        for each in found:
            if each not in before:
                log.warning("secret_key_differs", reason=each.cause, advice=each.step)
        if before and not found:
            log.info("secret_key_agrees")

    def warnings(self) -> list[str]:
        """Sentences about what was found, and what to do."""
        return [f"{each.cause} {each.step}" for each in self._situations()]

    def export_metrics(self, metrics: Metrics) -> None:
        """Export whether anything was found."""
        metrics.add_gauge(
            "signing_key_differs",
            "Whether the key that signs tokens is lost, or differs in its file or in an instance: 1 or 0.",
            lambda: bool(self._situations()),
            max,
        )

    def _situations(self) -> list[Situation]:
        return [each for each in (self._of_file, self._of_instances) if each is not None]

    def _look_at_file(self, find_kept: Callable[[], str | None]) -> Situation | None:
        try:
            kept = find_kept()
        except Error:  # it cannot be read, which the next start says, too
            return OTHER_KEY
        if kept is None:
            return LOST_KEY
        return None if fingerprint_of(kept) == self.fingerprint else OTHER_KEY

    def _compare(self, instances: Sequence[ListedInstance]) -> Situation | None:
        return DIFFERENT_KEYS if len({self.fingerprint, *find_fingerprints(instances)}) > 1 else None


def find_fingerprints(instances: Sequence[ListedInstance]) -> set[str]:
    """The fingerprints of the keys of the instances that serve, as far as they have reported them."""
    serving = (each.report for each in without_former(instances) if each.lease is not LeaseState.LAPSED)
    return {report.key_fingerprint for report in serving if report is not None and report.key_fingerprint is not None}
