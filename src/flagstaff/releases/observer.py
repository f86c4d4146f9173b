"""Observes releases: reads what the history has got since the last look, counts it, and has guards act.

Any process may look. A look reads, counts, and then writes counts and positions together, but only if nobody else has
counted meanwhile; so everything is counted once. Whoever has written last goes on, and the others take over when it has
not for some seconds.
"""

from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum, auto
from time import monotonic, perf_counter
from typing import NamedTuple
from uuid import UUID

import structlog

from flagstaff.concurrency.pacing import Turns
from flagstaff.database.database import Connection, Database
from flagstaff.database.tables import microseconds, moment
from flagstaff.evaluation.attributes import read_identifier
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.targeting import attributes_of
from flagstaff.evaluation.targets import BUILT_IN
from flagstaff.flags.flags import DEFAULT_STICKINESS
from flagstaff.history.store import batches, events, following
from flagstaff.history.store.events import StoredEvent
from flagstaff.history.store.following import FollowedSegment, Position
from flagstaff.metrics import metrics_store
from flagstaff.metrics.events import unit_of
from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.counting import (
    Counting,
    Seen,
    Timeline,
    group_first,
    make_events,
    needs_scale,
    set_scale,
)
from flagstaff.releases.judging import Judgement, is_split_wrong, judge
from flagstaff.releases.observations import Observations, Point
from flagstaff.releases.observations_store import Observed
from flagstaff.releases.releases import Release
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

LOOK_SECONDS = 0.2
HELD_SECONDS = 3.0
"""After how long without a write another process takes over."""
FAILED_SECONDS = 30.0
"""For how long a release rests that could not be observed."""
EVENTS_AT_ONCE = 2_000
_IDENTIFIER_MAX_LENGTH = 1024  # as in events; the history also holds what no column of text can
_PIECES_SECONDS = 0.15  # for one release in one look
_POINTS_EVERY_SECONDS = 5


class Verdict(NamedTuple):
    """What a look has found: the evidence of each guard, and whether the split is not as asked."""

    judgements: Sequence[Judgement]
    is_split_wrong: bool
    counted: Observations


class Progress(Enum):
    """How far a look has come with a release."""

    DONE = auto()
    MORE = auto()
    """There may be more to count."""
    OTHERS = auto()
    """Another process counts."""


Act = Callable[[Release, Verdict, dict[str, Metric]], Awaitable[None]]
"""Has the guards of a release act that are to act."""


@dataclass(slots=True)
class Observer:
    """Looks again and again. `name` is this process's, and `act` is called when a guard is to act."""

    database: Database
    name: str
    act: Act
    _releases: dict[UUID, Release] = field(default_factory=dict, init=False)
    _seen: dict[UUID, tuple[object, ...]] = field(default_factory=dict, init=False)
    _rests_until: dict[UUID, float] = field(default_factory=dict, init=False)

    async def look(self) -> None:
        """Count what is new for each release that is to be observed; nothing where nothing is new."""
        by_environment: defaultdict[UUID, list[Release]] = defaultdict(list)
        for release in await self._list_observed():
            by_environment[release.environment_id].append(release)
        self._seen = {each: self._seen[each] for each in by_environment if each in self._seen}
        for environment_id, releases in by_environment.items():
            async with self.database.read_history() as connection:
                latest = (await observations_store.find_latest(connection, environment_id), *_versions(releases))
            if self._seen.get(environment_id) == latest:
                continue
            if all([await self._observe(release) for release in releases]):
                self._seen[environment_id] = latest

    async def _list_observed(self) -> list[Release]:
        async with self.database.read() as connection:
            wanted = await releases_store.list_observed(connection)
            for release_id, updated_at in wanted.items():
                known = self._releases.get(release_id)
                if known is None or known.updated_at != updated_at:
                    found = await releases_store.find_release(connection, release_id)
                    if found is not None:
                        self._releases[release_id] = found
        self._releases = {each: self._releases[each] for each in wanted if each in self._releases}
        self._rests_until = {each: at for each, at in self._rests_until.items() if each in wanted}
        return [each for each in self._releases.values() if each.segments]

    async def _observe(self, release: Release) -> bool:
        """Count what is new for a release; return whether that is done, and not for another process to do."""
        if self._rests_until.get(release.id, 0.0) > monotonic():
            return False
        try:
            async with self.database.read() as connection:
                metrics = await metrics_store.find_metrics(
                    connection, release.project_id, [guard.metric for guard in release.guards]
                )
            until = perf_counter() + _PIECES_SECONDS
            progress = Progress.MORE
            while progress is Progress.MORE and perf_counter() < until:
                progress = await self._count_some(release, metrics)
        except Exception as error:
            if isinstance(error, Error) and error.code is Code.UNAVAILABLE:
                raise
            log.exception("release_not_observed", release=str(release.id))
            self._rests_until[release.id] = monotonic() + FAILED_SECONDS
            return False
        return progress is Progress.DONE

    async def _count_some(self, release: Release, metrics: dict[str, Metric]) -> Progress:
        """Count a piece of what is new, and have guards act."""
        async with self.database.read_history() as connection:
            observed = await observations_store.find_observed(connection, release.id)
            if observed is not None and self._is_others(observed):
                return Progress.OTHERS
            piece = await _read_piece(connection, release, observed, metrics) if observed is not None else None
        if observed is None:
            await begin_observing(self.database, release, release.segments[0].at)
            return Progress.MORE
        if piece is None:
            await self._judge(release, metrics, observed.counted)
            return Progress.DONE
        if not await self._is_current(release) or not await self._write(observed, piece.counting):
            return Progress.OTHERS
        await self._judge(release, metrics, piece.counting.counted)
        return Progress.MORE if piece.more else Progress.DONE

    def _is_others(self, observed: Observed) -> bool:
        return observed.holder != self.name and observed.held_until > observed.now

    async def _is_current(self, release: Release) -> bool:
        """Whether no step has begun since the release was read: what was read of the history may be of that step."""
        async with self.database.read() as connection:
            if await releases_store.find_updated_at(connection, release.id) == release.updated_at:
                return True
        self._releases.pop(release.id, None)
        return False

    async def _write(self, observed: Observed, counting: Counting) -> bool:
        """Write what was counted; return False, and write nothing, if another process has counted meanwhile."""
        async with self.database.write_history() as connection:
            if not await observations_store.continue_observed(
                connection, observed, counting.counted, self.name, HELD_SECONDS
            ):
                return False
            await observations_store.put_exposures(connection, observed.number, counting.changed_exposures)
            await observations_store.put_done(connection, observed.number, counting.changed_done)
        return True

    async def _judge(self, release: Release, metrics: dict[str, Metric], counted: Observations) -> None:
        if not release.guards:
            return
        verdict = Verdict(judge(release, counted, metrics), is_split_wrong(release, counted), counted)
        acted = {alarm.metric for alarm in release.alarms}
        is_news = verdict.is_split_wrong and None not in acted
        for each in verdict.judgements:
            is_news |= each.is_reached and each.guard.metric not in acted and not verdict.is_split_wrong
        if is_news:
            await self.act(release, verdict, metrics)
            self._releases.pop(release.id, None)


