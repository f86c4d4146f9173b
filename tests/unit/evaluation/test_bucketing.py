"""The buckets of users. They can never change, so they are also compared with values published by others."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.evaluation.bucketing import bucket, variant_position
from tests.support.naive import naive_bucket

keys = st.from_regex(r"[a-z][a-z0-9_-]{0,30}", fullmatch=True)
identifiers = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)


# Unleash's SDKs have these values in their own tests; their buckets are numbered from 1 to 100.
@pytest.mark.parametrize(("group", "user", "normalised"), [("gr1", "123", 73), ("groupX", "999", 25)])
def test_unleashs_normalised_values_match(group: str, user: str, normalised: int) -> None:
    assert bucket(group, user) + 1 == normalised


# From Unleash's client specification: 03-gradual-rollout-user-id, 10-flexible-rollout and 12-custom-stickiness.
@pytest.mark.parametrize(
    ("group", "user", "percentage", "inside"),
    [
        ("AB12A", "122", 50, True),
        ("AB12A", "155", 50, False),
        ("AB12A", "122", 0, False),
        ("Feature.flexibleRollout.10", "174", 10, True),
        ("Feature.flexibleRollout.10", "499", 10, False),
        ("Feature.flexibleRollout.userId.55", "25", 55, True),
        ("Feature.flexibleRollout.sessionId.42", "147", 42, True),
        ("Feature.flexible.rollout.custom.stickiness_50", "402", 50, False),
        ("Feature.flexible.rollout.custom.stickiness_50", "388", 50, True),
        ("Feature.flexible.rollout.custom.stickiness_50", "39", 50, True),
    ],
)
def test_unleashs_gradual_rollouts_match(group: str, user: str, percentage: int, inside: bool) -> None:
    assert (bucket(group, user) < percentage) is inside


@given(keys, identifiers)
def test_a_bucket_is_murmur3_of_key_and_identifier(key: str, identifier: str) -> None:
    assert 0 <= bucket(key, identifier) < 100
    assert bucket(key, identifier) == naive_bucket(key, identifier)


@given(keys, identifiers, st.integers(0, 100), st.integers(0, 100))
def test_a_higher_percentage_only_adds_users(key: str, identifier: str, one: int, other: int) -> None:
    lower, higher = sorted((one, other))
    assert not (bucket(key, identifier) < lower) or bucket(key, identifier) < higher


@pytest.mark.parametrize("key", ["new-checkout", "a", "dark_mode"])
def test_users_are_distributed_evenly_over_the_buckets(key: str) -> None:
    users = 100_000
    sizes = Counter(bucket(key, f"user-{number}") for number in range(users))
    assert len(sizes) == 100
    # Chi-squared with 99 degrees of freedom: one in a thousand even distributions exceeds 149.
    assert sum((size - users / 100) ** 2 / (users / 100) for size in sizes.values()) < 149


def test_flags_choose_their_users_independently() -> None:
    users = [f"user-{number}" for number in range(20_000)]
    both = sum(bucket("one", user) < 10 and bucket("two", user) < 10 for user in users)
    assert 150 < both < 250


@pytest.mark.parametrize(("key", "identifier", "published"), [("gr1", "123", 96), ("groupX", "999", 60)])
def test_unleash_published_the_same_places_of_variants_counted_from_1(
    key: str, identifier: str, published: int
) -> None:
    assert variant_position(key, identifier, 100) + 1 == published
