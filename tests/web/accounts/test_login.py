"""POST /auth/login."""

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import jwt
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.accounts.passwords import Passwords
from tests.support.api import Caller, field_errors
from tests.support.builders import make_account, store_all
from tests.support.cpu import cpu_seconds
from tests.support.sessions import PASSWORD
from tests.web.conftest import Call, ReadMails, RequestReset, SignUp

NUL = "must not contain the NUL character"
WRONG = "The email or the password is wrong."


async def log_in(client: Caller, email: str = "ada@example.com", password: str = PASSWORD) -> httpx.Response:
    return await client.post("/auth/login", json={"email": email, "password": password})


MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"email": "is required", "password": "is required"}),
    ({"email": 1, "password": ["x"]}, {"email": "must be a string", "password": "must be a string"}),
    (
        {"email": "a@b", "password": "x", "remember": True},
        {"remember": "is not a known field; known fields are email, password"},
    ),
    ({"email": "\0", "password": "\0"}, {"email": NUL, "password": NUL}),
]


async def test_a_body_of_another_shape_is_refused(client: Caller) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await client.post("/auth/login", json=body)) == errors


async def test_a_wrong_password_and_an_unknown_email_get_the_same_answer(ada: Caller, client: Caller) -> None:
    answers = [
        await log_in(client, password="wrong password"),
        await log_in(client, password=PASSWORD.upper()),
        await log_in(client, password=""),
        await log_in(client, email="nobody@example.com"),
        await log_in(client, email="no address", password="short"),
        await log_in(client, email="x" * 10_000),
    ]

    for answer in answers:
        assert answer.status_code == 401
        assert answer.json()["detail"] == WRONG


class TestWithCostlyPasswords:
    """Tests with hashes that take long enough to measure."""

    @pytest.fixture
    def passwords(self) -> Iterator[Passwords]:
        costly = Passwords(time_cost=3, memory_cost_kib=16 * 1024)
        yield costly
        costly.close()

    async def test_an_unknown_email_costs_a_hash_as_well(
        self, ada: Caller, client: Caller, passwords: Passwords
    ) -> None:
        began = cpu_seconds(passwords)
        await log_in(client, email=ada.account["email"], password="a wrong one")
        known = cpu_seconds(passwords)
        await log_in(client, email="nobody@example.com", password="another")
        unknown = cpu_seconds(passwords)

        assert unknown - known > (known - began) / 4


async def test_the_eleventh_try_after_ten_failures_must_wait_even_with_the_right_password(
    ada: Caller, client: Caller, call_from: Call, sign_up: SignUp
) -> None:
    await sign_up("grace")
    for number in range(10):
        # One account, in several spellings of its email.
        email = "ada@example.com" if number % 2 else " ADA@example.com "
        assert (await log_in(client, email=email, password="wrong")).status_code == 401

    answer = await log_in(client)

    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert (await log_in(client, email="grace@example.com")).status_code == 200, "another account is not affected"
    assert (await log_in(call_from("198.51.100.7"))).status_code == 200, "another address is not affected"


@pytest.mark.both_databases
async def test_concurrent_guesses_all_count(ada: Caller, client: Caller) -> None:
    answers = await asyncio.gather(*(log_in(client, password=f"guess {number}") for number in range(15)))

    assert sorted(answer.status_code for answer in answers) == 10 * [401] + 5 * [429]


async def test_a_success_is_not_a_failure(ada: Caller, client: Caller) -> None:
    for _ in range(9):
        await log_in(client, password="wrong")
    for _ in range(12):
        assert (await log_in(client)).status_code == 200

    assert (await log_in(client, password="wrong")).status_code == 401
    assert (await log_in(client)).status_code == 429


async def test_beyond_60_logins_in_a_minute_an_address_must_wait(ada: Caller, client: Caller, call_from: Call) -> None:
    answers = [await log_in(client) for _ in range(61)]

    assert [answer.status_code for answer in answers] == 60 * [200] + [429]
    assert 1 <= int(answers[-1].headers["retry-after"]) <= 60
    assert (await log_in(call_from("192.0.2.9"))).status_code == 200


def network(number: int) -> str:
    """An address in one of the networks of a /48, no two of which are in one /56."""
    return f"2001:db8:1:{number:x}00::1"


async def test_the_networks_of_one_customer_have_a_limit_together(ada: Caller, call_from: Call) -> None:
    # A /56 may fail four times as often as an address, and a /48 sixteen times as often.
    in_one_56 = [call_from(f"2001:db8:1:{number:x}::1") for number in range(5)]
    answers = [await caller.post("/auth/login", json={}) for caller in in_one_56 for _ in range(60)]
    assert [answer.status_code for answer in answers] == 240 * [400] + 60 * [429]

    in_one_48 = [call_from(network(number)) for number in range(1, 15)]
    answers = [await caller.post("/auth/login", json={}) for caller in in_one_48 for _ in range(60)]
    assert [answer.status_code for answer in answers] == 720 * [400] + 120 * [429]
    assert (await call_from("2001:db8:2::1").post("/auth/login", json={})).status_code == 400


