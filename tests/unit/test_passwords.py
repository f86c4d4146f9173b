"""Hashing passwords: who waits, and who need not."""

import asyncio
from collections.abc import Iterator
from time import process_time

import pytest

from flagstaff.domain.errors import Code, Error
from flagstaff.services.passwords import Passwords


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    """Light ones: 32 KiB is the least that Argon2 takes."""
    light = Passwords(time_cost=1, memory_cost_kib=32)
    yield light
    light.close()


async def test_a_flood_of_logins_is_turned_away_beyond_what_can_wait(passwords: Passwords) -> None:
    results = await asyncio.gather(*(passwords.hash("secret") for _ in range(200)), return_exceptions=True)
    refused = [result for result in results if isinstance(result, Error)]
    assert {error.code for error in refused} == {Code.UNAVAILABLE}
    assert len(results) - len(refused) == 128


async def test_after_a_flood_logins_go_on(passwords: Passwords) -> None:
    await asyncio.gather(*(passwords.hash("secret") for _ in range(200)), return_exceptions=True)
    assert await passwords.verify("secret", await passwords.hash("secret"))


async def test_a_wrong_password_is_refused(passwords: Passwords) -> None:
    assert not await passwords.verify("wrong", await passwords.hash("secret"))


async def test_nobody_has_a_password(passwords: Passwords) -> None:
    assert not await passwords.verify("", None)


async def test_nobody_takes_as_long_to_refuse_as_somebody() -> None:
    costly = Passwords(time_cost=3, memory_cost_kib=16 * 1024)
    somebody = await costly.hash("secret")
    began = process_time()
    await costly.verify("wrong", somebody)
    refused_somebody = process_time()
    await costly.verify("wrong", None)
    refused_nobody = process_time()
    costly.close()
    # A hash that cannot be read is refused some thousand times sooner.
    assert refused_nobody - refused_somebody > (refused_somebody - began) / 4


async def test_a_hash_that_is_none_is_refused(passwords: Passwords) -> None:
    assert not await passwords.verify("secret", "not a hash")