def _versions(releases: Sequence[Release]) -> Iterator[object]:
    """What the releases of an environment are, so that a change of one is news as well."""
    return ((release.id, release.updated_at) for release in releases)


async def begin_observing(database: Database, release: Release, at: datetime) -> None:
    """Begin to count for a release whose first step is applied at a time or later; nothing if that was done before."""
    async with database.write_history() as connection:
        await observations_store.create_observed(connection, release.id, release.environment_id, microseconds(at))


class _Piece(NamedTuple):
    counting: Counting
    more: bool


async def _read_piece(
    connection: Connection, release: Release, observed: Observed, metrics: dict[str, Metric]
) -> _Piece | None:
    """Count some of what is new; None if nothing is."""
    counted = observed.counted
    number = await batches.find_environment_number(connection, release.environment_id)
    if number is None:
        return None
    last_segment = await following.find_last_segment(connection, number)
    last_event = await events.find_last_event(connection, number)
    position = Position(counted.segment, counted.unfinished)
    segments = release.segments
    timeline = Timeline(segments, [microseconds(each.at) for each in segments])
    wanted = EvaluationFilter(flag=FlagFilter(flag_id=release.flag_id), since=moment(counted.began_at))
    stretches, found = [], list[FollowedSegment]()
    if position.unfinished:
        stretches.append(await following.read_unfinished(connection, number, position, wanted))
    start = stretches[-1].position if stretches else position
    if last_segment > start.segment:
        stretches.append(await following.read_segments(connection, number, start, wanted, last=last_segment))
    for stretch in stretches:
        found += stretch.segments
        position = stretch.position
    has_events = last_event > counted.event
    is_moved = position.segment > counted.segment or dict(position.unfinished) != counted.unfinished
    if not found and not has_events and not is_moved:
        return None
    arms = [each.arms for each in segments]
    if not counted.fits(arms):
        raise ValueError("what was counted is of other steps: one of the databases was restored to an earlier state")
    # The sums are altered in place: they were decoded for this look.
    counting = Counting(counted, release.flag_id, timeline, [_kind(metrics, guard.metric) for guard in release.guards])
    counted.prepare(arms, len(release.guards))
    places = {guard.metric: place for place, guard in enumerate(release.guards) if guard.metric in metrics}
    await _count_evaluations(connection, observed, counting, number, found, places)
    more_segments = counted.segment < position.segment < last_segment
    counted.segment, counted.unfinished = position.segment, dict(position.unfinished)
    more_events = False
    if has_events:
        more_events = await _count_events(connection, observed, counting, number, last_event, places)
    await _find_scales(connection, observed, counting)
    _add_point(release, counted, metrics, observed.now)
    return _Piece(counting, more_segments or more_events)


def _kind(metrics: dict[str, Metric], key: str) -> Kind:
    return metrics[key].kind if key in metrics else Kind.BINARY


