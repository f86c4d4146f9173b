"""POST /auth/register."""

import asyncio
from typing import Any
from uuid import UUID

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, created, field_errors
from tests.support.sessions import PASSWORD
from tests.web.conftest import Call, ListChanges

EMAIL_ADVICE = "must be an email address such as ada@example.com"

ENCODED_WORD = "must not contain an encoded word (=?…?=); write the address itself"

COMMON = "This password is too common. Choose another."


async def register(client: Caller, **values: Any) -> Any:
    return await client.post("/auth/register", json={"email": "ada@example.com", "password": PASSWORD, **values})


MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"email": "is required", "password": "is required"}),
    ({"email": None, "password": 12345678}, {"email": "must be a string", "password": "must be a string"}),
    (
        {"emial": "ada@example.com", "email": "ada@example.com", "password": PASSWORD},
        {"emial": "is not a known field; did you mean email?"},
    ),
    ([], {"body": "must be a JSON object, sent with Content-Type: application/json"}),
]


async def test_a_body_of_another_shape_is_refused(client: Caller) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await client.post("/auth/register", json=body)) == errors


NO_EMAILS = [
    ("", "must not be empty"),
    ("  ", "must not be empty"),
    ("ada", EMAIL_ADVICE),
    ("@example.com", EMAIL_ADVICE),
    ("ada@", EMAIL_ADVICE),
    ("ada@home@example.com", EMAIL_ADVICE),
    ("ada lovelace@example.com", EMAIL_ADVICE),
    ("ada@example..com", EMAIL_ADVICE),
    ("ada\n@example.com", EMAIL_ADVICE),
    ("a,b@example.com", EMAIL_ADVICE),
    ("<ada>@example.com", EMAIL_ADVICE),
    ('"ada"@example.com', EMAIL_ADVICE),
    ("ada@exam<ple.com", EMAIL_ADVICE),
    ("=?us-ascii?q?v=40t=2eexample=0d=0aSubject=3a=20Invoice=0d=0a=0d=0aPay?=@x.com", ENCODED_WORD),
    ("ada@example.com\nBcc:eve@example.com", EMAIL_ADVICE),
    ("ada\0@example.com", "must not contain the NUL character"),
    ("a" * 243 + "@example.com", "must be at most 254 characters long"),
]


async def test_an_invalid_email_is_refused(client: Caller) -> None:
    for email, message in NO_EMAILS:
        assert field_errors(await register(client, email=email)) == {"email": message}


REFUSE = {"FLAGSTAFF_COMMON_PASSWORDS": "refuse"}
NO_PASSWORDS = [
    ("1234567", "must be at least 8 characters long"),
    ("é" * 7, "must be at least 8 characters long"),
    ("x" * 1025, "must be at most 1,024 characters long"),
    ("iloveyou", COMMON),
    ("PassWord1", COMMON),
    ("12345678", COMMON),
    ("Flagstaff", COMMON),
    ("flagstaff-flagstaff!", COMMON),
    ("Ada@Example.com", "must not be your email address; choose another"),
    (" ada@example.com\t", "must not be your email address; choose another"),
    ("ADA-ada-ada", "must not be your email address; choose another"),
    ("12345678\0", "must not contain the NUL character"),
]


@pytest.mark.parametrize("environ", [REFUSE])
async def test_an_invalid_password_is_refused_and_not_repeated(client: Caller) -> None:
    for password, message in NO_PASSWORDS:
        answer = await register(client, password=password)
        assert field_errors(answer) == {"password": message}
        assert password not in answer.text


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_REGISTRATION": "closed"}])
async def test_closed_registration_is_reported_whatever_is_sent(
    client: Caller, flagstaff: Flagstaff, list_changes: ListChanges
) -> None:
    for body in ({}, {"email": "ada@example.com", "password": PASSWORD}):
        answer = await client.post("/auth/register", json=body)
        assert answer.status_code == 403
        assert answer.json()["type"] == "urn:flagstaff:error:forbidden"
        assert "flagstaff users create" in answer.json()["detail"]
    assert await list_changes() == []

    await flagstaff.identity.accounts.register(email="ada@example.com", password=PASSWORD)  # as the command does
    answer = await client.post("/auth/login", json={"email": "ada@example.com", "password": PASSWORD})
    assert answer.status_code == 200


