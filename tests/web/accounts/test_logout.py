"""POST /auth/logout."""

import asyncio

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller
from tests.support.clock import Clock
from tests.support.sessions import log_in


async def test_without_a_valid_token_it_is_refused(client: Caller, ada: Caller) -> None:
    assert (await client.post("/auth/logout")).status_code == 401
    for given in ("Bearer", f"Basic {ada.token}", f"Bearer {ada.token}x"):
        assert (await client.post("/auth/logout", headers={"authorization": given})).status_code == 401, given


async def test_an_expired_token_needs_no_end(ada: Caller, clock: Clock) -> None:
    clock.advance(hours=24)

    assert (await ada.post("/auth/logout")).status_code == 401


@pytest.mark.both_databases
async def test_it_ends_the_token_at_once(ada: Caller) -> None:
    answer = await ada.post("/auth/logout")

    assert (answer.status_code, answer.content) == (204, b"")
    assert (await ada.get("/api/me")).status_code == 401
    assert (await ada.post("/auth/logout")).status_code == 401


@pytest.mark.both_databases
async def test_one_of_many_concurrent_ends_of_a_token_succeeds(ada: Caller) -> None:
    answers = await asyncio.gather(*(ada.post("/auth/logout") for _ in range(8)))

    assert sorted(answer.status_code for answer in answers) == [204] + 7 * [401]


async def test_it_ends_no_other_token(ada: Caller, eve: Caller, flagstaff: Flagstaff) -> None:
    other = await log_in(flagstaff, email="ada@example.com", password="correct horse battery staple")

    await ada.post("/auth/logout")

    assert (await eve.get("/api/me")).status_code == 200
    assert (await ada.get("/api/me", headers={"authorization": f"Bearer {other}"})).status_code == 200
