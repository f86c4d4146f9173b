"""The instances that a change waits for, according to readings of their leases, and what lease holders rely on."""

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from flagstaff.cluster.lease import HOLD_SECONDS, LEASE_SECONDS
from flagstaff.cluster.leases_store import Leases, Row


@dataclass
class Watch:
    """An instance that reads the table at the times of its own clock."""

    now: float = 100.0
    leases: Leases = field(init=False)

    def __post_init__(self) -> None:
        self.leases = Leases(lambda: self.now)

    def read(self, *rows: Row, after: float = 0.0, takes: float = 0.0) -> set[str]:
        """Read these rows, and return the instances whose leases have not lapsed."""
        began_at = self.now = self.now + after
        self.now += takes
        self.leases.record(rows, began_at)
        return set(self.leases.live())


def row(renewals: int, instance: str = "a", *, address: str = "", is_leaving: bool = False) -> Row:
    return Row(instance, address or f"{instance}:8000", renewals, is_leaving, holds_lease=True, acknowledges=False)


def test_an_instance_that_was_never_seen_before_is_waited_for_however_old_its_row_is() -> None:
    assert Watch().read(row(1)) == {"a"}


@pytest.mark.parametrize(("after", "live"), [(LEASE_SECONDS - 0.01, {"a"}), (LEASE_SECONDS, set())])
def test_a_lease_lapses_when_no_renewal_is_seen_for_its_length(after: float, live: set[str]) -> None:
    watch = Watch()
    watch.read(row(1))
    assert watch.read(row(1), after=after) == live


def test_a_reading_that_takes_long_proves_no_more_than_one_that_is_answered_when_it_begins() -> None:
    watch = Watch()
    watch.read(row(1), takes=2)
    assert watch.read(row(1), after=2, takes=2) == {"a"}


def test_each_renewal_extends_the_lease() -> None:
    watch = Watch()
    assert all(watch.read(row(number), after=LEASE_SECONDS * 2) == {"a"} for number in range(5))


def test_a_lapsed_lease_that_is_renewed_counts_again() -> None:
    watch = Watch()
    watch.read(row(1))
    assert watch.read(row(1), after=10) == set()
    assert watch.leases.lapsed() == {"a": "a:8000"}
    assert watch.read(row(2), after=10) == {"a"}
    assert watch.leases.lapsed() == {}


def test_a_row_that_is_lost_in_a_failover_counts_until_its_lease_must_have_lapsed() -> None:
    watch = Watch()
    watch.read(row(1))
    assert watch.read(after=1) == {"a"}
    assert watch.read(after=LEASE_SECONDS) == set()
    assert watch.leases.lapsed() == {}, "nobody knows of it any more"


def test_a_row_that_a_failover_has_turned_back_counts_as_renewed() -> None:
    watch = Watch()
    watch.read(row(7))
    assert watch.read(row(6), after=LEASE_SECONDS) == {"a"}


def test_an_instance_that_leaves_is_not_waited_for_nor_missed() -> None:
    watch = Watch()
    watch.read(row(1), row(1, "b"))
    assert watch.read(row(1), row(2, "b", is_leaving=True)) == {"a"}
    assert watch.read(row(2), row(2, "b", is_leaving=True), after=LEASE_SECONDS) == {"a"}
    assert watch.leases.lapsed() == {}


def test_the_rows_after_that_of_an_instance_that_leaves_are_read() -> None:
    watch = Watch()
    watch.read(row(1))
    assert watch.read(row(1, is_leaving=True), row(1, "b")) == {"b"}


def test_an_instance_arrives_when_it_appears_and_when_it_renews_a_lease_that_had_lapsed() -> None:
    watch = Watch()
    renewals = ((1, 0, 1), (2, 1, 1), (2, LEASE_SECONDS, 1), (3, 1, 2), (4, 1, 2))
    for renewal, after, arrivals in renewals:
        watch.read(row(renewal), after=after)
        assert watch.leases.arrivals == arrivals


def test_an_instance_whose_place_another_has_taken_is_not_missed() -> None:
    watch = Watch()
    watch.read(row(1, "old", address="here:8000"))
    assert watch.read(row(1, "old", address="here:8000"), row(1, "new", address="here:8000"), after=9) == {"new"}
    assert watch.leases.lapsed() == {}


def test_an_instance_does_not_miss_the_one_whose_place_it_has_taken_itself() -> None:
    leases = Leases(lambda: now, "here:8000")
    for now in (0.0, LEASE_SECONDS):
        leases.record([row(1, "old", address="here:8000")], now)
    assert leases.lapsed() == {}


_seconds = st.floats(min_value=0, max_value=4, allow_nan=False)
_steps = st.tuples(st.sampled_from(["renew", "read", "renew while reading"]), _seconds, _seconds, _seconds)


@dataclass
class Holder:
    """An instance that holds a lease, by the same clock."""

    watch: Watch
    renewals: int = 0
    held_until: float = 0.0
    is_sure: bool = False

    def renew(self, there: float, back: float) -> None:
        """Renew the lease: the request reaches the table after a delay, and the response returns after another one."""
        began_at = self.watch.now
        self.watch.now += there
        self.renewals += 1
        self.watch.now += back
        self.is_sure = self.is_sure and self.counts_on_it  # otherwise it loads everything before it relies on the lease
        self.held_until = began_at + HOLD_SECONDS

    @property
    def counts_on_it(self) -> bool:
        return self.is_sure and self.watch.now < self.held_until


@example(steps=[("read", 0, 0, 0), ("read", LEASE_SECONDS, 0, 0)])
@given(steps=st.lists(_steps, max_size=30))
def test_no_reading_finds_a_lease_lapsed_while_its_holder_still_counts_on_it(
    steps: list[tuple[str, float, float, float]],
) -> None:
    watch = Watch()
    holder = Holder(watch)
    holder.renew(0, 0)
    holder.is_sure = True
    for kind, pause, there, back in steps:
        watch.now += pause
        if kind == "renew":
            holder.renew(there, back)
            continue
        began_at = watch.now
        watch.now += there
        found = row(holder.renewals)
        if kind == "renew while reading":
            holder.renew(there / 2, back / 2)
        watch.now += back
        watch.leases.record([found], began_at)
        if watch.leases.lapsed():
            assert not holder.counts_on_it