@pytest.mark.both_databases
async def test_an_email_can_register_only_once_in_whatever_case(client: Caller, list_changes: ListChanges) -> None:
    created(await register(client))

    for email in ("ada@example.com", "ADA@Example.COM", " ada@example.com "):
        answer = await register(client, email=email)
        assert answer.status_code == 409
        assert answer.json()["detail"] == "An account with this email exists already."
    assert len(await list_changes()) == 1


@pytest.mark.both_databases
async def test_one_of_many_concurrent_registrations_of_an_email_succeeds(client: Caller) -> None:
    answers = await asyncio.gather(*(register(client) for _ in range(8)))

    assert sorted(answer.status_code for answer in answers) == [201] + 7 * [409]


@pytest.mark.both_databases
@pytest.mark.parametrize("environ", [{"FLAGSTAFF_REGISTER_RATE_LIMIT": "2/minute"}])
async def test_beyond_the_limit_an_address_must_wait(client: Caller, call_from: Call) -> None:
    created(await register(client))
    assert (await register(client)).status_code == 409

    answer = await register(client, email="grace@example.com")

    assert answer.status_code == 429
    assert 1 <= int(answer.headers["retry-after"]) <= 60
    created(await register(call_from("192.0.2.2"), email="grace@example.com"))


async def test_without_a_setting_the_limit_is_60_in_a_minute(client: Caller) -> None:
    answers = [await client.post("/auth/register", json={}) for _ in range(61)]

    assert [answer.status_code for answer in answers] == 60 * [400] + [429]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_REGISTER_RATE_LIMIT": "off"}])
async def test_a_limit_can_be_off(client: Caller) -> None:
    answers = [await client.post("/auth/register", json={}) for _ in range(70)]

    assert {answer.status_code for answer in answers} == {400}


async def test_an_account_is_its_id_and_email(client: Caller) -> None:
    answer = await register(client, email="  Ada@Example.com\n")

    account = created(answer)
    assert account == {"id": account["id"], "email": "Ada@Example.com"}
    assert UUID(account["id"]).version == 7
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.both_databases
async def test_any_text_of_8_to_1024_characters_is_a_password_and_counts_whole(client: Caller) -> None:
    odd = ["1234567!", "x" * 1024, "пароль-🔑", " \t spaces count \n ", "\x01\u202e\ufeff\u0301" * 2]
    for number, password in enumerate(odd):
        email = f"ada{number}@example.com"
        created(await register(client, email=email, password=password))

        for tried, status in ((password, 200), (password[1:], 401), (password[:-1], 401)):
            answer = await client.post("/auth/login", json={"email": email, "password": tried})
            assert answer.status_code == status, password


async def test_any_address_of_up_to_254_characters_is_an_email(client: Caller) -> None:
    for email in ("a" * 242 + "@example.com", "ädä@exämple.com", "a+b'c@localhost"):
        assert created(await register(client, email=email))["email"] == email


async def test_a_registration_leaves_its_row_without_the_password(client: Caller, list_changes: ListChanges) -> None:
    account = created(await register(client))

    (change,) = await list_changes()
    assert change["action"] == "account.registered"
    assert (str(change["actor_id"]), change["actor_email"]) == (account["id"], "ada@example.com")
    assert change["before"] is None
    assert change["after"] == {
        **account,
        "created_at": "2026-11-20T10:00:00.000000Z",
        "is_administrator": True,  # it is the first
        "deactivated_at": None,
        "email_verified_at": None,
    }
