"""Reads what the history has got since a release was counted last, a piece at a time, and counts it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from flagstaff.concurrency.pacing import Turns
from flagstaff.concurrency.worker import in_change_worker
from flagstaff.conditions.attributes import IDENTIFIER_MAX_BYTES, read_identifier
from flagstaff.database.database import Connection
from flagstaff.database.tables import microseconds, moment
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.targeting import attributes_of
from flagstaff.evaluation.targets import BUILT_IN
from flagstaff.flags.flags import DEFAULT_STICKINESS
from flagstaff.history.store import batches, event_segments, following
from flagstaff.history.store.event_segments import StoredEvent
from flagstaff.history.store.following import FollowedSegment, Position
from flagstaff.metrics.events import unit_of
from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.releases import observations_store
from flagstaff.releases.buckets import NO_BUCKETS, BucketRange, Cuts, range_of
from flagstaff.releases.counting import (
    TOLERANCE,
    Counting,
    Seen,
    Timeline,
    group_first,
    hold_for_all,
    make_events,
    needs_limits,
    set_limits,
)
from flagstaff.releases.judging import Judgement, Verdict, conclude
from flagstaff.releases.observations import ASIDE, Exposure, Observations, Point, Stretch
from flagstaff.releases.observations_store import Observed
from flagstaff.releases.plans import Counts
from flagstaff.releases.releases import Release

_POINTS_EVERY_SECONDS = 5
STRETCHES_MAX = 500
"""The stretches after which nobody is compared any more in a step whose cuts are changed again and again."""
_RESTORED = "what was counted is of other steps: one of the databases was restored to an earlier state"


class Piece(NamedTuple):
    """The counts after a piece of the history, their conclusions, and whether there may be more to count."""

    counting: Counting
    verdict: Verdict
    more: bool


class News(NamedTuple):
    """The news in the history: segments of evaluations, the position after them, and the last segments there are."""

    number: int
    segments: Sequence[FollowedSegment]
    position: Position
    last_segment: int
    last_event: int


async def read_news(connection: Connection, release: Release, counted: Observations) -> News | None:
    """Read some of the evaluations that are new; None if nothing is new, also no event."""
    number = await batches.find_environment_number(connection, release.environment_id)
    if number is None:
        return None
    last_segment = await following.find_last_segment(connection, number)
    last_event = await event_segments.find_last(connection, number)
    position = Position(counted.segment, counted.unfinished)
    wanted = EvaluationFilter(flag=FlagFilter(flag_id=release.flag_id), since=moment(counted.began_at))
    stretches, found = [], list[FollowedSegment]()
    if position.unfinished:
        stretches.append(await following.read_unfinished(connection, number, position, wanted, in_change_worker))
    start = stretches[-1].position if stretches else position
    if last_segment > start.segment:
        stretches.append(
            await following.read_segments(connection, number, start, wanted, last=last_segment, run=in_change_worker)
        )
    for stretch in stretches:
        found += stretch.segments
        position = stretch.position
    is_moved = position.segment > counted.segment or dict(position.unfinished) != counted.unfinished
    if not found and last_event <= counted.event and not is_moved:
        return None
    return News(number, found, position, last_segment, last_event)


async def count_news(
    connection: Connection, release: Release, observed: Observed, metrics: dict[str, Metric], news: News, cuts: Cuts
) -> Piece:
    """Count what is new. `cuts` belong to the release's flag as it is after the news were read."""
    # The sums are altered in place: they were decoded for this look.
    counted, segments = observed.counted, release.segments
    add_stretches(counted, release, cuts)
    if any(each.segment >= len(segments) for each in counted.stretches):
        raise ValueError(_RESTORED)
    counted.prepare(segments, len(release.guards))
    if not counted.fits(segments):
        raise ValueError(_RESTORED)
    timeline = Timeline(segments, counted.stretches)
    kinds = [_kind(metrics, guard.metric) for guard in release.guards]
    counting = Counting(counted, release.flag_id, timeline, kinds, release.counts)
    places = {guard.metric: place for place, guard in enumerate(release.guards) if guard.metric in metrics}
    await _count_evaluations(connection, observed, counting, news.number, news.segments, places)
    more_segments = counted.segment < news.position.segment < news.last_segment
    counted.segment, counted.unfinished = news.position.segment, dict(news.position.unfinished)
    more_events = False
    if news.last_event > counted.event:
        more_events = await _count_events(connection, observed, counting, news.number, news.last_event, places)
    await _find_limits(connection, observed, counting)
    counted.is_behind = more_segments or more_events
    verdict = conclude(release, counted, metrics)
    _add_point(release, counted, verdict.judgements, observed.now)
    return Piece(counting, verdict, counted.is_behind)


def find_uncut(counted: Observations, release: Release) -> datetime | None:
    """The time at which the first step began whose buckets are still to be cut; None if there is none."""
    known = _count_known(counted)
    return release.segments[known].at if known < len(release.segments) else None


def _count_known(counted: Observations) -> int:
    """The steps that have a stretch."""
    return counted.stretches[-1].segment + 1 if counted.stretches else 0


