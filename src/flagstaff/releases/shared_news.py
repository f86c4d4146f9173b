"""The news of an environment: its new evaluations and events, read once for all of its releases.

What the releases have in common is made once: units, times, and the columns of a segment.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

from flagstaff.concurrency.worker import in_change_worker
from flagstaff.conditions.attributes import IDENTIFIER_MAX_BYTES, read_identifier
from flagstaff.database.database import Connection
from flagstaff.evaluation.history.layout import Layout, decide
from flagstaff.evaluation.targeting import attributes_of
from flagstaff.evaluation.targets import BUILT_IN
from flagstaff.flags.flags import DEFAULT_STICKINESS
from flagstaff.history.store import event_segments, following
from flagstaff.history.store.columns import StoredColumns
from flagstaff.history.store.event_segments import StoredEvent
from flagstaff.history.store.following import Position, SharedSegment
from flagstaff.metrics.events import unit_of
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.releases.counting import CountedEvent, Seen, make_events
from flagstaff.releases.followed_releases import FollowedRelease
from flagstaff.releases.plans import Counts
from flagstaff.releases.releases import Release


class Part(NamedTuple):
    """The part of the news that is about one release: the evaluations that say something, and the events that count.

    With the number of evaluations without a unit, and of evaluations and events by keys of pages.
    """

    seen: Sequence[tuple[str, Seen]]
    events: Sequence[CountedEvent]
    unnamed: int = 0
    public_evaluations: int = 0
    public_events: int = 0


@dataclass(slots=True)
class NewSegment:
    """A segment of evaluations with what all releases need of it."""

    row: SharedSegment
    columns: StoredColumns
    places: Mapping[UUID, int]
    times: Sequence[int] = field(init=False)
    kinds: Sequence[KeyKind | None] | None = field(init=False)
    _offsets: dict[int | None, list[int]] = field(default_factory=dict, init=False)
    _units: dict[str, dict[int, str]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        columns = self.columns
        self.times = [time // 1000 for time in columns.times]
        origins = columns.origins
        self.kinds = None if origins is None else [origins.kind_at(offset) for offset in range(len(self.times))]
        if columns.flags is not None:
            for offset, place in enumerate(columns.flags):
                self._offsets.setdefault(place, []).append(offset)

    @property
    def layout(self) -> Layout:
        """The layout of the evaluations."""
        return self.row.layout

    def offsets_of(self, place: int, start: int) -> Iterator[int]:
        """The offsets, from one on, of the evaluations that have a result of the flag at a place."""
        first = self.row.first_time
        offsets: Collection[int] = range(start, len(self.times))
        if self.columns.flags is not None:
            offsets = sorted(self._offsets.get(None, []) + self._offsets.get(place, []))
        return (offset for offset in offsets if offset >= start and self.times[offset] >= first)

    def recorded_at(self, offset: int, place: int) -> tuple[int, bytes]:
        """The byte of the flag at a place in an evaluation, and its other columns."""
        flag = self.layout.recorded[place]
        recorded, start = self.columns.recorded, 0
        if isinstance(recorded, list):
            recorded = recorded[offset]
            if self.columns.places[offset] is not None:
                return recorded[0], recorded[1 : 1 + flag.columns]
        else:
            start = offset * self.layout.width
        end = start + self.layout.variant_columns[place] + 1
        return recorded[start + place], recorded[end - flag.columns : end] if flag.columns else b""

    def unit_at(self, offset: int, stickiness: str) -> str:
        """The unit of an evaluation; empty where it was not recorded."""
        units = self._units.setdefault(stickiness, {})
        unit = units.get(offset)
        if unit is None:
            columns = self.columns
            custom = None if stickiness == DEFAULT_STICKINESS else columns.attributes_of(offset)
            unit = units[offset] = find_unit(stickiness, columns.users[offset], columns.emails[offset], custom)
        return unit


@dataclass(slots=True)
class SharedNews:
    """New records of an environment, for several releases that go on from positions of their own.

    `last_segment` and `last_event` are the last that there are. Events, of some metrics, were read up to `event`.
    """

    number: int
    metrics: Collection[str]
    rows: Sequence[SharedSegment]
    segments: Sequence[NewSegment]
    events: Sequence[StoredEvent]
    event: int
    last_segment: int
    last_event: int
    _positions: dict[tuple[object, ...], Position] = field(default_factory=dict, init=False)
    _events: dict[tuple[object, ...], tuple[Sequence[CountedEvent], int]] = field(default_factory=dict, init=False)

    @property
    def size(self) -> int:
        """The number of evaluations and events."""
        return sum(len(each.times) for each in self.segments) + len(self.events)

    def position_after(self, position: Position) -> Position:
        """The position after them of whoever was at a position."""
        key = position.segment, *position.unfinished.items()
        if key not in self._positions:
            self._positions[key] = position.after_all(self.rows)
        return self._positions[key]

    def event_after(self, event: int) -> int:
        """The same of events."""
        return max(event, self.event)

    def has_more(self, position: Position, event: int) -> bool:
        """Return whether there is more after positions."""
        return position.segment < self.last_segment or event < self.last_event

    def part_of(self, followed: FollowedRelease) -> Part:
        """The part of them about a release, which it has not read."""
        seen: list[tuple[str, Seen]] = []
        unnamed = public = 0
        for segment in self.segments:
            start = followed.position.read_of(segment.row.id)
            place = segment.places.get(followed.release.flag_id)
            if start is None or place is None:
                continue
            for unit, each, is_public in _find_seen(segment, place, start, followed):
                public += is_public
                if each is None:
                    continue
                if unit:
                    seen.append((unit, each))
                else:
                    unnamed += 1
        events, public_events = self._events_of(followed.release, followed.event)
        return Part(seen, events, unnamed, public, public_events)

    def _events_of(self, release: Release, after: int) -> tuple[Sequence[CountedEvent], int]:
        """The events of a release's metrics that count, and how many there are of keys of pages."""
        key = after, release.counts, *release.watched
        if key not in self._events:
            places = {metric: place for place, metric in enumerate(release.watched) if metric in self.metrics}
            found = [each for each in self.events if each.segment > after and each.metric in places]
            public = sum(is_public(each.key_kind, release.counts) for each in found)
            counting = [each for each in found if release.counts.has(each.key_kind)]
            self._events[key] = make_events(counting, places), public
        return self._events[key]


