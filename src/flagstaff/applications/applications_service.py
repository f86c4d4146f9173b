"""Applications that evaluate flags themselves: which revision their instances have, and what they report."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import groupby
from uuid import UUID

import structlog

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.pacing import Turns
from flagstaff.database.database import Database
from flagstaff.database.revisions_store import find_revision
from flagstaff.flags import flags_store
from flagstaff.flags.access import FlagPath, open_flag
from flagstaff.history.applications import Client, Connection, FlagCounts, Report
from flagstaff.history.store import connections, reported_counts, reports, request_metrics
from flagstaff.history.store.reported_counts import ASKED, NO, VARIANT, YES, CountKey, ReportedCount, hour_start
from flagstaff.history.store.reports import CountsBound
from flagstaff.metrics.request_metrics import KEPT
from flagstaff.permissions.permissions import Permission
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_environment
from flagstaff.values.errors import invalid_field
from flagstaff.values.keys import is_flag_key
from flagstaff.values.lists import parts_of

log = structlog.get_logger(__name__)

LISTED_MAX = 1_000
COUNTS_AT_ONCE = 5_000  # in a transaction
ASKED_AT_ONCE = 200  # in a transaction: a server may ask for a thousand flags in a second, one at a time
SUMS_MAX = 10_000
REPORTED_MAX = timedelta(days=92)
LISTED_FOR = timedelta(hours=1)
CONNECTIONS_KEPT = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Connected:
    """An environment's revision, and the instances that were heard of lately."""

    revision: int
    connections: Sequence[Connection]


@dataclass(frozen=True, slots=True)
class ReportedFlag:
    """A flag's counts that an application reported, in the hour from `start` or in sum, and the last report."""

    flag_key: str
    application: str
    sdk: str
    start: datetime | None
    counts: FlagCounts
    reported_at: datetime


@dataclass(frozen=True, slots=True)
class Reported:
    """Reports from `since` until `until`, which are whole hours.

    `dropped` is how many counts of the environment's flags are missing, because there were too many.
    """

    since: datetime
    until: datetime
    flags: Sequence[ReportedFlag]
    dropped: int


@dataclass(frozen=True, slots=True)
class MissingFlag:
    """A flag that is asked for but not answered: by which applications, how often each, and when last.

    It does not exist, or is archived. An application without a name asked the server for this one flag.
    """

    key: str
    asked_by: Mapping[str, int]
    asked_at: datetime
    is_archived: bool


@dataclass(frozen=True, slots=True)
class Usage:
    """Keys that were asked for since a moment, and flags that exist but were not asked for."""

    since: datetime
    missing: Sequence[MissingFlag]
    unasked: Sequence[str]


