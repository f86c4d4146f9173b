"""POST /auth/login."""

import asyncio
from typing import Any

import httpx
import jwt
import pytest

from flagstaff.bootstrap import Flagstaff
from tests.support.api import Caller, field_errors
from tests.web.conftest import PASSWORD, Call, SignUp

NUL = "must not contain the NUL character"
WRONG = "The email or the password is wrong."


async def log_in(client: Caller, email: str = "ada@example.com", password: str = PASSWORD) -> httpx.Response:
    return await client.post("/auth/login", json={"email": email, "password": password})


MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"email": "is required", "password": "is required"}),
    ({"email": 1, "password": ["x"]}, {"email": "must be a string", "password": "must be a string"}),
    (
        {"email": "a@b", "password": "x", "remember": True},
        {"remember": "is not a known field; known are email, password"},
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
        await log_in(client, email="x" * 100_000),
    ]

    for answer in answers:
        assert answer.status_code == 401
        assert answer.json()["detail"] == WRONG


async def test_an_unknown_email_costs_a_hash_as_well(
    ada: Caller, client: Caller, flagstaff: Flagstaff, monkeypatch: pytest.MonkeyPatch
) -> None:
    verified: list[str] = []
    verify = flagstaff._passwords._verify

    def count(password: str, password_hash: str | None) -> bool:
        verified.append(password)
        return verify(password, password_hash)

    monkeypatch.setattr(flagstaff._passwords, "_verify", count)

    await log_in(client, password="a wrong one")
    await log_in(client, email="nobody@example.com", password="another")

    assert verified == ["a wrong one", "another"]
    standing_in, real = flagstaff._passwords._nobody, flagstaff._passwords._hasher.hash("x")
    assert standing_in.split("$")[1:4] == real.split("$")[1:4], "the stand-in costs something else"


async def test_the_eleventh_try_after_ten_failures_must_wait_even_with_the_right_password(
    ada: Caller, client: Caller, call_from: Call, sign_up: SignUp
) -> None:
    await sign_up("grace")
    for number in range(10):
        # One account, however its email is written.
        email = "ada@example.com" if number % 2 else " ADA@example.com "
        assert (await log_in(client, email=email, password="wrong")).status_code == 401

    answer = await log_in(client)

    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    assert (await log_in(client, email="grace@example.com")).status_code == 200, "another account is not affected"
    assert (await log_in(call_from("198.51.100.7"))).status_code == 200, "another address is not affected"


async def test_guesses_made_at_once_count_each(ada: Caller, client: Caller) -> None:
    answers = await asyncio.gather(*(log_in(client, password=f"guess {number}") for number in range(15)))

    assert sorted(answer.status_code for answer in answers) == 10 * [401] + 5 * [429]


async def test_a_success_is_no_failure(ada: Caller, client: Caller) -> None:
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


async def test_a_login_gives_a_token_and_nothing_else(ada: Caller, client: Caller) -> None:
    answer = await log_in(client)

    assert answer.status_code == 200
    assert answer.json().keys() == {"token"}
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-store"
    me = await client.get("/api/me", headers={"authorization": f"Bearer {answer.json()['token']}"})
    assert me.json() == {"user_id": ada.account["id"]}


async def test_the_email_is_compared_without_case_and_space(ada: Caller, client: Caller) -> None:
    for email in ("ADA@EXAMPLE.COM", "  ada@example.com\t"):
        assert (await log_in(client, email=email)).status_code == 200


async def test_a_token_tells_nothing_but_ids_and_times(ada: Caller, client: Caller) -> None:
    token = (await log_in(client)).json()["token"]

    claims = jwt.decode(token, options={"verify_signature": False})
    assert jwt.get_unverified_header(token) == {"alg": "HS256", "typ": "JWT"}
    assert claims.keys() == {"sub", "iat", "exp", "pwd"}
    assert claims["exp"] - claims["iat"] == 24 * 3600
    assert claims["sub"] == ada.account["id"]
