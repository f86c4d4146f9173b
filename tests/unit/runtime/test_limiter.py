"""The sliding window: what it refuses, what it allows, and its cost under attack."""

import itertools
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from limits import RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from flagstaff.limits.exchange import SLOTS
from flagstaff.limits.limiter import SlidingWindow


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def window(clock: Clock) -> SlidingWindow:
    return SlidingWindow(3, 60, clock)


def test_the_hit_after_the_last_allowed_one_is_refused_until_the_first_has_left(
    window: SlidingWindow, clock: Clock
) -> None:
    assert [window.hit("a") for _ in range(4)] == [0, 0, 0, 60]
    clock.now += 59.5
    assert window.hit("a") == 1
    clock.now += 0.5
    assert window.hit("a") == 0


def test_the_wait_is_given_in_whole_seconds_rounded_up(window: SlidingWindow, clock: Clock) -> None:
    for _ in range(3):
        window.hit("a")
        clock.now += 10.25
    assert window.hit("a") == 30  # 29.25 seconds are left
    clock.now += 30
    assert window.hit("a") == 0
    assert window.hit("a") == 10  # until the second one has left the window


def test_the_known_hits_of_a_key_are_those_within_the_window(window: SlidingWindow, clock: Clock) -> None:
    assert window.known("a") == 0
    assert len(window) == 0
    for _ in range(5):
        window.hit("a")
    assert window.known("a") == 3
    assert window.known("b") == 0
    clock.now += 30
    window.forgive("a")
    assert window.known("a") == 2
    clock.now += 30
    assert window.known("a") == 0
    assert window.hit("a") == 0
    assert window.known("a") == 1


def test_a_refused_hit_does_not_count(window: SlidingWindow, clock: Clock) -> None:
    for _ in range(100):
        window.hit("a")
    clock.now += 60
    assert [window.hit("a") for _ in range(4)] == [0, 0, 0, 60]


def test_no_burst_over_the_edge_of_a_minute_passes(window: SlidingWindow, clock: Clock) -> None:
    clock.now = 1_019.9
    assert [window.hit("a") for _ in range(3)] == [0, 0, 0]
    clock.now = 1_020.1
    assert window.hit("a") == 60


def test_keys_do_not_disturb_each_other(window: SlidingWindow) -> None:
    for _ in range(4):
        window.hit("a")
    assert window.hit("b") == 0


def test_a_forgiven_hit_makes_room_at_once(window: SlidingWindow, clock: Clock) -> None:
    for _ in range(3):
        window.hit("a")
        clock.now += 1
    assert window.hit("a") > 0
    window.forgive("a")
    assert window.hit("a") == 0
    assert window.hit("a") > 0


def test_forgiving_everything_forgets_the_key(window: SlidingWindow, clock: Clock) -> None:
    for _ in range(3):
        window.hit("a")
        clock.now += 1
    for _ in range(5):
        window.forgive("a")
    assert len(window) == 0
    assert [window.hit("a") for _ in range(4)] == [0, 0, 0, 60]


def test_forgiving_what_has_left_the_window_gives_nothing(clock: Clock) -> None:
    window = SlidingWindow(1, 60, clock)
    window.hit("a")
    clock.now += 60
    window.hit("a")
    window.forgive("a")
    window.forgive("a")
    assert [window.hit("a") for _ in range(2)] == [0, 60]


def test_an_unknown_key_can_be_forgiven(window: SlidingWindow) -> None:
    window.forgive("nobody")
    assert len(window) == 0


@given(
    limit=st.integers(1, 5),
    steps=st.lists(st.one_of(st.floats(0, 1), st.floats(0, 130)), max_size=80),
)
def test_no_window_ever_holds_more_than_the_limit_and_none_waits_a_slot_too_long(
    limit: int, steps: list[float]
) -> None:
    clock = Clock()
    window = SlidingWindow(limit, 60, clock)
    allowed: list[float] = []
    for step in steps:
        clock.now += step
        recent = [moment for moment in allowed if clock.now < moment + 60]
        surely_recent = [moment for moment in allowed if clock.now < moment + 60 + 60 / SLOTS]
        wait = window.hit("a")
        if wait:
            assert len(surely_recent) >= limit
            assert 1 <= wait <= 60
        else:
            assert len(recent) < limit
            allowed.append(clock.now)


