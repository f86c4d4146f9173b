"""Keeps the evaluation history small: rolls up counts, and deletes what is too old, too large or of no environment."""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from math import isnan, nan
from time import perf_counter
from typing import Literal

import structlog

from flagstaff.database.database import Connection, Database
from flagstaff.database.tables import microseconds
from flagstaff.history import history_days
from flagstaff.history.event_retention import EventRetention
from flagstaff.history.store import batches, deletions, events, partitions, rollups
from flagstaff.history.store.distinct_users import user_rollups
from flagstaff.projects import environments_store
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error

DELETED_AT_ONCE = 50  # in segments, so that no batch waits long for a deletion
# How long users are counted at a time, which is every few seconds, and at most while that is not enough for all: to
# count those of a long history takes longer and leaves time for other work.
USERS_SECONDS, MOST_USERS_SECONDS = 0.15, 0.6
BATCHES_REMEMBERED = timedelta(days=7)  # how long a batch whose outcome was unknown may be sent again

UNLOCKED_ATTEMPTS = 3  # to count users before they are counted while batches wait
_RECENT = timedelta(days=1)  # before and after now
_HOUR = timedelta(hours=1)
_MINUTE = timedelta(minutes=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class HistoryRetention:
    """Deletes and rolls up the history, in small steps so that no batch waits long for it.

    `bytes` is the size of the history when it was last measured, `deleted` the number of evaluations deleted to keep it
    within `max_bytes`: `auto` is what leaves `reserve_bytes` of the disk free, or a fifth of a small disk, and at least
    `least_bytes`, so that the newest evaluations are kept when something else fills the disk. `free_disk` returns how
    many bytes of the disk are free and how many it has, which are not numbers while that is not known.

    `read_clock` reads the database's clock. `passed` returns the time that was seen to pass, by which everything is
    deleted by age; by default it is the clock's. `event_retention` deletes events of metrics. `users_seconds` is how
    long the next roll-up counts users at most. `roll_up` and `purge` raise Error UNAVAILABLE while the database
    cannot be reached.
    """

    database: Database
    now: Callable[[], datetime]
    retention: timedelta
    max_bytes: int | Literal["auto"] | None = None
    free_disk: Callable[[], tuple[float, float]] = lambda: (nan, nan)
    reserve_bytes: int = 2 * 10**9  # more than the space below which an alarm is raised
    least_bytes: int = 100 * 10**6
    deleted_at_once: int = DELETED_AT_ONCE
    read_clock: history_days.ReadClock = partitions.read_clock
    passed: Callable[[], datetime] | None = None
    event_retention: EventRetention | None = None
    users_seconds: float = USERS_SECONDS
    bytes: int = 0
    deleted: int = 0
    _looked_at: datetime | None = field(default=None, init=False)  # when all days were looked at for users to count
    _users_left: set[int] = field(default_factory=set, init=False)  # the environments that there was no time for

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the size of the history, and the evaluations that were deleted because of it."""
        metrics.add_counter("history_deleted", "Evaluations deleted at the maximum size.", lambda: self.deleted)
        metrics.add_gauge("history_bytes", "The size of the history, roughly.", lambda: self.bytes, max)

    async def roll_up(self) -> None:
        """Roll up what hours that have passed, and environments that change or are evaluated a lot, have to count."""
        now = self.now()
        async with self.database.read_history() as connection:
            due = await rollups.find_due(connection, (now - _EPOCH) // _MINUTE)
            users_due = await self._find_users_due(connection, now)
        await _do_all([*(partial(self._roll_up, number) for number in due), partial(self._roll_up_users, users_due)])

    async def _roll_up(self, number: int) -> None:
        more = True
        while more:
            async with self.database.write_history() as connection:
                more = await rollups.roll_up(connection, number)

    async def _find_users_due(self, connection: Connection, now: datetime) -> Sequence[int]:
        """The environments with users to count: among all once an hour, else among recent ones and the rest.

        To look at the evaluations of all days takes PostgreSQL a second for a thousand environments.
        """
        is_complete = self._looked_at is None or not timedelta(0) <= now - self._looked_at < _HOUR
        recent = (microseconds(now - _RECENT), microseconds(now + _RECENT))
        found = await user_rollups.find_due(connection, (now - _EPOCH) // _HOUR, None if is_complete else recent)
        if is_complete:
            self._looked_at = now
        return [*found, *self._users_left.difference(found)]

    async def _roll_up_users(self, numbers: Sequence[int]) -> None:
        until = perf_counter() + self.users_seconds
        self._users_left = set(numbers)

        async def roll_up(number: int) -> None:
            more = True
            while more and perf_counter() < until:
                more = await self._count_users(number)
            if not more:
                self._users_left.discard(number)

        await _do_all([partial(roll_up, number) for number in numbers])
        # Longer while more is evaluated than was counted, so that the newest days do not stay unknown.
        if self._users_left:
            self.users_seconds = min(2 * self.users_seconds, MOST_USERS_SECONDS)
        else:
            self.users_seconds = max(self.users_seconds / 2, USERS_SECONDS)

    async def _count_users(self, number: int) -> bool:
        """Count the users of an environment's oldest pending segments. Return whether there may be more.

        Batches wait only while they are stored, unless something changed each time since they were counted: another
        instance counted them, which leaves little to count, or a batch continued the newest segment.
        """
        for _ in range(UNLOCKED_ATTEMPTS):
            async with self.database.read_history() as connection:
                counted = await user_rollups.count_users(connection, number)
            if counted is None:
                return False
            async with self.database.write_history() as connection:
                if await user_rollups.store_users(connection, counted):
                    return counted.more
        async with self.database.write_history() as connection:
            return await user_rollups.roll_up_users(connection, number)

    async def remove_bound(self) -> None:
        """Remove a bound that would refuse batches, if a process was killed while it added days."""
        await history_days.remove_bound(self.database)

    async def prepare_days(self) -> None:
        """Add partitions for the next days, if there are few. Logs an outage: batches need no partition."""
        try:
            await history_days.add_missing_days(self.database, min(self.now(), self._passed()).date())
        except Error as error:
            if error.code is not Code.UNAVAILABLE:
                raise
            log.warning("history_partitions_failed", detail=error.message)

    async def _drop_days(self, before: datetime) -> int:
        """Drop the partitions of the days that ended before a moment; return how many evaluations were in them."""
        return await history_days.drop_days(self.database, before, self.now, self.read_clock)

    async def purge(self) -> None:
        """Delete what is older than the retention or beyond the bytes, and what belongs to deleted environments.

        Adds days at the end, which may take a while, and removes what could refuse batches at the beginning.
        """
        await self.remove_bound()
        async with self.database.read_history() as connection:
            recorded = await batches.list_recorded_environments(connection)
        async with self.database.read() as connection:
            # Read after the history, so an environment that is missing here was deleted and not created in between.
            retentions = await environments_store.list_retentions(connection)
        passed = self._passed()
        oldest = passed - self.retention
        existing = {number for each, number in recorded.items() if each in retentions}
        old = await self._find_old(oldest) & existing
        delete_batches = partial(deletions.delete_batches, before=passed - BATCHES_REMEMBERED)
        event_retention = self.event_retention or EventRetention(self.database)
        await _do_all(
            [
                partial(self._drop_days, oldest),
                *(partial(self._delete_before, number, oldest) for number in old),
                partial(
                    self._purge_sooner,
                    passed,
                    {recorded[each]: days for each, days in retentions.items() if each in recorded},
                ),
                *(partial(self._forget, number) for number in recorded.values() if number not in existing),
                partial(self._delete_layouts, oldest),
                partial(self._delete, delete_batches),
                *event_retention.steps(passed, recorded, self.deleted_at_once),
                self._purge_beyond_bytes,
                self.prepare_days,
            ]
        )

    async def _purge_sooner(self, passed: datetime, days_of: Mapping[int, int | None]) -> None:
        """Delete what environments keep for a shorter time than the instance, given their days by their numbers."""
        shorter = defaultdict[int, set[int]](set)
        for number, days in days_of.items():
            if days is not None and timedelta(days=days) < self.retention:
                shorter[days].add(number)
        for days, numbers in sorted(shorter.items()):
            before = passed - timedelta(days=days)
            async with self.database.read_history() as connection:
                old = await deletions.find_old(connection, before, numbers)
                with_events = await events.find_old_events(connection, before, numbers)
            await _do_all(
                [
                    *(partial(self._delete_before, number, before) for number in old),
                    *(
                        partial(self._delete, partial(events.delete_old_events_of, number=number, before=before))
                        for number in with_events
                    ),
                ]
            )

    def _passed(self) -> datetime:
        return self.passed() if self.passed else self.now()

    async def _forget(self, number: int) -> None:
        is_forgotten = False
        while not is_forgotten:  # while batches that were already being sent still arrive
            await self._delete_before(number, None)
            await self._delete(partial(events.delete_events_of, number=number))
            async with self.database.write_history() as connection:
                is_forgotten = await deletions.forget_environment(connection, number)

    async def _purge_beyond_bytes(self) -> None:
        async with self.database.read_history() as connection:
            sizes = await deletions.list_bytes(connection)
        self.bytes = sum(size for _, size in sizes)
        max_bytes = await self._find_max_bytes()
        before = None if max_bytes is None else _bound(sizes, max_bytes, self.now())
        if before is None or max_bytes is None:
            return
        deleted = await self._drop_days(before)
        for number in await self._find_old(before):
            deleted += await self._delete_before(number, before)
        await self._delete_layouts(before)
        self.bytes = max_bytes
        self.deleted += deleted
        if deleted:
            log.warning("history_bound_reached", deleted=deleted, before=before.isoformat(), max_bytes=max_bytes)

    async def _find_max_bytes(self) -> int | None:
        if self.max_bytes != "auto":
            return self.max_bytes
        in_file = await self.database.find_unused_history_bytes()
        free, total = self.free_disk()
        if in_file is None or isnan(free):
            return None
        reserve = min(self.reserve_bytes, int(total) // 5)
        return max(self.least_bytes, self.bytes + in_file + int(free) - reserve)

    async def _find_old(self, before: datetime) -> set[int]:
        async with self.database.read_history() as connection:
            return await deletions.find_old(connection, before)

    async def _delete_before(self, number: int, before: datetime | None) -> int:
        deleted, more = 0, True
        while more:
            async with self.database.write_history() as connection:
                some, more = await deletions.delete_segments(connection, number, before, self.deleted_at_once)
            deleted += some
        async with self.database.write_history() as connection:
            await deletions.delete_counts(connection, number, before)
            if before:
                await deletions.hide_evaluations(connection, number, before)
        return deleted

    async def _delete_layouts(self, before: datetime) -> None:
        async with self.database.write_history() as connection:
            await deletions.delete_unused_layouts(connection, before)

    async def _delete(self, delete_some: Callable[..., Awaitable[bool]]) -> None:
        more = True
        while more:
            async with self.database.write_history() as connection:
                more = await delete_some(connection, limit=self.deleted_at_once)


async def _do_all(steps: Iterable[Callable[[], Awaitable[object]]]) -> None:
    """Do every step, also after one has failed, so that one damaged row does not stop the steps for everything else.

    Raises the first failure at the end, and UNAVAILABLE at once. Logs the other failures.
    """
    first: Exception | None = None
    for step in steps:
        try:
            await step()
        except Exception as error:
            if isinstance(error, Error) and error.code is Code.UNAVAILABLE:
                raise
            if first is not None:
                log.exception("history_upkeep_failed")
            first = first or error
    if first is not None:
        raise first


def _bound(sizes: Sequence[tuple[int, int]], max_bytes: int, now: datetime) -> datetime | None:
    """The time from which the newest hours, given with their sizes, fit into the bytes; None if all do.

    The hour in which the limit is reached is kept in part, assuming that it filled evenly.
    """
    kept = 0
    for hour, size in sizes:
        if kept + size > max_bytes:
            start = _EPOCH + hour * _HOUR
            end = min(start + _HOUR, max(now, start))
            return end - (end - start) * (max_bytes - kept) / size
        kept += size
    return None