def add_stretches(counted: Observations, release: Release, cuts: Cuts) -> None:
    """Add a stretch for each step that has begun, and where a rule with another percentage cuts the buckets anew.

    In a step, cuts are only added: what was removed may still decide for a moment on some instances. A step that is
    counted later may have had other cuts than now, before their last change: nobody is compared up to then, and neither
    while cuts were changed more than once since the last look.
    """
    known = _count_known(counted)
    segments = release.segments
    counted.cuts_change = cuts.last_change
    last = counted.stretches[-1] if counted.stretches else None
    if cuts.passed is not None and last is not None and last.low < last.high:
        first, final = map(microseconds, cuts.passed)
        _append(counted, last.segment, max(last.began + 1, first), NO_BUCKETS)
        if known == len(segments) and len(counted.stretches) < STRETCHES_MAX:
            buckets = _narrow(last, range_of(segments[-1], cuts))
            _append(counted, last.segment, max(counted.stretches[-1].began + 1, final + TOLERANCE), buckets)
        if known == len(segments):
            return
    # Some instances may have known of the last change only a little later.
    settled = 0 if cuts.settled_at is None else microseconds(cuts.settled_at)
    for place in range(known, len(segments)):
        buckets = range_of(segments[place], cuts)
        began = microseconds(segments[place].at)
        if counted.stretches:
            began = max(began, counted.stretches[-1].began + 1)
        if settled > began:
            _append(counted, place, began, NO_BUCKETS)
            began = settled + TOLERANCE
            if place + 1 < len(segments) and began >= microseconds(segments[place + 1].at):
                continue
        _append(counted, place, began, buckets)
    if last is None or known < len(segments):
        return
    buckets = _narrow(last, range_of(segments[-1], cuts))
    if last.low < last.high and buckets != last.buckets:
        _append(counted, last.segment, max(last.began + 1, microseconds(cuts.changed_at)), buckets)


def _narrow(stretch: Stretch, buckets: BucketRange) -> BucketRange:
    """The buckets of a stretch that are also among these."""
    low, high = max(stretch.low, buckets.low), min(stretch.high, buckets.high)
    return BucketRange(low, high) if low < high else NO_BUCKETS


def _append(counted: Observations, segment: int, began: int, buckets: BucketRange) -> None:
    # The place of an event that was counted stays the same.
    events_from = max(began, counted.latest_event + 1)
    counted.stretches.append(Stretch(segment, began, *buckets, events_from))


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
    changed = {
        unit: firsts for unit, firsts in grouped.items() if any(counting.changes(unit, first) for first in firsts)
    }
    known = {unit for unit in changed if unit in counting.exposures}
    counting.done |= await observations_store.find_done(connection, observed.number, known)
    for unit, firsts in changed.items():
        for first in firsts:
            counting.expose(unit, first)
        await turns.give()
    opened = counting.opened
    if opened and places:
        # Some of these users' events may have arrived before the evaluations.
        earlier = await event_segments.list_of_units(
            connection,
            number,
            opened,
            places,
            since=min(since for since, _ in opened.values()) - TOLERANCE,
            after=counting.counted.first_event,
            last=counting.counted.event,
        )
        for event in make_events(_of_counted_keys(earlier, counting), places):
            counting.add_earlier_event(event)
            await turns.give()
    counting.opened.clear()


def _read_segment(segment: FollowedSegment, counting: Counting) -> Iterator[tuple[str, Seen]]:
    """The evaluations of a segment that say something about the release."""
    columns, layout, timeline = segment.columns, segment.layout, counting.timeline
    position = next((place for place, flag in enumerate(layout.recorded) if flag.id == counting.flag_id), None)
    if position is None:
        return
    users, emails, times = columns.users, columns.emails, columns.times
    for offset in segment.offsets:
        at = times[offset] // 1000
        own, recorded = columns.result_at(offset, layout)
        decision = own.decision_of(position if own is layout else 0, recorded)
        arm = timeline.find_arm(at, decision)
        if arm is None:
            continue
        kind = None if columns.origins is None else columns.origins.kind_at(offset)
        counting.counted.public_evaluations += _is_public(kind, counting.counts)
        if not counting.counts.has(kind):
            continue
        stickiness = timeline.applied(arm[0]).stickiness
        custom = None if stickiness == DEFAULT_STICKINESS else columns.attributes_of(offset)
        unit = find_unit(stickiness, users[offset], emails[offset], custom)
        if unit:
            yield unit, Seen(*arm, at)
        else:
            counting.counted.unnamed += 1


def _is_public(kind: KeyKind | None, counts: Counts) -> bool:
    return kind is KeyKind.BROWSER or not counts.has(kind)


def _of_counted_keys(events: Iterable[StoredEvent], counting: Counting) -> Iterator[StoredEvent]:
    return (each for each in events if counting.counts.has(each.key_kind))


def find_unit(stickiness: str, user: str | None, email: str | None, custom: Mapping[str, Any] | None) -> str:
    """The unit of an evaluation of a flag, by its stickiness; empty where it was not recorded."""
    email = (email or "").lower()
    if stickiness == DEFAULT_STICKINESS:
        return _if_sound(user or email)
    values = attributes_of(BUILT_IN & {stickiness}, "", custom or {}, user, email)
    identifier = _if_sound(read_identifier(values.get(stickiness)))
    return unit_of(identifier, stickiness) if identifier else ""


def _if_sound(identifier: str) -> str:
    """The identifier; empty if no index has room for it, or no column of text can hold it, as the history can."""
    is_sound = "\0" not in identifier and len(identifier.encode()) <= IDENTIFIER_MAX_BYTES
    return identifier if is_sound else ""


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
    read = await event_segments.list_after(connection, number, places, after=counted.event, last=last)
    counted.public_events += sum(_is_public(each.key_kind, counting.counts) for each in read.events)
    fresh = make_events(_of_counted_keys(read.events, counting), places)
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
    counted.event = read.position
    return read.more


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
