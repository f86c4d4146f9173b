"""Reports of applications that evaluate flags themselves, each of which is added once, and within a bound."""

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.worker import in_worker
from flagstaff.database import dialect, tables
from flagstaff.history.applications import Report
from flagstaff.history.store.reported_counts import (
    NO,
    VARIANT,
    YES,
    CountKey,
    add_counts,
    add_dropped,
    count_reported,
    find_reported,
    hour_of,
)
from flagstaff.history.store.request_metrics import add_measured
from flagstaff.metrics.request_metrics import Measured

WINDOWS_REMEMBERED = timedelta(days=2)
_FULL_KEPT = 8  # hours of environments, with some megabytes each

_windows = tables.reported_windows.c
_remember = dialect.upsert(
    tables.reported_windows, lambda insert: insert.on_conflict_do_nothing().returning(_windows.window)
)


@dataclass(frozen=True, slots=True)
class CountsBound:
    """At most `most` different counts of an environment in an hour.

    `full` has the counts of the last hours that were full, which stay the same: to read them each time would take long.
    """

    most: int
    full: OrderedDict[tuple[UUID, int], frozenset[tuple[str, ...]]] = field(default_factory=OrderedDict)

    def keep_full(self, environment_id: UUID, hour: int, counts: frozenset[tuple[str, ...]]) -> None:
        """Keep the counts of an hour that is full."""
        self.full[environment_id, hour] = counts
        if len(self.full) > _FULL_KEPT:
            self.full.popitem(last=False)


async def add_reports(connection: AsyncConnection, reports: Sequence[Report], at: datetime, bound: CountsBound) -> int:
    """Add reports to the counts, without those that were added before.

    What is beyond the bound is dropped. The number of these counts is returned, and stored with the number of counts
    that the reports themselves lack.
    """
    added: Counter[CountKey] = Counter()
    measured: defaultdict[UUID, list[Measured]] = defaultdict(list)
    lacking: Counter[UUID] = Counter()
    for report in sorted(reports, key=lambda each: each.window):  # in one order, so that instances cannot deadlock
        remembered = await connection.execute(_remember(connection), {"window": report.window, "reported_at": at})
        if remembered.first() is None:
            continue
        lacking[report.environment_id] += report.dropped
        if report.measured:
            measured[report.environment_id] += report.measured
        await in_worker(_add, report, added)
    dropped: Counter[UUID] = Counter()
    for environment_id in {key.environment_id for key in added}:
        dropped[environment_id] = await _drop_beyond(connection, environment_id, added, hour_of(at), bound)
    for environment_id, of_environment in sorted(measured.items()):
        dropped[environment_id] += await add_measured(connection, environment_id, of_environment, at, bound.most)
    await add_counts(connection, added, at)
    await add_dropped(connection, dropped + lacking, hour_of(at))
    return dropped.total()


async def _drop_beyond(
    connection: AsyncConnection,
    environment_id: UUID,
    added: Counter[CountKey],
    hour: int,
    bound: CountsBound,
) -> int:
    """Take those counts of an environment out of `added` that would be too many in the hour, and count them."""
    keys = [key for key in added if key.environment_id == environment_id]
    known, room = bound.full.get((environment_id, hour)), 0
    if known is None:
        room = max(0, bound.most - await count_reported(connection, environment_id, hour))
        if len(keys) <= room:
            return 0
        known = await find_reported(connection, environment_id, hour)
        if not room:
            bound.keep_full(environment_id, hour, known)
    beyond = [key for key in keys if key[1:] not in known][room:]
    for key in beyond:
        del added[key]
    return len(beyond)


async def forget_windows(connection: AsyncConnection, before: datetime) -> None:
    """Forget which windows were reported before a moment."""
    await connection.execute(tables.reported_windows.delete().where(_windows.reported_at < before))


def _add(report: Report, added: Counter[CountKey]) -> None:
    client = report.client
    for flag_key, counts in report.counts.items():
        results: Iterable[tuple[str, int]] = (
            (YES, counts.yes),
            (NO, counts.no),
            *((f"{VARIANT}{key}", count) for key, count in counts.variants.items()),
        )
        for result, count in results:
            if count:
                added[CountKey(report.environment_id, flag_key, client.application, client.sdk, result)] += count