async def fail_from_everywhere(call_from: Call, failures: int, email: str = "ada@example.com") -> list[int]:
    """Guess from many addresses, ten times from each."""
    callers = [call_from(f"198.51.100.{number}") for number in range(failures // 10)]
    answers = [
        await asyncio.gather(*(log_in(caller, email=email, password=f"guess {number}") for number in range(10)))
        for caller in callers
    ]
    return [answer.status_code for ten in answers for answer in ten]


async def test_guesses_from_everywhere_stop_after_100_in_an_hour_and_the_owner_gets_in(
    ada: Caller, client: Caller, call_from: Call, flagstaff: Flagstaff
) -> None:
    assert (await log_in(client)).status_code == 200
    await flagstaff.foundation.supervisor.drain(10)

    assert await fail_from_everywhere(call_from, 120) == 100 * [401] + 20 * [429]

    stranger = await log_in(call_from("203.0.113.9"))
    assert stranger.status_code == 429, "a guess that happens to be right is not let in either"
    assert 1 <= int(stranger.headers["retry-after"]) <= 3600
    assert "reset the password" in stranger.json()["detail"]
    assert (await log_in(client)).status_code == 200, "the owner's address is known"
    assert (await log_in(client, password="wrong")).status_code == 401


async def test_an_owner_at_a_new_address_gets_in_by_a_reset(
    ada: Caller, client: Caller, call_from: Call, request_reset: RequestReset, read_mails: ReadMails
) -> None:
    await fail_from_everywhere(call_from, 100)
    assert (await log_in(client)).status_code == 429

    body = {"token": await request_reset(), "newPassword": "another password"}
    assert (await client.post("/auth/reset-password", json=body)).status_code == 200
    await read_mails()  # waits for the work after a response
    assert (await log_in(client, password="another password")).status_code == 200


@pytest.mark.both_databases
async def test_an_address_known_to_one_account_is_unknown_to_another(
    ada: Caller, eve: Caller, client: Caller, call_from: Call, read_mails: ReadMails
) -> None:
    assert (await log_in(client, email="eve@example.com")).status_code == 200
    await read_mails()

    await fail_from_everywhere(call_from, 100)

    assert (await log_in(client)).status_code == 429


async def test_an_unknown_email_is_limited_like_a_known_one(client: Caller, call_from: Call) -> None:
    codes = await fail_from_everywhere(call_from, 110, email="nobody@example.com")

    assert codes == 100 * [401] + 10 * [429]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_ACCOUNT_FAILURE_RATE_LIMIT": "off"}])
async def test_the_limit_on_guesses_from_everywhere_can_be_off(ada: Caller, call_from: Call) -> None:
    assert await fail_from_everywhere(call_from, 110) == 110 * [401]


async def test_an_account_from_before_the_rules_can_still_log_in(
    client: Caller, flagstaff: Flagstaff, passwords: Passwords
) -> None:
    account = make_account(email="old@example.com", password_hash=await passwords.hash("password"))
    await store_all(flagstaff.database, account)

    assert (await log_in(client, email="old@example.com", password="password")).status_code == 200


async def test_a_login_gives_a_token_and_nothing_else(ada: Caller, client: Caller) -> None:
    answer = await log_in(client)

    assert answer.status_code == 200
    assert answer.json().keys() == {"token"}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    me = await client.get("/api/me", headers={"authorization": f"Bearer {answer.json()['token']}"})
    assert me.json() == {"user_id": ada.account["id"]}


@pytest.mark.both_databases
async def test_the_email_is_compared_without_case_and_space(ada: Caller, client: Caller) -> None:
    for email in ("ADA@EXAMPLE.COM", "  ada@example.com\t"):
        assert (await log_in(client, email=email)).status_code == 200


async def test_a_token_contains_only_ids_and_times(ada: Caller, client: Caller) -> None:
    token = (await log_in(client)).json()["token"]

    claims = jwt.decode(token, options={"verify_signature": False})
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}
    assert claims.keys() == {"sub", "sid", "jti", "iat", "exp", "pwd"}
    assert claims["exp"] - claims["iat"] == 24 * 3600
    assert claims["sub"] == ada.account["id"]


async def test_a_network_that_one_customer_may_have_takes_one_turn_at_having_passwords_checked(
    passwords: Passwords, ada: Caller, call_from: Call
) -> None:
    async with passwords._queue.take("somebody"):
        waiting = [
            asyncio.create_task(log_in(call_from(f"2001:db8:7:{number:x}::1"), email="nobody@example.com"))
            for number in range(65)
        ]
        done, _ = await asyncio.wait(waiting, timeout=30, return_when=asyncio.FIRST_COMPLETED)
        (refused,) = (each.result() for each in done)
        owner = asyncio.create_task(log_in(call_from("203.0.113.1"), email=ada.account["email"]))
        await asyncio.sleep(0)

    assert refused.status_code == 429
    assert (await owner).status_code == 200
    assert not all(each.done() for each in waiting)
    await asyncio.gather(*waiting)
