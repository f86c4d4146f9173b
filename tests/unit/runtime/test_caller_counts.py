"""Callers counted in memory."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.history.callers import Caller, SdkProtocol, network_of, read_user_agent
from flagstaff.serving.caller_counts import CallerCounts, Tally
from tests.support.builders import make_environment

ENVIRONMENT, KEY = uuid4(), uuid4()


def caller(user_agent: str = "shop", key: UUID | None = KEY) -> Caller:
    return Caller(ENVIRONMENT, SdkProtocol.EVALUATE, key, user_agent, "192.0.2.0/24")


def counting(**bounds: int) -> CallerCounts:
    return CallerCounts(lambda _: "192.0.2.1", **bounds)


@pytest.mark.parametrize(
    ("client", "network"),
    [
        ("203.0.113.77", "203.0.113.0/24"),
        ("2001:db8:1:2::/64", "2001:db8:1::/48"),
        ("2001:db8:1:2:3::4", "2001:db8:1::/48"),
        ("", ""),
        ("unix", ""),
        ("x" * 10_000, ""),
    ],
)
def test_an_address_is_kept_as_a_network(client: str, network: str) -> None:
    assert network_of(client) == network


def test_no_network_stands_for_others() -> None:
    assert not caller().is_others
    assert caller().others.is_others
    assert caller().others == caller("another").others


def test_a_user_agent_is_short_and_can_be_stored() -> None:
    assert read_user_agent(None) == read_user_agent(b"  ") == ""
    assert read_user_agent(b"ab" * 200) == "ab" * 100


def test_a_user_agent_is_one_line_that_nothing_turns_around() -> None:
    """Control characters would act in a terminal, and marks of direction make it read as another."""
    assert read_user_agent(b"curl\x1b[31m/8\x00.5\t\n") == "curl [31m/8 .5"
    assert read_user_agent("a\u202egnp.exe\u2066 é".encode()) == "a gnp.exe é"
    assert read_user_agent(b"\xff\xed\xa0\x80").encode()


async def test_a_connection_counts_without_a_look_up_until_something_changes(environment: EnvironmentSnapshot) -> None:
    counts, tally = counting(), Tally()
    counts.begin(tally, environment, caller())
    tally.requests += 3
    assert await counts.take(10) == {caller(): 3}
    assert tally.environment is None  # so the next request reports again whose key it is
    assert await counts.take(10) == {}
    counts.begin(tally, environment, caller())
    tally.requests += 2
    counts.begin(tally, environment, caller("another"))
    tally.requests += 1
    assert await counts.take(10) == {caller(): 2, caller("another"): 1}


async def test_what_could_not_be_stored_is_counted_again() -> None:
    counts = counting()
    counts.add(caller(), 2)
    taken = await counts.take(10)
    counts.add(caller(), 1)
    counts.give_back(taken)
    assert await counts.take(10) == {caller(): 3}


async def test_those_that_have_waited_longest_are_taken_first() -> None:
    counts = counting()
    for name in "abc":
        counts.add(caller(name), 1)
    assert list(await counts.take(2)) == [caller("a"), caller("b")]
    assert list(await counts.take(2)) == [caller("c")]


async def test_so_many_callers_of_a_key_wait_and_the_rest_are_others() -> None:
    counts = counting(waiting_of_key_max=2)
    for name in "abcd":
        counts.add(caller(name), 1)
    counts.add(caller("a"), 1)
    counts.add(caller("e", uuid4()), 1)
    taken = await counts.take(10)
    assert taken.get(caller().others) == 2
    assert (taken[caller("a")], len(taken)) == (2, 4)
    counts.give_back(taken)
    assert await counts.take(10) == taken
    counts.add(caller("d"), 1)
    assert await counts.take(10) == {caller("d"): 1}


async def test_so_many_callers_wait_in_all() -> None:
    counts = counting(waiting_max=2)
    keys: list[Any] = [uuid4() for _ in range(4)]
    for key in keys:
        counts.add(caller("a", key), 1)
    taken = await counts.take(10)
    assert sum(not each.is_others for each in taken) == 2
    assert sum(taken.values()) == 4


@pytest.fixture
def environment() -> EnvironmentSnapshot:
    """An environment."""
    return compile_environment(make_environment(uuid4()), [])
