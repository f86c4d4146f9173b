"""Reads what the history has got since a release was counted last, a piece at a time, and counts it."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from flagstaff.concurrency.pacing import Turns
from flagstaff.database.database import Connection
from flagstaff.database.tables import microseconds, moment
from flagstaff.evaluation.conditions.attributes import read_identifier
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.targeting import attributes_of
from flagstaff.evaluation.targets import BUILT_IN
from flagstaff.flags.flags import DEFAULT_STICKINESS
from flagstaff.history.store import batches, event_segments, following
from flagstaff.history.store.following import FollowedSegment, Position
from flagstaff.metrics.events import unit_of
from flagstaff.metrics.metrics import Kind, Metric
from flagstaff.releases import observations_store
from flagstaff.releases.counting import Counting, Seen, Timeline, group_first, make_events, needs_scale, set_scale
from flagstaff.releases.judging import Judgement, Verdict, conclude
from flagstaff.releases.observations import Observations, Point
from flagstaff.releases.observations_store import Observed
from flagstaff.releases.releases import Release

_IDENTIFIER_MAX_LENGTH = 1024  # as in events; the history also holds what no column of text can
_POINTS_EVERY_SECONDS = 5


class Piece(NamedTuple):
    """The counts after a piece of the history, their conclusions, and whether there may be more to count."""

    counting: Counting
    verdict: Verdict
    more: bool


async def read_piece(
    connection: Connection, release: Release, observed: Observed, metrics: dict[str, Metric]
) -> Piece | None:
    """Count some of what is new; None if nothing is."""
    counted = observed.counted
    number = await batches.find_environment_number(connection, release.environment_id)
    if number is None:
        return None
    last_segment = await following.find_last_segment(connection, number)
    last_event = await event_segments.find_last(connection, number)
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
    verdict = conclude(release, counted, metrics)
    _add_point(counted, verdict.judgements, observed.now)
    return Piece(counting, verdict, more_segments or more_events)


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
    opened = counting.opened
    if counting.aside or (opened and places):
        units = {*counting.aside, *opened}
        counting.done |= await observations_store.find_done(connection, observed.number, units)
    counting.set_aside_events()
    if opened and places:
        # An event counts only if it happened after its user's evaluation.
        earlier = await event_segments.list_of_units(
            connection,
            number,
            opened,
            places,
            since=min(counting.exposures[unit].at for unit in opened),
            after=counting.counted.first_event,
            last=counting.counted.event,
        )
        for event in make_events(earlier, places):
            before = opened[event.unit]
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
    users, emails, times = columns.users, columns.emails, columns.times
    for offset in segment.offsets:
        at = times[offset] // 1000
        own, recorded = columns.result_at(offset, layout)
        decision = own.decision_of(position if own is layout else 0, recorded)
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
    read = await event_segments.list_after(connection, number, places, after=counted.event, last=last)
    fresh = make_events(read.events, places)
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


async def _find_scales(connection: Connection, observed: Observed, counting: Counting) -> None:
    new_users = sum(map(sum, counting.counted.new))
    for place, counts in enumerate(counting.counted.metrics):
        kind = counting.kinds[place]
        if not needs_scale(counts, new_users, kind):
            continue
        done = dict(await observations_store.list_done(connection, observed.number, place))
        done |= {unit: each for (metric, unit), each in counting.changed_done.items() if metric == place}
        set_scale(counts, done.values(), new_users, kind)


def _add_point(counted: Observations, judgements: Sequence[Judgement], now: int) -> None:
    if not judgements:
        return
    if any(each.is_reached for each in judgements):
        counted.every = 0  # the last point of the chart is the one at which a guard acts
    else:
        counted.every = max(counted.every, _POINTS_EVERY_SECONDS)
    users = [sum(column) for column in zip(*[each for each in counted.entered if each], strict=False)]
    evidence = [round(each.log_evidence, 4) for each in judgements]
    counted.add_point(Point(now // 1_000_000, evidence, users))
