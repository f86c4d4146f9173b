"""Finds the flags of an environment that may be removed."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.changes.changes import Actor
from flagstaff.concurrency.pacing import Turns
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Connection, Database
from flagstaff.flags import flags_store
from flagstaff.flags.prerequisites import users_of
from flagstaff.flags.project_flags_store import list_in_brief
from flagstaff.flags.references import list_needs
from flagstaff.history.store import batches, totals
from flagstaff.history.tallies import Tally
from flagstaff.insight.cleanup import Candidate, CleanupFilter, FlagToClean, reasons_for
from flagstaff.insight.cleanup_store import find_last_changes, list_old_flags
from flagstaff.permissions.permissions import Permission, may, require
from flagstaff.projects import environments_store
from flagstaff.projects.access import open_member
from flagstaff.values.intervals import minute_of, moment_of
from flagstaff.values.lists import Window

LIMIT_MAX = totals.KEYS_AT_ONCE
_DAYS_OF_FLAGS_MAX = 60_000  # examined for one answer; about a second


@dataclass(frozen=True, slots=True)
class CandidatesPage:
    """Candidates in the order of their keys. More have keys after `next_after`, which is None if there are none.

    A part of the flags is examined at a time, so a short page is not necessarily the last. `history_since` is None if
    the history has the whole period, and else when it begins. Environments that the actor may not see are counted.
    """

    since: datetime
    history_since: datetime | None
    hidden_environments: int
    candidates: Sequence[Candidate]
    next_after: str | None


@dataclass(frozen=True, slots=True)
class _Place:
    """An environment as the actor sees it: its number in the history, and which flags of it others need."""

    environment_id: UUID
    visible: Sequence[UUID]
    hidden: int
    needed_by: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class _Evidence:
    """The parts of the history that are read: by number, in which whole hours, and not yet rolled up."""

    number: int | None
    since: datetime
    until: datetime
    pending: Mapping[str, Tally]

    @property
    def minutes(self) -> range:
        return range(minute_of(self.since), minute_of(self.until) + 1)


@dataclass(frozen=True, slots=True)
class Cleanup:
    """The use case of flags that may be removed. Raises Error NOT_FOUND for what is not the actor's, and FORBIDDEN."""

    database: Database
    now: Callable[[], datetime]
    retention: timedelta
    # One at a time: each pauses for other work, but many at once would still take most of the time.
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(1))

    async def list_candidates(
        self, actor: Actor, project_id: UUID, environment_id: UUID, wanted: CleanupFilter, *, after: str, limit: int
    ) -> CandidatesPage:
        """The flags that are at least as old as the period and candidates in it, with keys after `after`."""
        now = self.now()
        since = now.replace(minute=0, second=0, microsecond=0) - timedelta(days=wanted.days)
        async with self.database.read() as connection:
            place = await _open(connection, actor, project_id, environment_id)
        async with self._turns:
            evidence = await self._begin(environment_id, since, now)
            found: list[Candidate] = []
            last: str | None = after
            # Many at once, however few are wanted: each part costs several queries.
            for _ in range(0, max(LIMIT_MAX, _DAYS_OF_FLAGS_MAX // wanted.days), LIMIT_MAX):
                some, last = await self._list_flags(environment_id, since, wanted, last)
                found += await self._judge(place, evidence, since, some, wanted)
                if last is None or len(found) >= limit:
                    break
        if len(found) > limit:
            del found[limit:]
            last = found[-1].flag.key
        history_since = evidence.since if evidence.since > since else None
        return CandidatesPage(since, history_since, place.hidden, await self._complete(place, found), last)

    async def list_stale(self, environment_id: UUID, days: int, most: int) -> list[Candidate]:
        """The candidates of an environment, at most so many, without what their removal would alter.

        For the server itself: nothing checks who asks.
        """
        now = self.now()
        since = now.replace(minute=0, second=0, microsecond=0) - timedelta(days=days)
        place, wanted = _Place(environment_id, (), 0, {}), CleanupFilter(days)
        found: list[Candidate] = []
        last: str | None = ""
        async with self._turns:
            evidence = await self._begin(environment_id, since, now)
            while last is not None and len(found) < most:
                some, last = await self._list_flags(environment_id, since, wanted, last)
                found += await self._judge(place, evidence, since, some, wanted)
        return found[:most]

    async def _begin(self, environment_id: UUID, since: datetime, now: datetime) -> _Evidence:
        """Find the part of the period that the history has, and its newest part, which is read for all flags at once.

        What is rolled up after this is counted twice at worst, and never missed.
        """
        oldest = max(since, _hour_after(now - self.retention))
        async with self.database.read_history() as connection:
            number = await batches.find_environment_number(connection, environment_id)
            if number is None:
                return _Evidence(None, oldest, now, {})
            kept_from = await totals.find_kept_from(connection, number)
            oldest = max(oldest, _hour_after(moment_of(kept_from)))
            evidence = _Evidence(number, oldest, now, {})
            pending = await totals.sum_pending(connection, number, evidence.minutes)
        return _Evidence(number, oldest, now, pending)

    async def _list_flags(
        self, environment_id: UUID, since: datetime, wanted: CleanupFilter, after: str | None
    ) -> tuple[list[FlagToClean], str | None]:
        """The next flags, and the key of the last of them if there are more."""
        window = Window(LIMIT_MAX + 1, (after or "",))
        async with self.database.read() as connection:
            found = await list_old_flags(connection, environment_id, since, window, keep=wanted.kept)
        if len(found) <= LIMIT_MAX:
            return found, None
        del found[LIMIT_MAX:]
        return found, found[-1].key

    async def _judge(
        self,
        place: _Place,
        evidence: _Evidence,
        since: datetime,
        some: Sequence[FlagToClean],
        wanted: CleanupFilter,
    ) -> list[Candidate]:
        """Return the flags, of those given, that are candidates."""
        if not some:
            return []
        async with self.database.read() as connection:
            changed = await find_last_changes(connection, [flag.id for flag in some], since)
        keys = [flag.key for flag in some]
        tallies = {key: evidence.pending.get(key) or Tally() for key in keys}
        async with self.database.read_history() as connection:
            if evidence.number is not None:
                await totals.add_rolled_up(connection, evidence.number, evidence.minutes, tallies, keys)
            await totals.add_reported(connection, place.environment_id, evidence.since, evidence.until, tallies, keys)
        found = []
        for flag in some:
            tally, changed_at = tallies[flag.key], changed.get(flag.id, flag.updated_at)
            reasons = reasons_for(tally, changed_at, since)
            if reasons and wanted.reason in (None, *reasons):
                found.append(Candidate(flag, reasons, tally, changed_at))
        return found

    async def _complete(self, place: _Place, found: Sequence[Candidate]) -> list[Candidate]:
        """The candidates with what their removal would alter."""
        elsewhere, turns = defaultdict(list), Turns()
        if found and place.visible:
            async with self.database.read() as connection:
                for each in await list_in_brief(connection, place.visible, [one.flag.key for one in found]):
                    elsewhere[each.key].append(each)
                    await turns.give()
        order = {environment_id: position for position, environment_id in enumerate(place.visible)}
        completed = []
        for one in found:
            key = one.flag.key
            others = sorted(elsewhere[key], key=lambda each: order[each.environment_id])
            completed.append(replace(one, needed_by=place.needed_by.get(key, ()), elsewhere=others))
        return completed


async def _open(connection: Connection, actor: Actor, project_id: UUID, environment_id: UUID) -> _Place:
    _, member = await open_member(connection, actor, project_id)
    environment = await environments_store.get_environment(connection, project_id, environment_id)
    for permission in (Permission.EVALUATIONS_READ, Permission.FLAGS_READ):
        require(member, permission, environment.key)
    listed = await environments_store.list_environments(connection, project_id)
    others = [each for each in listed if each.id != environment_id]
    visible = [each.id for each in others if may(member, Permission.FLAGS_READ, each.key)]
    needs = await list_needs(await flags_store.list_prerequisites(connection, environment_id, with_archived=False))
    return _Place(environment_id, visible, len(others) - len(visible), await in_worker(users_of, needs))


def _hour_after(at: datetime) -> datetime:
    """The first whole hour at or after a moment."""
    hour = at.replace(minute=0, second=0, microsecond=0)
    return hour if hour == at else hour + timedelta(hours=1)
