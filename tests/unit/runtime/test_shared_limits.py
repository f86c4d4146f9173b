"""Limits that several instances share through memory: what they allow together, and what they never refuse."""

import asyncio
from collections.abc import Hashable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from flagstaff.limits.exchange import SLOTS
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.limits.shared_limits import SharedLimits
from flagstaff.limits.shared_memory import SharedMemory

SECRET = "a secret that all instances have"


class Clock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class Together:
    """Instances with one limit, which exchange when a test tells them to."""

    def __init__(self, limit: int, instances: int, *, window_seconds: int = 60, records: int = 4_096) -> None:
        self.clock = Clock()
        self.limit = limit
        self.instances = instances
        self.window_seconds = window_seconds
        self.memory = SharedMemory(instances, records=records)
        self.windows: list[SlidingWindow] = []
        self.shares: list[SharedLimits] = []
        for number in range(instances):
            self.windows.append(window := SlidingWindow(limit, window_seconds, self.clock))
            self.shares.append(self._share(number, window))

    def _share(self, number: int, window: SlidingWindow) -> SharedLimits:
        share = SharedLimits({"evaluate": window}, self.memory.exchange(number, self.clock), SECRET)
        share._share_among(self.instances)
        return share

    def replace(self, number: int) -> None:
        """Replace an instance that was killed."""
        self.windows[number] = SlidingWindow(self.limit, self.window_seconds, self.clock)
        self.shares[number] = self._share(number, self.windows[number])

    def exchange(self, *numbers: int) -> None:
        """Let each instance send and receive once; after two exchanges all of them know everything."""
        for number in numbers or range(len(self.shares)):
            while asyncio.run(self.shares[number].exchange_once()):
                pass

    def hits(self, number: int, times: int, key: Hashable = "a") -> int:
        """Return how many of these hits an instance allows."""
        return sum(self.windows[number].hit(key) == 0 for _ in range(times))


def test_a_limit_that_one_instance_has_used_up_is_used_up_at_the_others() -> None:
    together = Together(200, 3)
    assert together.hits(0, 250) == 200
    together.exchange()
    assert together.hits(1, 1) == 1  # it has not asked about the key before
    together.exchange()
    assert together.hits(1, 1) == 0
    assert together.windows[1].hit("a") == 60


def test_an_instance_that_asks_about_a_key_knows_the_hits_of_others_the_next_time() -> None:
    together = Together(200, 3)
    together.hits(0, 30)
    together.exchange(0)
    assert together.windows[1].known("a") == 0
    together.exchange(1)
    assert together.windows[1].known("a") == 30
    together.hits(2, 5)
    together.exchange(2, 1)
    assert together.windows[1].known("a") == 35
    assert together.windows[1].known("b") == 0
    together.exchange(1)
    assert together.windows[1].known("b") == 0
    together.clock.now += 60 + 60 / SLOTS
    assert together.windows[1].known("a") == 0
    assert together.hits(1, 250) == 200


def test_hits_leave_at_the_others_when_their_minute_is_over() -> None:
    together = Together(200, 2)
    together.hits(0, 100)
    together.hits(1, 1)
    together.exchange()
    together.exchange()
    together.clock.now += 30
    assert together.hits(1, 200) == 99
    together.clock.now += 30 + 60 / SLOTS
    assert together.hits(1, 200) == 101


def test_hits_are_as_old_as_they_are_when_an_instance_first_hears_of_them() -> None:
    together = Together(200, 2)
    for _ in range(4):
        together.hits(0, 50)
        together.exchange(0)
        together.clock.now += 10
    together.hits(1, 1)
    together.exchange(1)
    assert together.hits(1, 1) == 0
    together.clock.now += 20.5
    assert together.hits(1, 200) == 49


def test_keys_and_limits_do_not_disturb_each_other() -> None:
    together = Together(3, 2)
    together.hits(0, 3, "a")
    together.hits(1, 1, "a")
    together.hits(1, 1, ("a", "b"))
    together.exchange(0, 1)
    assert together.hits(1, 3, ("a", "b")) == 2
    assert together.hits(1, 3, "a") == 0


def test_a_forgiven_hit_is_forgiven_everywhere() -> None:
    together = Together(10, 2)
    together.hits(0, 10)
    together.hits(1, 1)
    together.exchange(0, 1)
    assert together.hits(1, 1) == 0
    for _ in range(4):
        together.windows[0].forgive("a")
    together.exchange(0, 1)
    assert together.hits(1, 10) == 3
    together.exchange(1)
    together.windows[0].forgive("a")
    together.exchange(0)
    assert together.hits(1, 1) == 0  # it has not received it yet
    together.exchange(1)
    assert together.hits(1, 10) == 1


def test_what_was_forgiven_before_it_was_told_is_never_told() -> None:
    together = Together(10, 2)
    together.hits(0, 5)
    for _ in range(5):
        together.windows[0].forgive("a")
    together.hits(1, 1)
    together.exchange(0, 1)
    assert together.hits(1, 10) == 9


