"""The stretches of a release's steps, in which users are compared in one way: added as steps begin and cuts change."""

from collections.abc import Sequence
from datetime import datetime

from flagstaff.database.tables import microseconds
from flagstaff.releases.buckets import NO_BUCKETS, BucketRange, Cuts, range_of
from flagstaff.releases.counting import TOLERANCE
from flagstaff.releases.observations import Observations, Stretch
from flagstaff.releases.releases import Release

STRETCHES_MAX = 500
"""The stretches after which nobody is compared any more in a step whose cuts are changed again and again."""


def find_uncut(stretches: Sequence[Stretch], release: Release) -> datetime | None:
    """The time at which the first step began whose buckets are still to be cut; None if there is none."""
    known = _count_known(stretches)
    return release.segments[known].at if known < len(release.segments) else None


def _count_known(stretches: Sequence[Stretch]) -> int:
    """The steps that have a stretch."""
    return stretches[-1].segment + 1 if stretches else 0


def add_stretches(counted: Observations, release: Release, cuts: Cuts) -> None:
    """Add a stretch for each step that has begun, and where a rule with another percentage cuts the buckets anew.

    In a step, cuts are only added: what was removed may still decide for a moment on some instances. A step that is
    counted later may have had other cuts than now, before their last change: nobody is compared up to then, and neither
    while cuts were changed more than once since the last look.
    """
    known = _count_known(counted.stretches)
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
