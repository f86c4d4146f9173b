"""The shares of clients that fetch flags again, and what is known of the revisions that they have."""

import asyncio

import pytest

from flagstaff.limits.shared_limits import SharedLimits
from flagstaff.limits.shared_memory import SharedMemory
from flagstaff.serving.refetches import ADDRESS_FACTOR, REFETCHES_MAX, Refetches
from flagstaff.settings import RateLimit

SECRET = "k" * 32
LIMIT = RateLimit(2, 60)
OF_ADDRESS = ADDRESS_FACTOR * LIMIT.count


def make(limit: RateLimit | None = LIMIT) -> Refetches:
    return Refetches(limit, SECRET, capacity=1_000)


def admitted(refetches: Refetches, name: str, revision: int, client: str = "192.0.2.1", times: int = 30) -> int:
    return sum(refetches.admit(name, revision, client) for _ in range(times))


def test_a_client_has_a_share_of_each_revision() -> None:
    refetches = make()
    assert [admitted(refetches, "a", revision) for revision in (1, 1, 2)] == [REFETCHES_MAX, 0, REFETCHES_MAX]


def test_an_address_has_a_bound_and_what_it_refuses_is_left_of_the_share() -> None:
    refetches = make()
    assert sum(admitted(refetches, str(number), 1) for number in range(10)) == OF_ADDRESS
    assert admitted(refetches, "9", 1, client="198.51.100.1") == REFETCHES_MAX


def test_without_a_limit_an_address_has_no_bound() -> None:
    refetches = make(limit=None)
    assert refetches.of_address is None
    assert sum(admitted(refetches, str(number), 1) for number in range(10)) == 10 * REFETCHES_MAX


def test_a_client_is_known_to_have_fetched_since_a_revision_unless_it_was_refused() -> None:
    refetches = make()
    for number in range(10):
        admitted(refetches, str(number), 7)
    found = {(name, revision) for name in "019" for revision in (6, 7, 8) if refetches.has_fetched(name, revision)}
    assert found == {("0", 7), ("1", 7)}


def test_a_stream_may_be_ended_once_because_of_a_revision() -> None:
    refetches = make()
    assert [refetches.may_end(*each) for each in (("a", 7), ("a", 7), ("b", 7), ("a", 8))] == [True, False, True, True]


@pytest.mark.parametrize("limit", [LIMIT, None])
def test_a_client_is_known_to_have_what_was_confirmed(limit: RateLimit | None) -> None:
    refetches = make(limit)
    refetches.confirm("a", 7)
    found = {(name, revision): refetches.is_confirmed(name, revision) for name in "ab" for revision in (6, 7, 8)}
    assert [each for each, is_confirmed in found.items() if is_confirmed] == [("a", 7)]


def test_another_instance_knows_what_was_confirmed_when_it_asks_again() -> None:
    memory, instances = SharedMemory(2), [make(), make()]
    shares = [SharedLimits(each.shared, memory.exchange(number), SECRET) for number, each in enumerate(instances)]
    one, other = instances
    one.confirm("a", 7)
    asyncio.run(shares[0].exchange_once())
    assert not other.is_confirmed("a", 7)
    assert not other.is_confirmed("b", 7)
    asyncio.run(shares[1].exchange_once())
    assert other.is_confirmed("a", 7)
    assert not other.is_confirmed("b", 7)