def test_a_worker_that_replaces_a_killed_one_goes_on_with_its_counts() -> None:
    together = Together(200, 2)
    together.hits(0, 150)
    together.exchange()
    together.replace(0)
    together.hits(0, 1)
    together.exchange()
    assert together.hits(0, 200) == 49


def test_a_client_that_hits_one_instance_hard_is_told_of_before_a_flood_of_others() -> None:
    together = Together(200, 3)
    for number in range(3_000):
        together.windows[0].hit(number)
    together.hits(0, 200, "hard")
    together.hits(1, 1, "hard")
    asyncio.run(together.shares[0].exchange_once())
    together.exchange(1)
    assert together.hits(1, 1, "hard") == 0
    assert together.shares[0].waiting > 2_000


def test_a_flood_of_one_limit_delays_no_other() -> None:
    clock = Clock()
    limits = {name: SlidingWindow(200, 60, clock) for name in ("evaluate", "login")}
    share = SharedLimits(limits, SharedMemory(2, records=64).exchange(0, clock), SECRET)
    for number in range(3_000):
        limits["evaluate"].hit(number)
    limits["login"].hit("a")
    asyncio.run(share.exchange_once())
    login = limits["login"]._windows["a"]
    assert login.told == login.total == 1


def test_only_the_first_change_begins_an_exchange() -> None:
    begun: list[bool] = []
    window = SlidingWindow(200, 60, Clock())
    changed = window.share(lambda: begun.append(True), lambda: None)
    for key in ("a", "a", "b"):
        window.hit(key)
    assert len(begun) == 1
    changed.take(2)
    window.hit("a")
    assert len(begun) == 2


def test_a_ring_that_was_overwritten_loses_the_oldest_hits_alone() -> None:
    together = Together(200, 2, records=64)
    together.exchange(1)
    for number in range(200):
        together.hits(0, 10, number)
    together.exchange(0)
    for number in range(200):
        together.hits(1, 1, number)
    together.exchange(1)
    known = [number for number in range(200) if together.hits(1, 200, number) == 189]
    assert known == list(range(136, 200))


steps = st.lists(
    st.tuples(
        st.integers(0, 2),  # the instance
        st.integers(0, 9),  # hits
        st.sampled_from([0.0, 0.01, 0.3, 5.0, 31.0, 61.0]),  # seconds until then
        st.booleans(),  # whether the instance exchanges afterwards
    ),
    max_size=60,
)


@given(limit=st.integers(1, 12), steps=steps)
def test_no_minute_holds_more_than_the_limit_and_what_the_others_had_not_said(
    limit: int, steps: list[tuple[int, int, float, bool]]
) -> None:
    together = Together(limit, 3)
    allowed: list[float] = []
    counted, told, heard = [0, 0, 0], [0, 0, 0], [0, 0, 0]
    for number, times, seconds, exchanges in steps:
        together.clock.now += seconds
        now = together.clock.now
        for _ in range(times):
            if together.hits(number, 1):
                allowed.append(now)
                counted[number] += 1
                unheard = sum(counted) - counted[number] - heard[number]
                assert sum(now < moment + 60 for moment in allowed) <= limit + unheard
        if exchanges and times:  # an instance asks about a key that it was asked about
            together.exchange(number)
            told[number] = counted[number]
            heard[number] = sum(told) - told[number]


@given(limit=st.integers(1, 12), steps=steps)
def test_no_client_below_the_limit_is_refused(limit: int, steps: list[tuple[int, int, float, bool]]) -> None:
    together = Together(limit, 3)
    allowed: list[float] = []
    delay = 60 * 2 / SLOTS + 0.01 * len(steps)  # between exchanges, the clock is moved by 0.01 seconds at a time
    for number, times, seconds, exchanges in steps:
        if exchanges or seconds > 0.01:
            together.exchange()
        together.clock.now += seconds
        now = together.clock.now
        for _ in range(times):
            if together.hits(number, 1):
                allowed.append(now)
            else:
                assert sum(now < moment + 60 + delay for moment in allowed) >= limit


@given(steps=steps)
def test_a_single_instance_counts_exactly_as_without_an_exchange(steps: list[tuple[int, int, float, bool]]) -> None:
    together = Together(7, 1)
    alone = SlidingWindow(7, 60, together.clock)
    for number, times, seconds, exchanges in steps:
        together.clock.now += seconds
        for _ in range(times):
            assert together.windows[0].hit("a") == alone.hit("a")
        if number == 2:
            together.windows[0].forgive("a")
            alone.forgive("a")
        if exchanges:
            together.exchange()


@pytest.mark.parametrize("instances", [2, 3, 8])
def test_a_burst_over_several_instances_exceeds_the_limit_by_two_for_each(instances: int) -> None:
    together = Together(200, instances)
    allowed = 0
    for round_number in range(10_000):
        number = round_number % instances
        allowed += together.hits(number, 1)
        if together.shares[number]._hurried.is_set():
            together.shares[number]._hurried.clear()
            together.exchange(number)
    assert 200 <= allowed <= 200 + 2 * instances