def _find_seen(
    segment: NewSegment, place: int, start: int, followed: FollowedRelease
) -> Iterator[tuple[str, Seen | None, bool]]:
    """The evaluations of a segment that say something about a release: the unit, what was seen if it counts."""
    timeline, counts, flag = followed.timeline, followed.counts, segment.layout.recorded[place]
    arms: dict[tuple[int, tuple[int, bytes]], tuple[int, int] | None] = {}
    for offset in segment.offsets_of(place, start):
        at = segment.times[offset]
        recorded = segment.recorded_at(offset, place)
        key = timeline.find(at), recorded
        if key not in arms:
            arms[key] = timeline.find_arm(at, decide(flag, *recorded))
        arm = arms[key]
        if arm is None:
            continue
        kind = None if segment.kinds is None else segment.kinds[offset]
        if not counts.has(kind):
            yield "", None, is_public(kind, counts)
            continue
        yield segment.unit_at(offset, timeline.applied(arm[0]).stickiness), Seen(*arm, at), is_public(kind, counts)


async def read_shared_news(
    connection: Connection, number: int, followed: Collection[FollowedRelease], metrics: Collection[str]
) -> SharedNews:
    """Read some of what is new for releases of an environment, which is limited in evaluations and events."""
    last_segment = await following.find_last_segment(connection, number)
    last_event = await event_segments.find_last(connection, number)
    flags = {each.release.flag_id for each in followed}
    positions = {(each.position.segment, *each.position.unfinished.items()): each.position for each in followed}
    rows = await following.read_shared(
        connection, number, positions.values(), flags, last=last_segment, run=in_change_worker
    )
    places: dict[int, Mapping[UUID, int]] = {}
    segments = []
    for row in rows:
        if row.columns is not None:
            if id(row.layout) not in places:
                places[id(row.layout)] = {flag.id: place for place, flag in enumerate(row.layout.recorded)}
            segments.append(NewSegment(row, row.columns, places[id(row.layout)]))
    after, events = min(each.event for each in followed), list[StoredEvent]()
    event = last_event
    if metrics and last_event > after:
        events, event, _ = await event_segments.list_after(connection, number, metrics, after=after, last=last_event)
    return SharedNews(number, metrics, rows, segments, events, event, last_segment, last_event)


def is_public(kind: KeyKind | None, counts: Counts) -> bool:
    """Return whether evaluations and events with a kind of key are shown as sent by pages."""
    return kind is KeyKind.BROWSER or not counts.has(kind)


def find_unit(stickiness: str, user: str | None, email: str | None, custom: Mapping[str, object] | None) -> str:
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
