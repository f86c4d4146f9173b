"""Counts the news of an environment for some of its releases together: rows of users are read once, by one statement.

A release about which the news say nothing is not read. One that cannot be counted keeps no other from it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from flagstaff.concurrency.pacing import Turns
from flagstaff.database.database import Connection
from flagstaff.history.store import event_segments
from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.releases import observations_store
from flagstaff.releases.buckets import Cuts
from flagstaff.releases.counting import (
    TOLERANCE,
    Counting,
    Seen,
    Timeline,
    group_first,
    hold_for_all,
    is_news,
    make_events,
    needs_limits,
    set_limits,
)
from flagstaff.releases.followed_releases import FollowedRelease
from flagstaff.releases.judging import Judgement, Verdict, conclude
from flagstaff.releases.observations import ASIDE, Exposure, Observations, Point
from flagstaff.releases.observations_store import Observed
from flagstaff.releases.releases import Release
from flagstaff.releases.shared_news import Part, SharedNews
from flagstaff.releases.stretches import add_stretches

_Work = Callable[["Share", Counting], None]
_NOTHING = Part((), ())
_OF_ITS_OWN = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError)
_POINTS_EVERY_SECONDS = 5
_RESTORED = "what was counted is of other steps: one of the databases was restored to an earlier state"


@dataclass(slots=True)
class Share:
    """A release's share of the news: with `cuts`, its stretches may change, so that its counts are written.

    `counting` is there if they are. With a `failure`, it could not be counted. `is_lost` if another process has written
    its counts.
    """

    followed: FollowedRelease
    cuts: Cuts | None = None
    observed: Observed | None = None
    part: Part = _NOTHING
    first: Mapping[str, Sequence[Seen]] = field(default_factory=dict)
    counting: Counting | None = None
    verdict: Verdict | None = None
    failure: Exception | None = None
    is_lost: bool = False

    @property
    def is_left(self) -> bool:
        """True if nothing more can be done for it."""
        return self.is_lost or self.failure is not None

    @property
    def number(self) -> int:
        """The number of the release in the history."""
        return self.followed.number

    def units(self) -> set[str]:
        """The users in its part of the news."""
        return {*self.first, *(event.unit for event in self.part.events)}

    def is_new(self, exposures: Mapping[str, Mapping[int, Exposure]]) -> bool:
        """Return whether the news change a sum of the release, given the exposures of the users in them."""
        return any(is_news(exposures.get(unit, {}), each) for unit, some in self.first.items() for each in some) or any(
            event.unit in exposures or event.unit in self.first for event in self.part.events
        )


@dataclass(slots=True)
class SharedCounting:
    """Counts the news for some releases. `now` is the observer's clock, and `metrics` are the project's by key."""

    connection: Connection
    news: SharedNews
    metrics: Mapping[str, Metric]
    now: float
    _turns: Turns = field(default_factory=Turns, init=False)

    async def count(self, shares: Sequence[Share]) -> None:
        """Count, or move on those releases about which the news say nothing."""
        await self._read_sums([share for share in shares if share.cuts is not None])
        for share in shares:
            try:
                if not share.is_left:
                    self._find_part(share)
            except Exception as error:  # noqa: BLE001 - it is told, and the others are counted
                share.failure = error
            await self._turns.give()
        left = [share for share in shares if not share.is_left]
        units = set[str]().union(*(share.units() for share in left))
        exposures: Mapping[int, dict[str, dict[int, Exposure]]] = {}
        if units:
            numbers = [share.number for share in left]
            exposures = await observations_store.find_exposures_of(self.connection, numbers, units)
        counted = []
        for share in left:
            if (
                share.cuts is not None
                or share.followed.is_old(self.now)
                or share.is_new(exposures.get(share.number, {}))
            ):
                counted.append(share)
            else:
                self._move(share)
            await self._turns.give()
        await self._read_sums([share for share in counted if share.observed is None])
        await self._count_read([share for share in counted if not share.is_left], exposures)

    async def _read_sums(self, shares: Sequence[Share]) -> None:
        """Read the counts of releases, and add their stretches."""
        if not shares:
            return
        ids = [share.followed.release.id for share in shares]
        found = await observations_store.find_all_observed(self.connection, ids)
        for share in shares:
            followed, observed = share.followed, found.get(share.followed.release.id)
            if isinstance(observed, Exception):
                share.failure = observed
            elif observed is None or observed.version != followed.version:
                share.is_lost = True
            else:
                share.observed = observed
                try:
                    followed.restore(observed.counted)
                    self._add_stretches(share, observed.counted)
                except Exception as error:  # noqa: BLE001 - likewise
                    share.failure = error
            await self._turns.give()

    def _add_stretches(self, share: Share, counted: Observations) -> None:
        release = share.followed.release
        segments = release.segments
        if share.cuts is not None:
            add_stretches(counted, release, share.cuts)
        if any(each.segment >= len(segments) for each in counted.stretches):
            raise ValueError(_RESTORED)
        counted.prepare(segments, len(release.guards))
        if not counted.fits(segments):
            raise ValueError(_RESTORED)
        share.followed.timeline = Timeline(segments, list(counted.stretches))

    def _find_part(self, share: Share) -> None:
        share.part = self.news.part_of(share.followed)
        share.first = group_first(share.part.seen)

    def _move(self, share: Share) -> None:
        """Move a release on about which the news say nothing."""
        followed, part = share.followed, share.part
        unstored = followed.unstored
        unstored.unnamed += part.unnamed
        unstored.public_evaluations += part.public_evaluations
        unstored.public_events += part.public_events
        followed.move(self.news.position_after(followed.position), self.news.event_after(followed.event), self.now)

    async def _count_read(
        self, shares: Sequence[Share], exposures: Mapping[int, dict[str, dict[int, Exposure]]]
    ) -> None:
        """Count the news for releases of which the sums were read."""
        for share in shares:
            share.counting = self._begin(share, exposures.get(share.number, {}))
        await self._read_done(shares)
        await self._each(shares, self._expose)
        await self._add_earlier_events(shares)
        await self._each(shares, self._add_events)
        for share in shares:
            if not share.is_left:
                try:
                    assert share.observed is not None
                    assert share.counting is not None
                    await _find_limits(self.connection, share.observed, share.counting)
                except _OF_ITS_OWN as error:  # after one of the database, the others cannot be counted here either
                    share.failure = error
        await self._each(shares, self._conclude)

    async def _each(self, shares: Sequence[Share], work: _Work) -> None:
        for share in shares:
            if not share.is_left:
                try:
                    assert share.counting is not None
                    work(share, share.counting)
                except Exception as error:  # noqa: BLE001 - it is told, and the others are counted
                    share.failure = error
                await self._turns.give()

    def _begin(self, share: Share, exposures: dict[str, dict[int, Exposure]]) -> Counting:
        assert share.observed is not None
        followed, counted = share.followed, share.observed.counted
        release = followed.release
        kinds = [_kind(self.metrics, guard.metric) for guard in release.guards]
        units = share.units()
        counting = Counting(counted, release.flag_id, followed.timeline, kinds, release.counts)
        counting.exposures = {unit: rows for unit, rows in exposures.items() if unit in units}
        return counting

    async def _read_done(self, shares: Sequence[Share]) -> None:
        """Read the events of those users who were exposed before."""
        units = set[str]().union(*(share.counting.exposures.keys() for share in shares if share.counting))
        metrics = max((len(share.followed.release.guards) for share in shares), default=0)
        if not units:
            return
        numbers = [share.number for share in shares]
        done = await observations_store.find_done_of(self.connection, numbers, metrics, units)
        for share in shares:
            if share.counting is not None:
                share.counting.done = done.get(share.number, {})

    def _expose(self, share: Share, counting: Counting) -> None:
        part = share.part
        counting.counted.unnamed += part.unnamed
        counting.counted.public_evaluations += part.public_evaluations
        for unit, firsts in share.first.items():
            if any(counting.changes(unit, first) for first in firsts):
                for first in firsts:
                    counting.expose(unit, first)

    async def _add_earlier_events(self, shares: Sequence[Share]) -> None:
        """Add the events of the users who were just exposed that may have arrived before the evaluations."""
        openings = [
            _Opening(share, share.counting, self.metrics) for share in shares if share.counting and not share.is_left
        ]
        openings = [each for each in openings if each.counting.opened and each.places]
        if not openings:
            return
        earlier = await event_segments.list_of_units(
            self.connection,
            self.news.number,
            set[str]().union(*(each.counting.opened for each in openings)),
            set[str]().union(*(each.places for each in openings)),
            since=min(each.since for each in openings),
            after=min(each.counting.counted.first_event for each in openings),
            last=max(each.counting.counted.event for each in openings),
        )
        by_unit: dict[str, list[event_segments.StoredEvent]] = {}
        for event in earlier:
            by_unit.setdefault(event.unit, []).append(event)
        for each in openings:
            try:
                each.add(by_unit)
            except Exception as error:  # noqa: BLE001 - likewise
                each.share.failure = error
            await self._turns.give()

    def _add_events(self, share: Share, counting: Counting) -> None:
        counting.opened.clear()
        counting.counted.public_events += share.part.public_events
        for event in share.part.events:
            counting.add_event(event)

    def _conclude(self, share: Share, counting: Counting) -> None:
        assert share.observed is not None
        counted, followed, news = counting.counted, share.followed, self.news
        position, event = news.position_after(followed.position), news.event_after(followed.event)
        counted.segment, counted.unfinished, counted.event = position.segment, dict(position.unfinished), event
        counted.is_behind = news.has_more(position, event)
        share.verdict = conclude(followed.release, counted, self.metrics)
        _add_point(followed.release, counted, share.verdict.judgements, share.observed.now)


@dataclass(slots=True)
class _Opening:
    """The users of a release who were just exposed, and the events that are to be looked for."""

    share: Share
    counting: Counting
    metrics: Mapping[str, Metric]

    @property
    def places(self) -> dict[str, int]:
        """The places of the metrics."""
        guards = self.share.followed.release.guards
        return {guard.metric: place for place, guard in enumerate(guards) if guard.metric in self.metrics}

    @property
    def since(self) -> int:
        """The time from which on events may count."""
        return min(since for since, _ in self.counting.opened.values()) - TOLERANCE

    def add(self, by_unit: Mapping[str, Iterable[event_segments.StoredEvent]]) -> None:
        """Add the events that belong to the release, in the order in which they were committed."""
        counted, places, since = self.counting.counted, self.places, self.since
        for unit in self.counting.opened:
            mine = [
                each
                for each in by_unit.get(unit, ())
                if counted.first_event < each.segment <= counted.event
                and each.at >= since
                and each.metric in places
                and self.counting.counts.has(each.key_kind)
            ]
            for event in make_events(mine, places):
                self.counting.add_earlier_event(event)


def _kind(metrics: Mapping[str, Metric], key: str) -> Kind:
    return metrics[key].kind if key in metrics else Kind.BINARY


async def _find_limits(connection: Connection, observed: Observed, counting: Counting) -> None:
    counted = counting.counted
    exposed = sum(map(sum, counted.new))
    for metric, counts in enumerate(counted.metrics):
        kind = counting.kinds[metric]
        if not needs_limits(counts, exposed, kind):
            continue
        if not hold_for_all(counts, kind):
            for _ in set_limits(counts, (), exposed, kind):
                pass
            continue
        done = await observations_store.list_done(connection, observed.number, metric)
        done |= {(unit, place): each for (of, unit, place), each in counting.changed_done.items() if of == metric}
        units = {unit for unit, _ in done}
        exposures = await observations_store.find_exposures(connection, observed.number, units)
        exposures |= {unit: rows for unit, rows in counting.exposures.items() if unit in units}
        rows = [
            (unit, place, exposures[unit][place].arm, each)
            for (unit, place), each in done.items()
            if each.events and _is_counted(exposures.get(unit, {}), place)
        ]
        for row, after in set_limits(counts, ((place, arm, each) for _, place, arm, each in rows), exposed, kind):
            unit, place, _, _ = rows[row]
            counting.changed_done[metric, unit, place] = after
            if (metric, unit) in counting.done:
                counting.done[metric, unit][place] = after


def _is_counted(rows: Mapping[int, Exposure], place: int) -> bool:
    return place in rows and rows[place].arm >= 0 and all(each.arm != ASIDE for each in rows.values())


def _add_point(release: Release, counted: Observations, judgements: Sequence[Judgement], now: int) -> None:
    if not judgements:
        return
    if any(each.is_reached for each in judgements):
        counted.every = 0  # the last point of the chart is the one at which a guard acts
    else:
        counted.every = max(counted.every, _POINTS_EVERY_SECONDS)
    evidence = [round(each.log_evidence, 4) for each in judgements]
    counted.add_point(Point(now // 1_000_000, evidence, [*counted.users_by_arm(release.segments).values()]))
