"""What an instance makes of its own lease, by a clock that the test sets."""

from math import inf

import pytest

from flagstaff.cluster.lease import HOLD_SECONDS, LEASE_SECONDS, RENEW_SECONDS, Lease
from flagstaff.telemetry.metrics import Metrics


class Watch:
    """A clock, and a lease that is made when it shows 100 seconds."""

    def __init__(self) -> None:
        self.now = 100.0
        self.lease = Lease(lambda: self.now)

    def lapses(self, after: float) -> bool:
        """Return whether the lease has lapsed so many seconds later."""
        self.now += after
        return self.lease.has_lapsed()


def test_an_instance_counts_on_its_lease_for_less_time_than_others_and_can_miss_a_renewal() -> None:
    assert 2 * RENEW_SECONDS < HOLD_SECONDS < LEASE_SECONDS


def test_a_lease_that_no_other_process_can_need_is_always_valid() -> None:
    watch = Watch()
    assert not watch.lapses(after=1e9)
    assert watch.lease.cut_off_seconds() == 0


def test_a_lease_is_valid_from_the_moment_its_renewal_was_sent_and_for_no_longer_than_was_asked() -> None:
    watch = Watch()
    watch.lease.extend(asked_at=99, seconds=3)
    assert [watch.lapses(after=each) for each in (1.5, 0.5, 1)] == [False, True, True]


def test_a_lease_that_has_ended_is_valid_again_when_it_is_extended() -> None:
    watch = Watch()
    watch.lease.end()
    assert watch.lapses(after=0)
    assert watch.lease.valid_until == -inf
    watch.lease.extend(watch.now, 3)
    assert not watch.lapses(after=0)


def test_the_times_between_a_lapse_and_the_next_extension_are_added_up() -> None:
    watch = Watch()
    watch.lease.extend(100, 3)
    watch.now = 102
    assert watch.lease.cut_off_seconds() == 0
    watch.now = 107
    assert watch.lease.cut_off_seconds() == 4
    watch.lease.extend(107, 3)
    assert watch.lease.cut_off_seconds() == 4
    watch.now = 112
    assert watch.lease.cut_off_seconds() == 6


def test_the_time_after_an_end_is_not_counted_as_cut_off() -> None:
    watch = Watch()
    watch.lease.extend(100, 3)
    watch.lease.end()
    watch.now = 200
    assert watch.lease.cut_off_seconds() == 0


@pytest.mark.parametrize(("after", "seconds"), [(0, 1), (0.9, 1), (3.5, 4)])
def test_the_seconds_for_which_changes_may_be_missed_are_rounded_up(after: float, seconds: int) -> None:
    watch = Watch()
    watch.lease.extend(99, 3)
    watch.now = 99 + after
    assert watch.lease.stale_seconds() == seconds


def test_metrics_say_that_the_lease_has_lapsed_and_for_how_long() -> None:
    watch, metrics = Watch(), Metrics()
    watch.lease.export_metrics(metrics)
    watch.lease.extend(100, 3)
    watch.now = 105
    text = metrics.render()[0].decode()
    assert "\nflagstaff_cut_off 1.0\n" in text
    assert "\nflagstaff_cut_off_seconds_total 2.0\n" in text
