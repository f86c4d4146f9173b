"""How long the guards of a release take, from what is known of its flag's users: while it is open, or before."""

from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import log
from time import perf_counter
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.pacing import Turns
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Connection, Database
from flagstaff.database.tables import microseconds
from flagstaff.flags.access import FlagPath, open_flag
from flagstaff.flags.flags import Flag
from flagstaff.history.history_service import History, Summary, SummaryFilter
from flagstaff.history.store import batches, event_segments
from flagstaff.history.store.users import newest_of_each_user
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Metric
from flagstaff.permissions.permissions import Permission
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.bases import basis_of_release, find_basis, gather_numbers
from flagstaff.releases.buckets_store import read_cuts
from flagstaff.releases.outlook import (
    Basis,
    Missing,
    Outlook,
    PlannedStep,
    Source,
    Traffic,
    find_outlook,
    planned_steps,
)
from flagstaff.releases.plans import Counts, Plan
from flagstaff.releases.releases import Release
from flagstaff.releases.releases_service import Releases
from flagstaff.releases.shared_news import find_unit

DAYS = 7
EVENTS_MAX, USERS_MAX, SECONDS_MAX = 50_000, 10_000, 1.0
"""The latest events, and the latest users with the time it takes to read them, of which the numbers are taken."""
_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Assumed:
    """Assumptions instead of observations: the users in a day, and the numbers of metrics by key."""

    users_per_day: float | None = None
    metrics: Mapping[str, Basis] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Outlooks:
    """Looks ahead. All methods raise Error NOT_FOUND for resources that are not the actor's."""

    database: Database
    releases: Releases
    history: History

    async def get_outlook(self, actor: Actor, path: FlagPath, release_id: UUID) -> Outlook:
        """Compute the findings of a release's guards from now on; of one that has ended, nothing."""
        async with self.database.read() as connection:
            await open_flag(connection, actor, path, Permission.EVALUATIONS_READ)
            release = await releases_store.get_release(connection, path.flag_id, release_id)
        return await self._look_ahead(actor, path, release, Assumed())

    async def ask_outlook(self, actor: Actor, path: FlagPath, plan: Plan, assumed: Assumed) -> Outlook:
        """Compute the findings of a release's guards before it is created.

        Raises:
            Error: INVALID as `create_release`; CONFLICT if the flag is archived.
        """
        release = await self.releases.draft_release(actor, path, plan)
        return await self._look_ahead(actor, path, release, assumed)

    async def _look_ahead(self, actor: Actor, path: FlagPath, release: Release, assumed: Assumed) -> Outlook:
        async with self.database.read() as connection:
            flag = await open_flag(connection, actor, path, Permission.EVALUATIONS_READ)
            cuts = await read_cuts(connection, release)
            metrics = await metrics_store.find_metrics(connection, path.project_id, release.watched)
            now = await releases_store.read_clock(connection)
        steps: list[PlannedStep] = []
        if cuts is not None and release.is_open:
            steps = [*planned_steps(release, flag, cuts, now)]
        traffic = await self._find_traffic(actor, flag, now)
        if traffic is not None and release.counts is not Counts.ALL:
            traffic = await self._of_counted_keys(traffic, release, flag, now)
        if assumed.users_per_day:
            traffic = Traffic(assumed.users_per_day, traffic.growth if traffic else 1.0, is_given=True)
        bases = await self._find_bases(release, flag, metrics, now)
        watched = []
        for guard in release.guards:
            metric = metrics.get(guard.metric)
            if metric is not None:
                watched.append(
                    (guard, metric, _with(assumed.metrics.get(metric.key), bases.get(metric.key, Missing.USERS)))
                )
        return await in_worker(find_outlook, release, watched, steps, traffic)

    async def _find_traffic(self, actor: Actor, flag: Flag, now: datetime) -> Traffic | None:
        """The users of the last seven whole days; without any, today's."""
        today = now.replace(hour=0, minute=0, second=0, microsecond=0)
        found = await self._count_users(actor, flag, today - DAYS * _DAY, today)
        traffic = _traffic_of(found)
        if traffic is not None:
            return traffic
        found = await self._count_users(actor, flag, today, now)
        users = sum(_users_by_day(found))
        passed = max((now - today) / _DAY, 1 / 24)
        return Traffic(users / passed) if users else None

    async def _of_counted_keys(self, traffic: Traffic, release: Release, flag: Flag, now: datetime) -> Traffic | None:
        """The traffic with at most the users in a day of the SDK keys that count: numbers of users include all keys."""
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, flag.environment_id)
            if number is None:
                return None
            times, since = await _read_users(connection, number, flag, now - _DAY, release.counts)
        if not times:
            return None
        return replace(traffic, users_per_day=min(traffic.users_per_day, len(times) * (_DAY / (now - since))))

    async def _count_users(self, actor: Actor, flag: Flag, since: datetime, until: datetime) -> Summary:
        return await self.history.summarise_environment(
            actor,
            flag.project_id,
            flag.environment_id,
            since=since,
            until=max(until, since + timedelta(minutes=1)),
            interval="1d",
            zone=UTC,
            wanted=SummaryFilter(flag.key, flag.id),
        )

    async def _find_bases(
        self, release: Release, flag: Flag, metrics: Mapping[str, Metric], now: datetime
    ) -> dict[str, Basis | Missing]:
        """The known behaviour of users without the flag, by metric: from the release or the latest events."""
        found: dict[str, Basis | Missing] = {}
        async with self.database.read_history() as connection:
            observed = await observations_store.find_observed(connection, release.id)
        if observed is not None and observed.counted.fits(release.segments):
            observed.counted.prepare(release.segments, len(release.guards))
            for place, guard in enumerate(release.guards):
                metric = metrics.get(guard.metric)
                basis = basis_of_release(release, observed.counted, place, metric.kind) if metric else None
                if basis is not None:
                    found[guard.metric] = basis
        wanted = [each for key, each in metrics.items() if key not in found]
        return found | await self._read_events(release, flag, wanted, now) if wanted else found

    async def _read_events(
        self, release: Release, flag: Flag, metrics: list[Metric], now: datetime
    ) -> dict[str, Basis | Missing]:
        """Gather the latest users' events, of the time from which all evaluations and events were read."""
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, flag.environment_id)
            if number is None:
                return {}
            times, since = await _read_users(connection, number, flag, now - _DAY, release.counts)
            keys = [each.key for each in metrics]
            latest = await event_segments.list_latest(
                connection, number, keys, since=microseconds(since), limit=EVENTS_MAX
            )
        users = {unit for unit, at in times.items() if microseconds(at) >= latest.since}
        events = (each for each in latest.events if release.counts.has(each.key_kind))
        numbers = await in_worker(gather_numbers, events, users)
        found = {}
        for metric in metrics:
            done = [*numbers.get(metric.key, {}).values()]
            found[metric.key] = await in_worker(find_basis, metric, done, len(users))
        return found