async def _count_evaluations(
    connection: Connection,
    observed: Observed,
    counting: Counting,
    number: int,
    found: Sequence[FollowedSegment],
    places: dict[str, int],
) -> None:
    turns = Turns()
    seen: list[tuple[str, Seen]] = []
    for segment in found:
        for place, each in enumerate(_read_segment(segment, counting)):
            seen.append(each)
            if place % 64 == 0:
                await turns.give()
    grouped = group_first(seen)
    missing = grouped.keys() - counting.exposures.keys()
    counting.exposures |= await observations_store.find_exposures(connection, observed.number, missing)
    for unit, firsts in grouped.items():
        for first in firsts:
            counting.expose(unit, first)
        await turns.give()
    opened = sorted(counting.opened)
    if counting.aside or (opened and places):
        units = {*counting.aside, *opened}
        counting.done |= await observations_store.find_done(connection, observed.number, units)
    counting.set_aside_events()
    for start in range(0, len(opened), 400):
        some = opened[start : start + 400]
        earlier = await events.list_events_of_units(
            connection, number, some, list(places), after=counting.counted.first_event, last=counting.counted.event
        )
        for event in make_events(earlier, places):
            before = counting.opened[event.unit]
            if before is None or event.at < before:
                counting.add_event(event)
            await turns.give()
    counting.opened.clear()


def _read_segment(segment: FollowedSegment, counting: Counting) -> Iterator[tuple[str, Seen]]:
    """The evaluations of a segment that say something about the release."""
    columns, layout, timeline = segment.columns, segment.layout, counting.timeline
    position = next((place for place, flag in enumerate(layout.recorded) if flag.id == counting.flag_id), None)
    if position is None:
        return
    width = layout.width
    users, emails, times, recorded = columns.users, columns.emails, columns.times, columns.recorded
    for offset in segment.offsets:
        at = times[offset] // 1000
        decision = layout.decision_of(position, recorded[offset * width : (offset + 1) * width])
        arm = timeline.find_arm(at, decision)
        if arm is None:
            continue
        stickiness = timeline.segments[arm[0]].stickiness
        if stickiness == DEFAULT_STICKINESS:
            unit = users[offset] or (emails[offset] or "").lower()
        else:
            unit = _sticky_unit(segment, offset, stickiness)
        if unit:
            yield unit, Seen(*arm, at)
        else:
            counting.counted.unnamed += 1


def _sticky_unit(segment: FollowedSegment, offset: int, stickiness: str) -> str:
    """The unit of an evaluation of a flag whose stickiness is an attribute; empty where it was not recorded."""
    columns = segment.columns
    custom = columns.attributes_of(offset) or {}
    email = (columns.emails[offset] or "").lower()
    values = attributes_of(BUILT_IN & {stickiness}, "", custom, columns.users[offset], email)
    identifier = read_identifier(values.get(stickiness))
    is_sound = "\0" not in identifier and 0 < len(identifier) <= _IDENTIFIER_MAX_LENGTH
    return unit_of(identifier, stickiness) if is_sound else ""


async def _count_events(
    connection: Connection,
    observed: Observed,
    counting: Counting,
    number: int,
    last: int,
    places: dict[str, int],
) -> bool:
    counted, turns = counting.counted, Turns()
    if not places:
        counted.event = last
        return False
    rows: list[StoredEvent] = await events.list_events_after(connection, number, counted.event, last, EVENTS_AT_ONCE)
    fresh = make_events(rows, places)
    units = {each.unit for each in fresh}
    counting.exposures |= await observations_store.find_exposures(
        connection, observed.number, units - counting.exposures.keys()
    )
    exposed = {unit for unit in units if unit in counting.exposures}
    known = {unit for _, unit in counting.done}
    counting.done |= await observations_store.find_done(connection, observed.number, exposed - known)
    for event in fresh:
        counting.add_event(event)
        await turns.give()
    more = len(rows) == EVENTS_AT_ONCE
    counted.event = rows[-1].id if more else last
    return more


async def _find_scales(connection: Connection, observed: Observed, counting: Counting) -> None:
    new_users = sum(map(sum, counting.counted.new))
    for place, counts in enumerate(counting.counted.metrics):
        kind = counting.kinds[place]
        if not needs_scale(counts, new_users, kind):
            continue
        done = dict(await observations_store.list_done(connection, observed.number, place))
        done |= {unit: each for (metric, unit), each in counting.changed_done.items() if metric == place}
        set_scale(counts, done.values(), new_users, kind)


def _add_point(release: Release, counted: Observations, metrics: dict[str, Metric], now: int) -> None:
    if not release.guards:
        return
    judgements = judge(release, counted, metrics)
    if any(each.is_reached for each in judgements):
        counted.every = 0  # the last point of the chart is the one at which a guard acts
    else:
        counted.every = max(counted.every, _POINTS_EVERY_SECONDS)
    users = [sum(column) for column in zip(*[each for each in counted.entered if each], strict=False)]
    evidence = [round(each.log_evidence, 4) for each in judgements]
    counted.add_point(Point(now // 1_000_000, evidence, users))
