"""Tells of releases that cannot be watched: at once in the log and in a metric, after a minute in the audit trail.

Mails and webhooks follow the trail. An outage is told once, and its end once. A process tells what it has failed to do
itself; that it was told is part of the release, so that any process can tell the end that has watched it since.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

import structlog

from flagstaff.database.database import Database
from flagstaff.releases import flag_changes_store, releases_store
from flagstaff.releases.guardian import actor_of, open_present, write_release
from flagstaff.releases.releases import Release
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

TELL_SECONDS = 5.0
TOLD_AFTER_SECONDS = 60.0
"""After how long people are told that a release cannot be watched."""
SUMMARY_SECONDS = 60.0
"""The time between two lines of the log that sum up what cannot be watched."""


class Part(StrEnum):
    """The part of watching that can fail by itself."""

    GUARDS = "guards"
    THRESHOLDS = "thresholds"


@dataclass(slots=True)
class _Outage:
    """The time since which a release cannot be watched, by this process's clock, and what of it fails."""

    since: float
    parts: set[Part] = field(default_factory=set)
    failures: int = 0
    is_told: bool = False


@dataclass(slots=True)
class Watching:
    """The failures of this process to watch.

    `now` is its clock, for the times of changes, and `clock` measures time.
    """

    database: Database
    now: Callable[[], datetime]
    clock: Callable[[], float]
    _outages: dict[UUID, _Outage] = field(default_factory=dict, init=False)
    _over: dict[UUID, float] = field(default_factory=dict, init=False)
    _watched: dict[UUID, dict[Part, Release]] = field(default_factory=dict, init=False)
    _summed_at: float = field(default=0.0, init=False)

    def fail(self, release_id: UUID, part: Part, error: Exception, **what: object) -> bool:
        """Note that a part could not be watched; return whether a database did not answer, which ends by itself."""
        outage = self._outages.setdefault(release_id, _Outage(self.clock()))
        outage.failures += 1
        self._watched.get(release_id, {}).pop(part, None)
        is_outage = isinstance(error, Error) and error.code is Code.UNAVAILABLE
        if part not in outage.parts:  # the others of this outage are summed up
            outage.parts.add(part)
            details = {"release": str(release_id), "part": part.value, **what}
            if is_outage:
                log.warning("release_not_watched", **details, reason=str(error))
            else:
                log.error("release_not_watched", **details, exc_info=error)
        return is_outage

    def begin_before(self, release_id: UUID, seconds: float) -> None:
        """Note that an outage began so many seconds ago at the latest, when another process may have failed."""
        outage = self._outages[release_id]
        outage.since = min(outage.since, self.clock() - seconds)

    def succeed(self, release: Release, part: Part) -> None:
        """Note that a part of a release was watched, as the release is."""
        self._watched.setdefault(release.id, {})[part] = release
        self.leave(release.id, part, is_watched=True)

    def leave(self, release_id: UUID, part: Part, *, is_watched: bool = False) -> None:
        """Note that a part no longer fails here: it was watched, or another process does it."""
        outage = self._outages.get(release_id)
        if outage is None or part not in outage.parts:
            return
        outage.parts.discard(part)
        if outage.parts:
            return
        del self._outages[release_id]
        if not is_watched:
            return
        seconds = self.clock() - outage.since
        figures = {"seconds": round(seconds, 1), "failures": outage.failures}
        log.warning("release_watched_again", release=str(release_id), **figures)
        if seconds >= TOLD_AFTER_SECONDS and not outage.is_told:
            self._over[release_id] = seconds

    def keep(self, part: Part, observed: Collection[UUID]) -> None:
        """Forget the releases that are not to be observed any more."""
        for known in (*self._outages, *self._over, *self._watched):
            if known not in observed:
                self.leave(known, part)
                self._watched.get(known, {}).pop(part, None)
        self._watched = {each: parts for each, parts in self._watched.items() if parts}

    async def tell(self) -> None:
        """Tell what cannot be watched for a minute, and what can be again. What cannot be written is told later."""
        now = self.clock()
        for release_id, outage in list(self._outages.items()):
            seconds = now - outage.since
            if seconds >= TOLD_AFTER_SECONDS and not outage.is_told:
                outage.is_told = await self._write(release_id, seconds, is_over=False)
        for release_id, seconds in list(self._over.items()):
            if await self._write(release_id, seconds, is_over=True):
                self._over.pop(release_id, None)
        for release_id in list(self._watched):
            if self._is_to_be_ended(release_id) and await self._write(release_id, 0.0, is_over=True):
                self._watched.pop(release_id, None)
        self._sum_up(now)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the number of releases that this process cannot watch."""
        meaning = "Releases that this process fails to watch."
        metrics.add_gauge("releases_unwatched", meaning, lambda: len(self._outages))

    def _is_to_be_ended(self, release_id: UUID) -> bool:
        """Return whether all of a release was watched here since it was told that it cannot be."""
        parts = self._watched[release_id]
        release = max(parts.values(), key=lambda each: each.updated_at, default=None)
        if release is None or release.unwatched_since is None or release_id in self._outages:
            return False
        is_counted = release.is_observed and bool(release.segments)
        wanted = [Part.GUARDS] * is_counted + [Part.THRESHOLDS] * bool(release.waiting_thresholds)
        return all(part in parts and parts[part].updated_at == release.updated_at for part in wanted)

    async def _write(self, release_id: UUID, seconds: float, *, is_over: bool) -> bool:
        """Record that a release is not watched since some seconds ago, or is again; return False if it cannot be."""
        try:
            async with self.database.read() as connection:
                release = await releases_store.find_release(connection, release_id)
            if release is None:
                return True
            async with self.database.transaction() as transaction:
                connection = transaction.connection
                release = await open_present(transaction, release)
                if release is None:
                    return True
                if release.unwatched_since is None and seconds:
                    since = await releases_store.read_clock(connection) - timedelta(seconds=seconds)
                    told = await flag_changes_store.find_told_outage(connection, release.id)
                    if told is not None and since < told + timedelta(seconds=TOLD_AFTER_SECONDS):
                        return True  # another process has told of it, and of its end
                    unwatched = replace(release, unwatched_since=since)
                    release = await write_release(
                        transaction,
                        actor_of(release),
                        "release.unwatched",
                        release,
                        unwatched,
                        self.now(),
                        knows_all=False,
                    )
                if is_over and release.unwatched_since is not None:
                    watched = replace(release, unwatched_since=None)
                    await write_release(
                        transaction, actor_of(release), "release.watched", release, watched, self.now(), knows_all=False
                    )
        except Exception as error:
            if not isinstance(error, Error):
                log.exception("release_outage_not_told", release=str(release_id))
            return False
        return True

    def _sum_up(self, now: float) -> None:
        if self._outages and now - self._summed_at < SUMMARY_SECONDS:
            return
        self._summed_at = now
        if not self._outages:
            return
        longest = max(now - each.since for each in self._outages.values())
        failures = sum(each.failures for each in self._outages.values())
        log.warning("releases_not_watched", count=len(self._outages), longest_seconds=round(longest), failures=failures)
