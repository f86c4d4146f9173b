"""Counts what is new in an environment for its releases, and has guards act.

One reading feeds all of them, and costs more only for those about which it says something. It is done in turns: a turn
ends when its time is over, and the next one goes on with those that have waited.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from time import perf_counter
from uuid import UUID

from flagstaff.database import changes_store
from flagstaff.database.database import Database
from flagstaff.database.tables import microseconds
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Metric
from flagstaff.releases import flag_changes_store, observations_store, releases_store
from flagstaff.releases.buckets_store import read_cuts
from flagstaff.releases.followed_releases import FollowedRelease, choose, follow
from flagstaff.releases.judging import Verdict, conclude
from flagstaff.releases.observations_store import Latest, Observed
from flagstaff.releases.release_judgements import HELD_SECONDS, Judge
from flagstaff.releases.releases import Release
from flagstaff.releases.shared_counting import Share, SharedCounting
from flagstaff.releases.shared_news import SharedNews, read_shared_news
from flagstaff.releases.stretches import find_uncut
from flagstaff.values.lists import parts_of

_AT_ONCE = 32
_EVALUATIONS_AT_ONCE = 20_000
_CHANGES_MAX = 1_000
_MICROSECONDS = 1_000_000


@dataclass(slots=True)
class EnvironmentWatch:
    """An environment whose releases this process watches, with the positions that it has read.

    `state` is the state of its releases when they were listed. With `is_outdated`, they are to be listed again.
    """

    database: Database
    environment_id: UUID
    judge: Judge
    releases: dict[UUID, Release] = field(default_factory=dict)
    state: tuple[object, ...] = ()
    is_outdated: bool = False
    _followed: dict[UUID, FollowedRelease] = field(default_factory=dict, init=False)
    _rests_until: dict[UUID, float] = field(default_factory=dict, init=False)
    _latest: Latest | None = field(default=None, init=False)
    _done: set[UUID] = field(default_factory=set, init=False)
    _turn: int = field(default=0, init=False)

    def set_releases(self, releases: Mapping[UUID, Release], state: tuple[object, ...]) -> None:
        """Watch these releases. Those that were changed are judged again."""
        for release_id, known in self.releases.items():
            if releases.get(release_id) is not known:
                self.forget(release_id)
        self.releases, self.state, self.is_outdated = dict(releases), state, False
        self._rests_until = {each: at for each, at in self._rests_until.items() if each in releases}

    def forget(self, release_id: UUID) -> None:
        """Read the counts of a release again before it is counted further."""
        self._followed.pop(release_id, None)
        self._done.discard(release_id)

    def forget_all(self) -> None:
        """Read all counts again: whether the releases can be watched is to be seen."""
        self._followed.clear()
        self._done.clear()

    def has_work(self, latest: Latest | None) -> bool:
        """Return whether there is something to count, to judge or to store, given what the history has got last."""
        if latest != self._latest:
            self._latest = latest
            self._done.clear()
        if len(self._done) < len(self._followed) or len(self._followed) < len(self.releases):
            return bool(self._list_waiting() or self._list_unfollowed())
        now = self.judge.clock()
        old = {each for each, followed in self._followed.items() if followed.is_old(now)}
        self._done -= old
        return bool(old)

    async def take_turn(self, until: float) -> bool:
        """Work until a time, and return whether there is more to do."""
        self._turn += 1
        while await self._follow_some(until):
            waiting = self._list_waiting()
            if not waiting:
                return False
            await self._count_some(choose(waiting), until)
            if perf_counter() >= until:
                break
        return bool(self._list_waiting() or self._list_unfollowed())

    def _list_waiting(self) -> list[FollowedRelease]:
        return [each for release_id, each in self._followed.items() if release_id not in self._done]

    def _list_unfollowed(self) -> list[Release]:
        now = self.judge.clock()
        return [
            release
            for release_id, release in self.releases.items()
            if release_id not in self._followed and self._rests_until.get(release_id, now) <= now
        ]

    async def _follow_some(self, until: float) -> bool:
        """Begin to follow releases, and judge them; return False if time is over before all are."""
        for some in parts_of(self._list_unfollowed(), _AT_ONCE):
            metrics = await self._read_metrics(some)
            async with self.database.read_history() as connection:
                found = await observations_store.find_all_observed(connection, [each.id for each in some])
            for release in some:
                observed = found.get(release.id)
                try:
                    if isinstance(observed, Exception):
                        raise observed  # noqa: TRY301 - handled like the others
                    if observed is None:
                        observed = await self._begin(release)
                    await self._follow(release, observed, metrics)
                except Exception as error:  # noqa: BLE001 - it is told, and the others are still looked at
                    await self._fail(release, error)
            if perf_counter() >= until:
                return False
        return True

    async def _begin(self, release: Release) -> Observed | None:
        """Begin to count for a release."""
        await begin_observing(self.database, release, release.segments[0].at)
        async with self.database.read_history() as connection:
            return await observations_store.find_observed(connection, release.id)

    async def _follow(self, release: Release, observed: Observed | None, metrics: Mapping[str, Metric]) -> None:
        if observed is None:
            return
        if self.judge.is_others(observed):
            self.judge.leave(release, observed)
            rest = (observed.held_until - observed.now) / _MICROSECONDS
            self._rests_until[release.id] = self.judge.clock() + min(rest, HELD_SECONDS)
            return
        self._followed[release.id] = follow(release, observed)
        await self._conclude(release, conclude(release, observed.counted, metrics), metrics, observed.now)

    async def _count_some(self, chosen: Sequence[FollowedRelease], until: float) -> None:
        """Count a piece of the news for some releases, and have guards act."""
        metrics = await self._read_metrics([each.release for each in chosen])
        try:
            news = await self._read_news(chosen, metrics)
        except Exception as error:  # noqa: BLE001 - it is told of each, and other environments are still looked at
            for each in chosen:
                await self._fail(each.release, error)
                if perf_counter() >= until:
                    break
            return
        if news is None:
            self._done.update(each.release.id for each in chosen)
            return
        at_once = max(1, min(_AT_ONCE, _EVALUATIONS_AT_ONCE // max(1, news.size)))
        for some in parts_of(sorted(chosen, key=lambda each: each.counted_at), at_once):
            await self._count_apart_if_needed(some, news, metrics)
            if perf_counter() >= until:
                return

    async def _read_news(self, chosen: Sequence[FollowedRelease], metrics: Mapping[str, Metric]) -> SharedNews | None:
        """Read a piece of the news; None if nothing was recorded in the environment."""
        if self._latest is None:
            return None
        async with self.database.read_history() as connection:
            return await read_shared_news(connection, self._latest.number, chosen, metrics.keys())

    async def _count_apart_if_needed(
        self, some: Sequence[FollowedRelease], news: SharedNews, metrics: Mapping[str, Metric]
    ) -> None:
        """Count the news for releases together, and one by one if that fails: one of them may be the cause."""
        try:
            await self._count_together(some, news, metrics)
        except Exception as error:  # noqa: BLE001 - it is told, and the others are counted
            if len(some) == 1:
                await self._fail(some[0].release, error)
                return
            for each in some:
                if each.release.id in self._followed:
                    each.known_change = -1  # the cuts may have been read and not stored
                    await self._count_apart_if_needed([each], news, metrics)

    async def _count_together(
        self, some: Sequence[FollowedRelease], news: SharedNews, metrics: Mapping[str, Metric]
    ) -> None:
        shares = await self._check(some)
        places = [(share.followed.position, share.followed.event) for share in shares]
        async with self.database.read_history() as connection:
            await SharedCounting(connection, news, metrics, self.judge.clock()).count(shares)
        await self._write([share for share in shares if share.verdict is not None and not share.is_left])
        for share, before in zip(shares, places, strict=True):
            followed, release = share.followed, share.followed.release
            if share.failure is not None:
                await self._fail(release, share.failure)
                continue
            if share.is_lost:
                self.forget(release.id)
                continue
            if not news.has_more(followed.position, followed.event):
                self._done.add(release.id)
            if before != (followed.position, followed.event):  # otherwise it was ahead of these news, and still waits
                followed.counted_at = self._turn
            if share.verdict is not None and share.observed is not None:
                await self._conclude(release, share.verdict, metrics, share.observed.now)

    async def _check(self, some: Sequence[FollowedRelease]) -> list[Share]:
        """The shares of releases, with the cuts of those whose cuts may have changed.

        This is read after the news, so that the steps, and what cuts the buckets, are known for all of them. A release
        that was changed is left out: what was read may belong to a step that has begun.
        """
        shares = []
        async with self.database.read() as connection:
            if await releases_store.read_state(connection, self.environment_id) != self.state:
                self.is_outdated = True
                updated = await releases_store.list_updated(connection, self.environment_id)
                changed = [each for each in some if updated.get(each.release.id) != each.release.updated_at]
                for each in changed:
                    self._drop(each.release.id)
                some = [each for each in some if each not in changed]
            change = await changes_store.latest_change(connection, some[0].release.project_id) if some else 0
            known = [each.known_change for each in some if 0 <= each.known_change < change]
            found: Collection[UUID] | None = ()
            if known:
                found = await flag_changes_store.find_changed_flags(
                    connection, self.environment_id, min(known), _CHANGES_MAX
                )
            for each in some:
                share = Share(each)
                if each.needs_cuts(change, found):
                    uncut = find_uncut(each.timeline.stretches, each.release)
                    share.cuts = await read_cuts(connection, each.release, uncut, each.cuts_change)
                    if share.cuts is None:  # the flag was deleted, and its releases with it
                        self._drop(each.release.id)
                        continue
                    each.know(share.cuts, change)
                each.known_change = change
                shares.append(share)
        return shares

    def _drop(self, release_id: UUID) -> None:
        """Leave a release until all are listed again."""
        self.forget(release_id)
        self.releases.pop(release_id, None)
        self.is_outdated = True

    async def _write(self, shares: Sequence[Share]) -> None:
        """Write what was counted, of those releases that no other process has counted meanwhile."""
        if not shares:
            return
        async with self.database.write_history() as connection:
            written = {}
            for share in shares:
                assert share.observed is not None
                assert share.counting is not None
                is_written = await observations_store.continue_observed(
                    connection, share.observed, share.observed.counted, self.judge.name, HELD_SECONDS
                )
                if is_written:
                    written[share.number] = share
                else:
                    share.is_lost = True
            countings = {number: share.counting for number, share in written.items() if share.counting is not None}
            await observations_store.put_exposures(
                connection, {number: each.changed_exposures for number, each in countings.items()}
            )
            await observations_store.put_done(
                connection, {number: each.changed_done for number, each in countings.items()}
            )
        for share in written.values():
            assert share.observed is not None
            share.followed.store(share.observed)

    async def _conclude(self, release: Release, verdict: Verdict, metrics: Mapping[str, Metric], now: int) -> None:
        """Have guards act, and note whether all can be judged."""
        try:
            if await self.judge.judge(release, verdict, dict(metrics), now):
                self._drop(release.id)
        except Exception as error:  # noqa: BLE001 - it is told, and the others are still looked at
            await self._fail(release, error)

    async def _fail(self, release: Release, error: Exception) -> None:
        """Tell that a release could not be observed, and let it rest."""
        self.forget(release.id)
        self._rests_until[release.id] = self.judge.clock() + await self.judge.fail(release, error)

    async def _read_metrics(self, releases: Sequence[Release]) -> dict[str, Metric]:
        keys = sorted({key for release in releases for key in release.watched})
        if not keys:
            return {}
        async with self.database.read() as connection:
            return await metrics_store.find_metrics(connection, releases[0].project_id, keys)


async def begin_observing(database: Database, release: Release, at: datetime) -> None:
    """Begin to count for a release whose first step is applied at a time or later; nothing if that was done before."""
    async with database.write_history() as connection:
        await observations_store.create_observed(connection, release.id, release.environment_id, microseconds(at))
