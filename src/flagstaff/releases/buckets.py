"""The buckets of the users who can be compared in a step, and the share of the treatment among them. Pure.

Users are compared whose result came from the rollout. Whether it did may depend on the bucket itself: a rule with a
percentage takes those below it, and a prerequisite with the same bucketing key lets only those below its percentage
through. The percentages cut the 100 buckets into ranges, in each of which the bucket has no influence on whether a user
is compared. So only the users of one range are, the one in which the step's percentage is: there, the treatment's share
is the share of its buckets below the step's percentage.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from flagstaff.evaluation.bucketing import BUCKETS
from flagstaff.flags.flags import Fallthrough, Flag
from flagstaff.releases.releases import Applied, Arms


class BucketRange(NamedTuple):
    """The buckets from `low` up to `high`, which is excluded."""

    low: int
    high: int

    def __contains__(self, bucket: object) -> bool:
        return isinstance(bucket, int) and self.low <= bucket < self.high


class RuleShare(NamedTuple):
    """A live rule with a percentage."""

    flag_id: UUID
    rollout_percentage: int
    updated_at: datetime


ALL_BUCKETS = BucketRange(0, BUCKETS)
NO_BUCKETS = BucketRange(0, 0)


@dataclass(frozen=True, slots=True)
class Cuts:
    """The percentages that cut the buckets of a flag, and the time of the last change of what they come from.

    With `by_variants`, a prerequisite asks for variants that are chosen by the same hash. What cut the buckets before
    `settled_at` is not known, also not what was deleted then. Between the times in `passed`, it was changed more than
    once since the last look, so something may have been added and removed. `last_change` is the latest one's number.
    `flags` are those from which they come; None if one of them does not exist.
    """

    percentages: frozenset[int]
    by_variants: bool
    changed_at: datetime
    settled_at: datetime | None = None
    passed: tuple[datetime, datetime] | None = None
    last_change: int = 0
    flags: frozenset[UUID] | None = None


_OWN_FIELDS = ("key", "bucketing_key", "prerequisites")
_NEEDED_FIELDS = (*_OWN_FIELDS, "enabled", "rollout_percentage", "fallthrough", "archived_at")


def may_change_cuts(
    kind: str, before: Mapping[str, Any] | None, after: Mapping[str, Any] | None, *, is_own: bool
) -> bool:
    """Return whether a recorded change may change the cuts: of a flag or a rule, its own or of a flag that it needs."""
    if kind == "rule":
        return _share_of(before) != _share_of(after)
    fields = _OWN_FIELDS if is_own else _NEEDED_FIELDS
    return kind == "flag" and any((before or {}).get(name) != (after or {}).get(name) for name in fields)


def _share_of(rule: Mapping[str, Any] | None) -> int | None:
    """The percentage of a live rule; None if it looks at no bucket."""
    percentage = (rule or {}).get("rollout_percentage", BUCKETS)
    return percentage if rule and rule.get("enabled") and percentage < BUCKETS else None


def find_cuts(flag: Flag, needed: Mapping[str, Flag], shares: Iterable[RuleShare]) -> Cuts:
    """The cuts of a flag, with the flags that it needs, also indirectly, by key, and the shares of all their rules."""
    shares = [*shares]
    # Whichever attributes they are sticky by: two may have one value, as the user's id and the default do.
    alike = {each.id for each in (flag, *needed.values()) if each.hashed_key == flag.hashed_key}
    percentages = {each.rollout_percentage for each in shares if each.flag_id in alike}
    percentages |= {
        each.rollout_percentage
        for each in needed.values()
        if each.id in alike and each.enabled and each.fallthrough is Fallthrough.ROLLOUT
    }
    by_variants = any(
        prerequisite.variants and needed[prerequisite.flag_key].id in alike
        for each in (flag, *needed.values())
        for prerequisite in each.prerequisites
        if prerequisite.flag_key in needed
    )
    changed = [each.updated_at for each in shares] + [each.updated_at for each in (flag, *needed.values())]
    return Cuts(frozenset(each for each in percentages if 0 < each < BUCKETS), by_variants, max(changed))


def range_of(applied: Applied, cuts: Cuts) -> BucketRange:
    """The buckets of the users who are compared in a step; none if its percentage is one of the cuts."""
    if applied.arms is None:
        return ALL_BUCKETS
    if applied.arms.by_variant:
        return NO_BUCKETS if cuts.by_variants else ALL_BUCKETS
    return cut_range(applied.rollout_percentage, cuts.percentages)


def cut_range(percentage: int, cuts: Collection[int]) -> BucketRange:
    """The buckets around a percentage that no cut parts; none if the percentage is a cut."""
    if percentage in cuts:
        return NO_BUCKETS
    return BucketRange(
        max((each for each in cuts if each < percentage), default=0),
        min((each for each in cuts if each > percentage), default=BUCKETS),
    )


def compared_arms(applied: Applied, buckets: BucketRange) -> Arms | None:
    """The arms of a step, with the shares among the users in these buckets; None if there is nothing to compare."""
    arms = applied.arms
    if arms is None or buckets == ALL_BUCKETS:
        return arms
    if arms.by_variant or not buckets.low < applied.rollout_percentage < buckets.high:
        return None
    share = (applied.rollout_percentage - buckets.low) / (buckets.high - buckets.low)
    return Arms(arms.names, (1 - share, share), by_variant=False)


def needed_by(flags: Sequence[Flag], known: Collection[str]) -> Iterator[str]:
    """The keys of the flags that some flags need, without those that are known."""
    for flag in flags:
        for prerequisite in flag.prerequisites:
            if prerequisite.flag_key not in known:
                yield prerequisite.flag_key