@dataclass(frozen=True, slots=True)
class ApplicationReports:
    """The use cases of what applications report, of which `bound` says how much is kept."""

    database: Database
    now: Callable[[], datetime]
    retention: timedelta
    bound: CountsBound

    async def store(
        self, seen: Sequence[Connection], reported: Sequence[Report], asked: Mapping[tuple[UUID, str], int]
    ) -> int:
        """Store what applications said, and return how many counts were dropped because there were too many.

        A report that was stored before is not counted again. The transactions are short, so that evaluations and
        deletions do not wait for long reports.
        """
        now = self.now()
        if seen:
            async with self.database.write_history() as connection:
                await connections.record_connections(connection, seen)
        for part in parts_of(list(asked.items()), ASKED_AT_ONCE):
            counts = {CountKey(environment, key, "", "", ASKED): count for (environment, key), count in part}
            async with self.database.write_history() as connection:
                await reported_counts.add_counts(connection, counts, now)
        dropped = 0
        for some in _few_at_a_time(reported):
            async with self.database.write_history() as connection:
                dropped += await reports.add_reports(connection, some, now, self.bound)
        if dropped:
            log.warning("reported_counts_dropped", counts=dropped, most=self.bound.most)
        return dropped

    async def is_stored(self, environment_id: UUID, client: Client) -> bool:
        """Return whether an instance was heard of in the last day. For the server itself: nothing checks who asks."""
        async with self.database.read_history() as connection:
            return await connections.has_connection(connection, environment_id, client)

    async def list_connections(self, actor: Actor, project_id: UUID, environment_id: UUID) -> Connected:
        """List the instances with the revision that each has; raises Error NOT_FOUND, FORBIDDEN."""
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
            revision = await find_revision(connection, project_id, environment_id)
        async with self.database.read_history() as connection:
            since = self.now() - LISTED_FOR
            found = await connections.list_connections(connection, environment_id, since, LISTED_MAX)
        return Connected(revision.environment, found)

    async def sum_reports(
        self, actor: Actor, project_id: UUID, environment_id: UUID, since: datetime | None, until: datetime | None
    ) -> Reported:
        """Sum up the reports of all flags; raises Error NOT_FOUND, FORBIDDEN, INVALID."""
        start, end = self._span(since, until)
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
        async with self.database.read_history() as connection:
            found = await reported_counts.sum_counts(connection, environment_id, start, end, SUMS_MAX)
            dropped = await reported_counts.sum_dropped(connection, environment_id, start, end)
        return Reported(start, end, _by_flag(found), dropped)

    async def list_reports(
        self, actor: Actor, path: FlagPath, since: datetime | None, until: datetime | None
    ) -> Reported:
        """List the reports of a flag, by hour; raises Error NOT_FOUND, FORBIDDEN, INVALID."""
        start, end = self._span(since, until)
        async with self.database.read() as connection:
            flag = await open_flag(connection, actor, path, Permission.EVALUATIONS_READ)
        async with self.database.read_history() as connection:
            begin = max(start, flag.created_at)  # a flag that had the key before is another one
            found = await reported_counts.list_flag_counts(connection, path.environment_id, flag.key, begin, end)
            dropped = await reported_counts.sum_dropped(connection, path.environment_id, start, end)
        return Reported(start, end, _by_flag(found), dropped)

    async def find_usage(self, actor: Actor, project_id: UUID, environment_id: UUID, days: int) -> Usage:
        """List the flags that were asked for by key in the last days; raises Error NOT_FOUND, FORBIDDEN."""
        since = self.now() - timedelta(days=days)
        async with self.database.read() as connection:
            await open_environment(connection, actor, project_id, environment_id, Permission.EVALUATIONS_READ)
            present = await flags_store.list_keys(connection, environment_id)
        missing = await self._find_missing(environment_id, present, since)
        async with self.database.read_history() as connection:
            asked = await reported_counts.find_asked(connection, environment_id, since, present)
        return Usage(since, missing, sorted(present - asked))

    async def list_missing(self, environment_id: UUID, days: int, most: int) -> list[MissingFlag]:
        """The flags that were asked for in the last days and not answered: at most so many, the most wanted first.

        Only those with keys that flags can have. For the server itself: nothing checks who asks.
        """
        async with self.database.read() as connection:
            present = await flags_store.list_keys(connection, environment_id)
        found = await self._find_missing(environment_id, present, self.now() - timedelta(days=days))
        return [each for each in found if is_flag_key(each.key)][:most]

    async def list_asked(self, days: int) -> set[UUID]:
        """The environments of which flags were asked for in the last days."""
        async with self.database.read_history() as connection:
            return await reported_counts.list_asked_environments(connection, self.now() - timedelta(days=days))

    async def _find_missing(self, environment_id: UUID, present: Collection[str], since: datetime) -> list[MissingFlag]:
        async with self.database.read_history() as connection:
            rows = await reported_counts.list_flags_asked_for(connection, environment_id, since, SUMS_MAX)
        async with self.database.read() as connection:
            archived = await flags_store.list_archived_keys(connection, environment_id)
        asked_by: dict[str, Counter[str]] = {}
        asked_at: dict[str, datetime] = {}
        turns = Turns()
        for key, application, count, at in rows:
            await turns.give()
            asked_by.setdefault(key, Counter())[application] += count
            asked_at[key] = max(at, asked_at.get(key, at))
        missing = [
            MissingFlag(key, by, asked_at[key], key in archived) for key, by in asked_by.items() if key not in present
        ]
        return sorted(missing, key=lambda each: -sum(each.asked_by.values()))

    def _span(self, since: datetime | None, until: datetime | None) -> tuple[datetime, datetime]:
        """The hours that contain these moments, by default the last 24; raises Error INVALID."""
        end = self.now() if until is None else until
        start = end - timedelta(days=1) if since is None else since
        if start > end:
            raise invalid_field("since", "must be before until")
        if end - start > REPORTED_MAX:
            raise invalid_field("since", f"must be at most {REPORTED_MAX.days} days before until")
        return _hour_before(start), _hour_before(end) + reported_counts.HOUR

    async def purge(self, now: datetime | None = None) -> None:
        """Delete what is too old by `now`, and what belongs to deleted environments."""
        now = now or self.now()
        async with self.database.write_history() as connection:
            reported = await reported_counts.list_reported_environments(connection)
            measured = await request_metrics.list_measured_environments(connection)
            await connections.delete_connections_before(connection, now - CONNECTIONS_KEPT)
            await reports.forget_windows(connection, now - reports.WINDOWS_REMEMBERED)
            await reported_counts.delete_reports_before(connection, now - self.retention)
            await request_metrics.delete_samples_before(connection, now - min(self.retention, KEPT))
        async with self.database.read() as connection:
            # Read after what was reported, so an environment that is missing here was deleted.
            existing = await environments_store.list_environment_ids(connection)
        for environment_id in measured - existing:
            async with self.database.write_history() as connection:
                await request_metrics.delete_series(connection, environment_id)
        for environment_id in reported - existing:
            more = True
            while more:
                async with self.database.write_history() as connection:
                    more = await reported_counts.delete_first_hour(connection, environment_id)


def _few_at_a_time(reported: Sequence[Report]) -> Iterator[list[Report]]:
    """The reports in parts that are short enough for a transaction."""
    part: list[Report] = []
    size = 0
    for report in reported:
        if part and size + report.size > COUNTS_AT_ONCE:
            yield part
            part, size = [], 0
        part.append(report)
        size += report.size
    if part:
        yield part


def _by_flag(rows: Iterable[ReportedCount]) -> list[ReportedFlag]:
    """The counts, which are ordered by hour, flag and application, with the results of each together."""
    found = []
    for (hour, flag_key, application, sdk), group in groupby(rows, key=lambda row: row[:4]):
        of_flag = list(group)
        results = {row.result: row.times for row in of_flag}
        variants = {name.removeprefix(VARIANT): times for name, times in results.items() if name.startswith(VARIANT)}
        counts = FlagCounts(results.get(YES, 0), results.get(NO, 0), variants)
        reported_at = max(row.reported_at for row in of_flag)
        start = hour_start(hour) if hour else None
        found.append(ReportedFlag(flag_key, application, sdk, start, counts, reported_at))
    return found


def _hour_before(at: datetime) -> datetime:
    return at.replace(minute=0, second=0, microsecond=0)
