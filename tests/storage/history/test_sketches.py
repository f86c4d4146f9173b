"""Sketches of users, compared with sets."""

import random
from hashlib import sha256
from statistics import fmean
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.history.store.distinct_users.sketches import MOST_EXACT, REGISTERS, STANDARD_ERROR, Sketch, hash_users

ENVIRONMENT = UUID("01936f2a-7c00-7000-8000-00000badcafe")
MANY = 100_000


def hashes_of(*numbers: range, environment_id: UUID = ENVIRONMENT) -> list[int]:
    """Return the hashes of users with these numbers, in order."""
    return sorted(hash_users([f"user-{number}" for some in numbers for number in some], environment_id))


def sketch_of(*numbers: range, environment_id: UUID = ENVIRONMENT) -> Sketch:
    return Sketch(hashes_of(*numbers, environment_id=environment_id))


def merged(*sketches: Sketch) -> Sketch:
    whole = Sketch()
    for each in sketches:
        whole.merge(Sketch.decode(each.encode()))
    return whole


@pytest.mark.parametrize(
    "stored",
    [
        b"",
        b"\2",
        b"\0\1\2\3",
        b"\0" + bytes(4 * (MOST_EXACT + 1)),
        b"\1" + bytes(REGISTERS // 2),
        b"\1" + bytes(REGISTERS // 2 + 2),
    ],
)
def test_what_is_no_sketch_is_refused(stored: bytes) -> None:
    with pytest.raises(ValueError, match="damaged"):
        Sketch.decode(stored)


def test_any_registers_can_be_read_and_merged() -> None:
    damaged = Sketch.decode(b"\1" + random.Random(1).randbytes(1 + REGISTERS // 2 + 30))
    damaged.merge(sketch_of(range(1000)))
    assert damaged.count() > 0


def test_the_stored_form_stays_as_it_is() -> None:
    assert sketch_of(range(3)).encode().hex() == "0074bc5c6600c925f2d3d015fc"
    assert sha256(sketch_of(range(1000)).encode()).hexdigest()[:16] == "0bbfa34ba9589f92"


def test_nobody_is_counted_as_none() -> None:
    assert (Sketch().count(), Sketch().is_exact, Sketch().encode()) == (0, True, b"\0")


@pytest.mark.parametrize("number", [1, 2, 37, 100, MOST_EXACT])
def test_few_users_are_counted_exactly(number: int) -> None:
    sketch = sketch_of(range(number), range(number))
    assert (sketch.count(), sketch.is_exact) == (number, True)
    assert len(sketch.encode()) <= 1 + 4 * number


def test_more_users_than_are_kept_are_estimated() -> None:
    sketch = sketch_of(range(MOST_EXACT + 1))
    assert not sketch.is_exact
    assert sketch.count() == pytest.approx(MOST_EXACT + 1, rel=3 * STANDARD_ERROR)


def test_an_environment_has_its_own_hashes() -> None:
    assert not {*hashes_of(range(1000))} & {*hashes_of(range(1000), environment_id=uuid4())}


numbers = st.lists(
    st.integers(0, 3000).flatmap(lambda start: st.integers(0, 3000).map(lambda n: range(start, start + n)))
)


@given(parts=numbers, order=st.randoms(use_true_random=False))
def test_merging_gives_the_sketch_of_all_users_in_any_order_and_repeatedly(
    parts: list[range], order: random.Random
) -> None:
    sketches = [sketch_of(part) for part in parts]
    again = [*sketches, *sketches]
    order.shuffle(again)
    added = Sketch()
    for part in parts:
        added.add(hashes_of(part))
    assert merged(*sketches).encode() == merged(*again).encode() == added.encode() == sketch_of(*parts).encode()


@given(parts=numbers)
def test_a_merge_is_as_precise_as_one_sketch(parts: list[range]) -> None:
    whole = merged(*map(sketch_of, parts))
    users = len({number for part in parts for number in part})
    assert whole.count() == users if whole.is_exact else whole.count() == pytest.approx(users, rel=5 * STANDARD_ERROR)


def test_users_that_change_nothing_can_be_left_out() -> None:
    sketch, limit = sketch_of(range(MANY)), sketch_of(range(MANY)).limit
    before = sketch.encode()
    assert limit < 2**32
    sketch.add([each for each in hashes_of(range(MANY, 2 * MANY)) if each >= limit])
    assert sketch.encode() == before


def test_the_error_for_100_000_users_is_as_stated() -> None:
    environments = [UUID(int=number) for number in range(40)]
    errors = [sketch_of(range(MANY), environment_id=each).count() / MANY - 1 for each in environments]
    assert fmean(error**2 for error in errors) ** 0.5 < 1.3 * STANDARD_ERROR
    assert abs(fmean(errors)) < 0.5 * STANDARD_ERROR
    assert max(map(abs, errors)) < 4 * STANDARD_ERROR


def test_the_size_is_bounded() -> None:
    sketch, sizes = Sketch(), []
    for start in range(0, MANY, 500):
        sketch.add(hashes_of(range(start, start + 500)))
        sizes.append(len(sketch.encode()))
    assert max(sizes) < 2100