async def _read_users(
    connection: Connection, number: int, flag: Flag, since: datetime, counts: Counts
) -> tuple[dict[str, datetime], datetime]:
    """The latest users of a flag, with the times of their latest evaluations, and the time from which all were read.

    They are those who were evaluated with SDK keys that count.
    """
    found: dict[str, datetime] = {}
    stop_at, turns, has_flag = perf_counter() + SECONDS_MAX, Turns(), dict[int, bool]()
    async with aclosing(newest_of_each_user(connection, number, since, counts.has)) as stretches:
        async for stretch in stretches:
            for _, each in stretch.evaluations:
                await turns.give()
                layout = id(each.layout)  # which stays, as long as its segments are read
                if layout not in has_flag:
                    has_flag[layout] = any(evaluated.id == flag.id for evaluated in each.layout.flags)
                unit = find_unit(flag.stickiness, each.user_id, each.user_email, each.attributes)
                if unit and has_flag[layout]:
                    found[unit] = max(each.evaluated_at, found.get(unit, since))
            if len(found) >= USERS_MAX or perf_counter() >= stop_at:
                return found, stretch.since
    return found, since


def _users_by_day(summary: Summary) -> list[int]:
    users = summary.users
    days = [users.of_interval(start) for start in users.starts] if users else []
    return [each.on + each.off if each else 0 for each in days]


def _traffic_of(summary: Summary) -> Traffic | None:
    """The users of a day on average, from the first day with any on, and how their number grows with the days."""
    by_day = _users_by_day(summary)
    seen = next((by_day[place:] for place, users in enumerate(by_day) if users), [])
    together = summary.users.of_all() if summary.users else None
    if not seen or together is None:
        return None
    of_day = sum(seen) / len(seen)
    if len(seen) == 1:
        return Traffic(of_day)
    return Traffic(of_day, min(1.0, max(0.0, log((together.on + together.off) / of_day) / log(len(seen)))))


def _with(given: Basis | None, known: Basis | Missing) -> Basis | Missing:
    """Return the known basis with the given numbers in its place."""
    if given is None:
        return known
    if isinstance(known, Missing):
        return given
    return replace(
        known,
        source=Source.GIVEN,
        rate=known.rate if given.rate is None else given.rate,
        mean=known.mean if given.mean is None else given.mean,
        deviation=known.deviation if given.deviation is None else given.deviation,
    )
