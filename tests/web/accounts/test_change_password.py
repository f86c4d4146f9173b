"""POST /api/me/password."""

import asyncio
from typing import Any

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support import sessions
from tests.support.api import Caller, field_errors
from tests.support.sessions import PASSWORD
from tests.web.conftest import ListChanges, RequestReset

NEW_PASSWORD = "a new password"


async def change(caller: Caller, current: str = PASSWORD, new: str = NEW_PASSWORD) -> httpx.Response:
    return await caller.post("/api/me/password", json={"current_password": current, "new_password": new})


async def log_in(client: Caller, password: str) -> int:
    answer = await client.post("/auth/login", json={"email": "ada@example.com", "password": password})
    return answer.status_code


async def test_without_a_token_it_is_refused(client: Caller) -> None:
    assert (await change(client)).status_code == 401


MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"current_password": "is required", "new_password": "is required"}),
    (
        {"current_password": 1, "new_password": None},
        {"current_password": "must be a string", "new_password": "must be a string"},
    ),
    ({"current_password": PASSWORD, "new_password": "short"}, {"new_password": "must be at least 8 characters long"}),
    (
        {"current_password": PASSWORD, "new_password": "iloveyou"},
        {"new_password": "This password is too common. Choose another."},
    ),
    (
        {"current_password": PASSWORD, "new_password": "ADA@example.com"},
        {"new_password": "must not be your email address; choose another"},
    ),
]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_COMMON_PASSWORDS": "refuse"}])
async def test_an_invalid_password_is_refused_and_changes_nothing(ada: Caller, client: Caller) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await ada.post("/api/me/password", json=body)) == errors
    assert (await ada.get("/api/me")).status_code == 200
    assert await log_in(client, PASSWORD) == 200


async def test_a_wrong_present_password_is_refused_and_counts_as_a_failed_login(ada: Caller, client: Caller) -> None:
    for _ in range(10):
        assert field_errors(await change(ada, "wrong")) == {"current_password": "is not your current password"}

    answer = await change(ada)
    assert answer.status_code == 429
    assert await log_in(client, PASSWORD) == 429, "the address has had its guesses"
    assert (await ada.get("/api/me")).status_code == 200


async def test_a_success_is_not_a_failure(ada: Caller) -> None:
    for _ in range(12):
        answer = await change(ada, PASSWORD, PASSWORD)
        assert answer.status_code == 200
        ada.headers["authorization"] = f"Bearer {answer.json()['token']}"


@pytest.mark.both_databases
async def test_of_many_changes_at_once_one_succeeds(ada: Caller, client: Caller) -> None:
    passwords = [f"password number {number}" for number in range(6)]
    answers = await asyncio.gather(*(change(ada, new=password) for password in passwords))

    (won,) = (password for password, answer in zip(passwords, answers, strict=True) if answer.status_code == 200)
    assert await log_in(client, won) == 200


async def test_every_other_token_and_every_link_ends_and_the_answer_holds_a_new_token(
    ada: Caller, eve: Caller, client: Caller, flagstaff: Flagstaff, request_reset: RequestReset
) -> None:
    other = await sessions.log_in(flagstaff, email="ada@example.com", password=PASSWORD)
    link = await request_reset()

    answer = await change(ada)

    assert answer.status_code == 200
    assert answer.json().keys() == {"token"}
    for token, status in ((ada.token, 401), (other, 401), (answer.json()["token"], 200)):
        assert (await client.get("/api/me", headers={"authorization": f"Bearer {token}"})).status_code == status
    body = {"token": link, "newPassword": "yet another one"}
    assert (await client.post("/auth/reset-password", json=body)).status_code == 400
    assert await log_in(client, PASSWORD) == 401
    assert await log_in(client, NEW_PASSWORD) == 200
    assert (await eve.get("/api/me")).status_code == 200


async def test_a_change_leaves_its_row_without_a_secret(ada: Caller, list_changes: ListChanges) -> None:
    await change(ada)

    row = (await list_changes())[-1]
    assert row["action"] == "account.password_changed"
    assert str(row["actor_id"]) == str(row["resource_id"]) == ada.account["id"]
    assert (
        row["before"].keys()
        == row["after"].keys()
        == {
            "id",
            "email_verified_at",
            "email",
            "created_at",
            "is_administrator",
            "deactivated_at",
        }
    )
