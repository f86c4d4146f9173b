"""The rows of instances that serve, or that should serve."""

from flagstaff.cluster.instances import LeaseState, ListedInstance, without_former


def listed(name: str, lease: LeaseState, lease_seconds: float | None) -> ListedInstance:
    return ListedInstance(f"{name}{lease_seconds}", name, "1.0", None, lease, lease_seconds, None)


def test_instances_that_have_stopped_are_left_out_and_those_that_are_stopping_are_not() -> None:
    stopping = listed("b", LeaseState.LEAVING, 2)
    assert without_former([listed("a", LeaseState.LEAVING, -1), stopping]) == [stopping]


def test_of_those_with_one_name_the_last_that_was_heard_of_stays() -> None:
    now, before = listed("a", LeaseState.LIVE, 2), listed("a", LeaseState.LAPSED, -60)
    lost = listed("b", LeaseState.LAPSED, -9)
    assert without_former([lost, now, before]) == without_former([before, now, lost]) == [now, lost]


def test_two_that_serve_under_one_name_are_both_listed() -> None:
    both = [listed("a", LeaseState.LIVE, 1.5), listed("a", LeaseState.LIVE, 2)]
    assert without_former(both) == both


def test_workers_without_times_are_sorted_by_name() -> None:
    workers = [listed(name, LeaseState.LIVE, None) for name in ("x/worker-1", "x/worker-0")]
    assert without_former(workers) == workers[::-1]
