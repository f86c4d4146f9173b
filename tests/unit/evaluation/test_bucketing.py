"""The buckets of users. They must never change, so they are also compared with published values."""

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.evaluation.bucketing import bucket, variant_position
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.evaluator import evaluate
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.flags.variants import Variant
from tests.support.builders import make_environment, make_flag
from tests.support.naive import naive_bucket

keys = st.from_regex(r"[a-z][a-z0-9_-]{0,30}", fullmatch=True)
identifiers = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1)


# Published in Unleash/unleash-client-java, src/test/java/io/getunleash/strategy/StrategyUtilsTest.java: the values are
# the same in the SDKs for Node, Java and Go. They count from 1.
@pytest.mark.parametrize(("group", "user", "published"), [("gr1", "123", 73), ("groupX", "999", 25)])
def test_unleashs_normalised_values_are_the_buckets(group: str, user: str, published: int) -> None:
    assert bucket(group, user) + 1 == published


@pytest.mark.parametrize(("group", "user", "published"), [("gr1", "123", 96), ("groupX", "999", 60)])
def test_unleashs_normalised_values_with_the_seed_of_variants_are_the_positions(
    group: str, user: str, published: int
) -> None:
    assert variant_position(group, user, 100) + 1 == published


# Published in Unleash/unleash-node-sdk, src/test/variants.test.ts, for the feature toggleName.
@pytest.mark.parametrize(
    ("user", "weights", "published"),
    [
        ("a", [1, 1], 1),
        ("0", [1, 1], 2),
        ("0", [1, 1, 1], 1),
        ("zxa", [1, 1, 1], 2),
        ("ya", [1, 1, 1], 3),
        ("1430", [25, 25, 25, 25], 1),
        ("125", [25, 25, 25, 25], 2),
        ("930", [25, 25, 25, 25], 3),
        ("381", [25, 25, 25, 25], 4),
    ],
)
def test_unleashs_users_get_the_variants_that_it_publishes(user: str, weights: list[int], published: int) -> None:
    flag = make_flag(
        bucketing_key="toggleName",
        variants=tuple(Variant(str(place), weight, "true") for place, weight in enumerate(weights, start=1)),
    )
    snapshot = compile_environment(make_environment(), [TargetedFlag(flag)])
    body, _ = evaluate(snapshot, user, None)
    assert json.loads(body)["flags"][flag.key]["variant"] == str(published)


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