@given(limit=st.integers(1, 5), gaps=st.lists(st.integers(0, SLOTS), min_size=60, max_size=60))
def test_a_wait_that_was_obeyed_is_the_last(limit: int, gaps: list[int]) -> None:
    clock = Clock()
    window = SlidingWindow(limit, 60, clock)
    for gap in gaps:
        clock.now += gap / 8
        if wait := window.hit("a"):
            clock.now += wait
            assert window.hit("a") == 0


@pytest.fixture(scope="module")
def library_clock() -> Iterator[Clock]:
    """Freeze the library's time. Its cleaning thread is ended first, because it would race with the test."""
    clock = Clock()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("limits.storage.memory.time.time", clock)
        yield clock


@given(
    limit=st.integers(1, 6),
    steps=st.lists(st.one_of(st.just(0), st.integers(0, 3), st.integers(0, 2 * SLOTS)), max_size=100),
    keys=st.lists(st.sampled_from("ab"), min_size=100, max_size=100),
)
def test_on_whole_slots_it_decides_as_the_library_does(
    library_clock: Clock, limit: int, steps: list[int], keys: list[str]
) -> None:
    clock = Clock()
    ours = SlidingWindow(limit, 60, clock)
    theirs = MovingWindowRateLimiter(storage := MemoryStorage())
    storage.timer.join()
    item = RateLimitItemPerMinute(limit)
    for step, key in zip(steps, itertools.cycle(keys), strict=False):
        clock.now += step * 60 / SLOTS
        # The library still counts a hit that is exactly a minute old; a slightly advanced clock avoids that.
        library_clock.now = clock.now + (clock.now - 1_000) * 1e-9
        assert (ours.hit(key) == 0) == theirs.hit(item, key)
    storage.timer.join()


def test_a_flood_from_a_million_addresses_stays_small() -> None:
    window = SlidingWindow(200, 60, capacity=20_000)
    tracemalloc.start()
    for number in range(100_000):
        window.hit(number.to_bytes(8))
    size, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(window) == 20_000
    assert size / 20_000 < 400  # bytes a key: at the default capacity, 80 MB


def test_the_key_that_was_quiet_for_longest_makes_way(clock: Clock) -> None:
    window = SlidingWindow(1, 60, clock, capacity=3)
    for key in "abc":
        window.hit(key)
    clock.now += 1
    assert window.hit("a") > 0  # refused, but counted
    window.hit("d")
    assert window.hit("a") > 0
    assert len(window) == 3
    assert window.hit("b") == 0


def test_stale_keys_leave_as_new_ones_come(clock: Clock) -> None:
    window = SlidingWindow(1, 60, clock)
    for number in range(1_000):
        window.hit(number)
    clock.now += 60
    for number in range(1_000, 1_500):
        window.hit(number)
    assert len(window) == 500


def test_a_busy_key_holds_no_more_than_its_slots(clock: Clock) -> None:
    window = SlidingWindow(1_000_000, 60, clock)
    for _ in range(20_000):
        window.hit("a")
        clock.now += 0.1
    held = window._windows["a"].older
    assert held is not None
    assert len(held) <= 2 * (SLOTS + 1)
    assert sys.getsizeof(held) < 8_192


def test_a_hit_in_a_full_house_costs_no_more_than_in_an_empty_one() -> None:
    def seconds_for_newcomers(window: SlidingWindow, first: int) -> float:
        begin = time.perf_counter()
        for number in range(first, first + 10_000):
            window.hit(number)
        return time.perf_counter() - begin

    full = SlidingWindow(200, 60, capacity=50_000)
    seconds_for_newcomers(full, 0)
    for number in range(10_000, 60_000):
        full.hit(number)
    empty = min(seconds_for_newcomers(SlidingWindow(200, 60), 0) for _ in range(3))
    evicting = min(seconds_for_newcomers(full, 100_000 + 10_000 * run) for run in range(3))
    assert evicting < 20 * empty  # a scan for the oldest key would take thousands of times as long


def test_it_starts_no_thread() -> None:
    before = threading.active_count()
    SlidingWindow(1, 1).hit("a")
    assert threading.active_count() == before
