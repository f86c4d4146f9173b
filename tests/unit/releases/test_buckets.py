"""The share of the treatment among the buckets with which a user would be compared at all."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from flagstaff.database.tables import microseconds
from flagstaff.flags.flags import Fallthrough
from flagstaff.flags.prerequisites import Prerequisite
from flagstaff.flags.variants import Variant
from flagstaff.releases.buckets import (
    ALL_BUCKETS,
    NO_BUCKETS,
    BucketRange,
    Cuts,
    RuleShare,
    compared_arms,
    cut_range,
    find_cuts,
    may_change_cuts,
    range_of,
)
from flagstaff.releases.observations import Observations
from flagstaff.releases.releases import Applied, Arms
from flagstaff.releases.stretches import add_stretches
from tests.support.builders import AT, make_environment, make_flag, make_release

ENVIRONMENT = make_environment()
FLAG = make_flag(ENVIRONMENT, key="new-checkout", bucketing_key="shared", enabled=True, rollout_percentage=20)


def other(**values: Any) -> Any:
    return make_flag(ENVIRONMENT, **{"key": "base", "bucketing_key": "shared", "enabled": True, **values})


def step(percentage: int) -> Applied:
    share = percentage / 100
    arms = Arms(("off", "on"), (1 - share, share), by_variant=False)
    return Applied(0, AT, AT, arms=arms, rollout_percentage=percentage)


@pytest.mark.parametrize(
    ("percentage", "cuts", "found", "share"),
    [
        (50, set(), ALL_BUCKETS, 0.5),
        (50, {30}, (30, 100), 20 / 70),
        (20, {50}, (0, 50), 20 / 50),
        (10, {30}, (0, 30), 10 / 30),
        (40, {30, 80, 5}, (30, 80), 10 / 50),
        (50, {50}, NO_BUCKETS, None),
    ],
)
def test_percentages_cut_the_buckets_and_users_around_the_steps_percentage_are_compared(
    percentage: int, cuts: set[int], found: tuple[int, int], share: float | None
) -> None:
    buckets = cut_range(percentage, cuts)
    assert buckets == found
    arms = compared_arms(step(percentage), buckets)
    assert (arms and arms.shares[1]) == (share if share is None else pytest.approx(share))
    # In each bucket of the range the same rules and prerequisites let a user through, whatever these are.
    for cut in cuts:
        assert len({bucket < cut for bucket in range(*buckets)}) <= 1


def test_the_cuts_are_those_of_live_rules_and_of_flags_that_are_hashed_alike() -> None:
    needed = {"base": other(rollout_percentage=50), "apart": other(key="apart", bucketing_key=None)}
    flag = make_flag(ENVIRONMENT, key="new-checkout", bucketing_key="shared", prerequisites=(Prerequisite("base"),))
    later = AT + timedelta(hours=1)
    shares = [
        RuleShare(flag.id, 30, AT),
        RuleShare(needed["base"].id, 7, later),
        RuleShare(needed["apart"].id, 3, AT),
    ]
    cuts = find_cuts(flag, needed, shares)
    assert (cuts.percentages, cuts.by_variants, cuts.changed_at) == ({30, 7, 50}, False, later)
    assert find_cuts(FLAG, {}, []).percentages == set()
    assert find_cuts(replace(FLAG, updated_at=later), {}, []).changed_at == later


@pytest.mark.parametrize(
    "values",
    [
        {"rollout_percentage": 50, "bucketing_key": "other"},
        {"rollout_percentage": 50, "fallthrough": Fallthrough.OFF},
        {"rollout_percentage": 50, "enabled": False},
        {"rollout_percentage": 0},
        {"rollout_percentage": 100},
    ],
)
def test_a_prerequisite_that_does_not_look_at_the_bucket_cuts_nothing(values: Any) -> None:
    assert find_cuts(FLAG, {"base": other(**values)}, []).percentages == set()


@pytest.mark.parametrize("stickiness", ["default", "user_id", "user_email", "account"])
def test_a_prerequisite_with_the_same_bucketing_key_cuts_whatever_it_is_sticky_by(stickiness: str) -> None:
    """The hash is of an identifier, and attributes with different names may have the same one."""
    base = other(rollout_percentage=50, stickiness=stickiness)
    assert find_cuts(FLAG, {"base": base}, []).percentages == {50}


def test_variants_that_are_chosen_by_the_same_hash_cannot_be_compared() -> None:
    base = other(variants=(Variant("blue", 1, "1"), Variant("green", 1, "2")))
    flag = make_flag(
        ENVIRONMENT, key="new", bucketing_key="shared", prerequisites=(Prerequisite("base", variants=("blue",)),)
    )
    by_variant = Applied(0, AT, AT, arms=Arms(("a", "b"), (0.5, 0.5), by_variant=True))
    assert range_of(by_variant, find_cuts(flag, {"base": base}, [])) == NO_BUCKETS
    assert range_of(by_variant, find_cuts(FLAG, {"base": base}, [])) == ALL_BUCKETS
    assert compared_arms(by_variant, NO_BUCKETS) is None


@pytest.mark.parametrize(
    ("kind", "before", "after", "is_own", "found"),
    [
        ("rule", None, {"enabled": True, "rollout_percentage": 30}, True, True),
        ("rule", {"enabled": True, "rollout_percentage": 30}, None, True, True),
        ("rule", {"enabled": True, "rollout_percentage": 30}, {"enabled": False, "rollout_percentage": 30}, True, True),
        ("rule", None, {"enabled": True, "rollout_percentage": 100}, True, False),
        ("flag", {"rollout_percentage": 5, "enabled": False}, {"rollout_percentage": 50, "enabled": True}, True, False),
        ("flag", {"rollout_percentage": 5}, {"rollout_percentage": 50}, False, True),
        ("flag", {"prerequisites": []}, {"prerequisites": [{"flag_key": "base"}]}, True, True),
        ("flag", {"bucketing_key": None}, {"bucketing_key": "shared"}, True, True),
        ("flag", {"name": "Old"}, {"name": "New"}, False, False),
        ("release", None, {"key": "release"}, True, False),
    ],
)
def test_a_change_may_change_the_cuts(kind: str, before: Any, after: Any, *, is_own: bool, found: bool) -> None:
    assert may_change_cuts(kind, before, after, is_own=is_own) is found


def test_users_are_compared_from_the_last_change_of_the_cuts_on() -> None:
    release = make_release(applied=tuple(replace(step(20), at=AT + timedelta(hours=hours)) for hours in (0, 1, 2)))
    counted = Observations()
    changed = AT + timedelta(hours=1, minutes=5)
    add_stretches(counted, release, Cuts(frozenset({50}), by_variants=False, changed_at=AT, settled_at=changed))
    began = [(stretch.segment, stretch.began - microseconds(AT), stretch.buckets) for stretch in counted.stretches]
    hour, minute = 3_600_000_000, 60_000_000
    assert began == [
        (0, 0, NO_BUCKETS),
        (1, hour, NO_BUCKETS),
        (1, hour + 6 * minute, (0, 50)),
        (2, 2 * hour, (0, 50)),
    ]
    later = make_release(applied=(step(20), replace(step(20), at=AT + timedelta(seconds=5))))
    counted = Observations()
    settled = Cuts(frozenset(), by_variants=False, changed_at=AT, settled_at=AT + timedelta(seconds=1))
    add_stretches(counted, replace(later, applied=later.applied[:1]), settled)
    add_stretches(counted, later, replace(settled, settled_at=None))
    assert [stretch.began - microseconds(AT) for stretch in counted.stretches] == [0, 61_000_000, 61_000_001]


def test_a_range_has_its_buckets() -> None:
    assert [bucket for bucket in range(100) if bucket in BucketRange(30, 33)] == [30, 31, 32]
    assert None not in ALL_BUCKETS
