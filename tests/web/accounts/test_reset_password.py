"""POST /auth/reset-password."""

import asyncio
from typing import Any

import httpx
import pytest

from tests.support.api import Caller, field_errors
from tests.support.clock import Clock
from tests.support.sessions import PASSWORD
from tests.web.conftest import ListChanges, RequestReset

NEW_PASSWORD = "a new password"
NOT_VALID = "This reset link is not valid: it is unknown, has been used or has expired. Request a new one."


async def reset(client: Caller, token: str, password: str = NEW_PASSWORD) -> httpx.Response:
    return await client.post("/auth/reset-password", json={"token": token, "newPassword": password})


async def log_in(client: Caller, password: str) -> int:
    answer = await client.post("/auth/login", json={"email": "ada@example.com", "password": password})
    return answer.status_code


MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"token": "is required", "newPassword": "is required"}),
    ({"token": 1, "newPassword": None}, {"token": "must be a string", "newPassword": "must be a string"}),
    ({"token": "x", "newPassword": "1234567"}, {"newPassword": "must be at least 8 characters long"}),
    ({"token": "x", "newPassword": "x" * 1025}, {"newPassword": "must be at most 1,024 characters long"}),
    (
        {"token": "x", "newPassword": NEW_PASSWORD, "new_password": NEW_PASSWORD},
        {"new_password": "is not a known field; did you mean newPassword?"},
    ),
]


async def test_a_body_of_another_shape_is_refused(client: Caller) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await client.post("/auth/reset-password", json=body)) == errors


async def test_an_unknown_token_is_refused(client: Caller) -> None:
    for token in ("", "x", "\0", "é" * 43, "x" * 10_000):
        answer = await reset(client, token)
        assert (answer.status_code, answer.json()["detail"]) == (400, NOT_VALID)


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_COMMON_PASSWORDS": "refuse"}])
async def test_a_refused_password_spends_nothing(ada: Caller, client: Caller, request_reset: RequestReset) -> None:
    token = await request_reset()

    for password in ("short", "password123", "ada@example.com"):
        assert field_errors(await reset(client, token, password)).keys() == {"newPassword"}
    assert (await reset(client, token)).status_code == 200


async def test_a_link_works_once(ada: Caller, client: Caller, request_reset: RequestReset) -> None:
    token = await request_reset()
    assert (await reset(client, token)).status_code == 200

    answer = await reset(client, token, "yet another password")

    assert (answer.status_code, answer.json()["detail"]) == (400, NOT_VALID)
    assert await log_in(client, NEW_PASSWORD) == 200


@pytest.mark.both_databases
async def test_one_of_8_concurrent_uses_of_a_link_succeeds(
    ada: Caller, client: Caller, request_reset: RequestReset, list_changes: ListChanges
) -> None:
    token = await request_reset()
    passwords = [f"password number {number}" for number in range(8)]

    answers = await asyncio.gather(*(reset(client, token, password) for password in passwords))

    assert sorted(answer.status_code for answer in answers) == [200] + 7 * [400]
    (won,) = (password for password, answer in zip(passwords, answers, strict=True) if answer.status_code == 200)
    assert await log_in(client, won) == 200
    assert [change["action"] for change in await list_changes()].count("account.password_reset") == 1


async def test_a_link_expires_after_exactly_30_minutes(
    ada: Caller, client: Caller, clock: Clock, request_reset: RequestReset
) -> None:
    token = await request_reset()
    clock.advance(minutes=30)
    answer = await reset(client, token)
    assert (answer.status_code, answer.json()["detail"]) == (400, NOT_VALID)

    clock.advance(microseconds=-1)
    assert (await reset(client, token)).status_code == 200


async def test_a_reset_invalidates_every_link_of_the_account_and_of_no_other(
    ada: Caller, eve: Caller, client: Caller, request_reset: RequestReset
) -> None:
    tokens = [await request_reset() for _ in range(3)]
    other = await request_reset("eve@example.com")
    assert (await reset(client, tokens[1])).status_code == 200

    assert [(await reset(client, token)).status_code for token in tokens] == [400, 400, 400]
    assert (await reset(client, other)).status_code == 200


async def test_a_reset_ends_every_token_of_the_account_and_of_no_other(
    ada: Caller, eve: Caller, client: Caller, request_reset: RequestReset
) -> None:
    assert (await reset(client, await request_reset(), PASSWORD)).status_code == 200, "even to the same password"

    assert (await ada.get("/api/me")).status_code == 401
    assert (await eve.get("/api/me")).status_code == 200


async def test_beyond_60_in_a_minute_an_address_must_wait(client: Caller) -> None:
    answers = [await reset(client, "guess") for _ in range(61)]

    assert [answer.status_code for answer in answers] == 60 * [400] + [429]


async def test_it_answers_in_plain_text_and_the_new_password_counts(
    ada: Caller, client: Caller, request_reset: RequestReset
) -> None:
    answer = await reset(client, await request_reset())

    assert answer.status_code == 200
    assert answer.text == "Password reset successful"
    assert answer.headers["content-type"].split(";")[0] == "text/plain"
    assert await log_in(client, NEW_PASSWORD) == 200
    assert await log_in(client, PASSWORD) == 401


async def test_a_reset_leaves_its_row_without_a_secret(
    ada: Caller, client: Caller, request_reset: RequestReset, list_changes: ListChanges
) -> None:
    await reset(client, await request_reset())

    change = (await list_changes())[-1]
    assert change["action"] == "account.password_reset"
    assert str(change["actor_id"]) == str(change["resource_id"]) == ada.account["id"]
    assert change["before"] == change["after"]
    assert "password_hash" not in change["after"]
