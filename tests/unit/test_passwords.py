"""Hashing passwords: which clients wait, and how little other work is delayed."""

import asyncio
import os
import signal
from collections import Counter
from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs

from flagstaff.identity.accounts.password_worker import NICENESS
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.values.errors import Code, Error
from tests.support.cpu import cpu_seconds


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    """Cheap hashes: 32 KiB is the minimum of Argon2."""
    light = Passwords(time_cost=1, memory_cost_kib=32)
    yield light
    light.close()


async def outcomes(passwords: Passwords, *clients: str) -> Counter[Code | None]:
    """Return the outcomes for these clients, which arrive at the same time."""
    results = await asyncio.gather(
        *(passwords.hash("secret", client=client) for client in clients), return_exceptions=True
    )
    return Counter(result.code if isinstance(result, Error) else None for result in results)


def process_id(passwords: Passwords) -> int:
    process = passwords._worker._process
    assert process is not None
    return process.pid


async def test_a_flood_from_one_client_is_turned_away_beyond_what_it_may_have_waiting(passwords: Passwords) -> None:
    assert await outcomes(passwords, *["ada"] * 100) == {None: 65, Code.LIMITED: 35}


async def test_a_flood_from_many_clients_is_turned_away_beyond_what_can_wait(passwords: Passwords) -> None:
    clients = [str(number) for number in range(300)]
    assert await outcomes(passwords, *clients) == {None: 257, Code.UNAVAILABLE: 43}


async def test_ten_clients_that_fill_the_queue_do_not_exclude_others(passwords: Passwords) -> None:
    greedy = [asyncio.create_task(passwords.hash("secret", client=str(n % 10))) for n in range(400)]
    await asyncio.sleep(0)
    await passwords.hash("secret", client="ada")
    served = [task for task in greedy if task.done() and not task.exception()]
    assert len(served) <= 12, "everybody else had one turn before, at most"
    results = await asyncio.gather(*greedy, return_exceptions=True)
    assert {result.code for result in results if isinstance(result, Error)} == {Code.UNAVAILABLE}


async def test_a_turn_that_is_given_up_goes_to_the_next(passwords: Passwords) -> None:
    waiting = [asyncio.create_task(passwords.hash("secret", client=str(n % 3))) for n in range(30)]
    await asyncio.sleep(0)
    for task in waiting[::2]:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    assert await outcomes(passwords, "ada", "grace") == {None: 2}


async def test_after_a_flood_logins_go_on(passwords: Passwords) -> None:
    await outcomes(passwords, *["ada"] * 100)
    assert await passwords.verify("secret", await passwords.hash("secret"))


async def test_hashing_leaves_the_processor_to_whatever_else_wants_it(passwords: Passwords) -> None:
    await passwords.hash("secret")
    assert os.getpriority(os.PRIO_PROCESS, process_id(passwords)) == NICENESS
    assert os.getpriority(os.PRIO_PROCESS, 0) < NICENESS


async def test_a_process_that_was_killed_is_replaced(passwords: Passwords) -> None:
    hashed = await passwords.hash("secret")
    killed = process_id(passwords)
    os.kill(killed, signal.SIGKILL)
    assert await passwords.verify("secret", hashed)
    assert process_id(passwords) != killed


async def test_a_process_that_has_stopped_fails_one_login_and_is_replaced() -> None:
    passwords = Passwords(time_cost=1, memory_cost_kib=32)
    hashed = await passwords.hash("secret")  # the process has started, which may take longer than the time below
    passwords._worker._answer_seconds = 0.05
    os.kill(stopped := process_id(passwords), signal.SIGSTOP)
    with pytest.raises(Error) as refused, capture_logs() as entries:
        await asyncio.wait_for(passwords.verify("secret", hashed), 10)
    assert refused.value.code is Code.UNAVAILABLE
    assert [entry["event"] for entry in entries] == ["password_process_stuck"]
    with pytest.raises(ProcessLookupError):
        os.kill(stopped, 0)

    passwords._worker._answer_seconds = 30
    with capture_logs() as entries:
        assert await passwords.verify("secret", hashed)
    assert passwords.restarts == 1
    assert [entry["event"] for entry in entries] == ["password_process_replaced"]
    passwords.close()


async def test_a_process_that_cannot_be_started_is_an_outage(passwords: Passwords) -> None:
    command, passwords._worker._command = passwords._worker._command, ["/nowhere/python"]
    with pytest.raises(Error) as refused:
        await passwords.hash("secret")
    assert refused.value.code is Code.UNAVAILABLE
    passwords._worker._command = command
    assert await passwords.hash("secret")


async def test_a_closed_one_checks_nothing_more_and_leaves_no_process(passwords: Passwords) -> None:
    await passwords.hash("secret")
    ended = process_id(passwords)
    passwords.close()
    with pytest.raises(ProcessLookupError):
        os.kill(ended, 0)


async def test_a_wrong_password_is_refused(passwords: Passwords) -> None:
    assert not await passwords.verify("wrong", await passwords.hash("secret"))


async def test_no_password_matches_a_missing_account(passwords: Passwords) -> None:
    assert not await passwords.verify("", None)


async def test_a_missing_account_takes_as_long_to_refuse_as_an_existing_one() -> None:
    costly = Passwords(time_cost=3, memory_cost_kib=16 * 1024)
    somebody = await costly.hash("secret")
    began = cpu_seconds(costly)
    await costly.verify("wrong", somebody)
    refused_somebody = cpu_seconds(costly)
    await costly.verify("wrong", None)
    refused_nobody = cpu_seconds(costly)
    costly.close()
    hashed, stand_in = somebody.split("$"), costly._nobody.split("$")
    assert hashed[1:4] == stand_in[1:4], "the stand-in costs something else"
    assert [*map(len, hashed)] == [*map(len, stand_in)]
    # A hash that cannot be parsed is refused about a thousand times faster.
    assert refused_nobody - refused_somebody > (refused_somebody - began) / 4


async def test_an_invalid_hash_is_refused(passwords: Passwords) -> None:
    assert not await passwords.verify("secret", "not a hash")
