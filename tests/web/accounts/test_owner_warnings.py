"""Mails to the owner of an account about passwords, second factors and recovery codes."""

from collections.abc import Awaitable, Callable

import pytest

from tests.support.api import Caller, created
from tests.support.authenticator import Authenticator
from tests.support.clock import Clock
from tests.support.mailbox import text_of
from tests.support.sessions import PASSWORD
from tests.support.two_factor import TWO_FACTOR, answer_challenge, challenge, enrol
from tests.web.conftest import ReadMails, RequestReset

ORIGIN = "http://localhost:8000"
NEW_PASSWORD = "incorrect horse battery staple"
CONFIRMED = {"current_password": PASSWORD}

ReadSubjects = Callable[[], Awaitable[list[str]]]


@pytest.fixture
def environ() -> dict[str, str]:
    return {"FLAGSTAFF_PUBLIC_URL": ORIGIN}


@pytest.fixture
async def read_subjects(ada: Caller, read_mails: ReadMails) -> ReadSubjects:
    """Read the subjects of all mails, each of which goes to ada and leads to her account."""

    async def read() -> list[str]:
        mails = await read_mails()
        assert {mail["to"] for mail in mails} <= {"ada@example.com"}
        warnings = [mail for mail in mails if "Reset your" not in mail["subject"]]
        assert all(f"{ORIGIN}/account" in text_of(mail).split() for mail in warnings)
        return [str(mail["subject"]) for mail in warnings]

    return read


async def test_a_change_that_is_refused_tells_nobody(
    ada: Caller, client: Caller, clock: Clock, read_subjects: ReadSubjects
) -> None:
    wrong = {"current_password": "wrong password"}
    assert (await ada.post("/api/me/password", json={**wrong, "new_password": NEW_PASSWORD})).status_code == 400
    assert (await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": "000000"})).status_code == 409
    assert (await ada.post(f"{TWO_FACTOR}/recovery-codes", json=wrong)).status_code == 400
    body = {"token": "guess", "newPassword": NEW_PASSWORD}
    assert (await client.post("/auth/reset-password", json=body)).status_code == 400
    assert await read_subjects() == []


async def test_an_address_that_was_never_verified_gets_no_mails(client: Caller, read_mails: ReadMails) -> None:
    account = {"email": "victim@example.com", "password": PASSWORD}
    created(await client.post("/auth/register", json=account))
    token = (await client.post("/auth/login", json=account)).json()["token"]
    client.headers["authorization"] = f"Bearer {token}"
    body = {**CONFIRMED, "new_password": NEW_PASSWORD}
    assert (await client.post("/api/me/password", json=body)).status_code == 200
    assert await read_mails() == []


async def test_the_owner_is_mailed_about_a_new_password(
    ada: Caller, client: Caller, read_subjects: ReadSubjects, request_reset: RequestReset
) -> None:
    body = {**CONFIRMED, "new_password": NEW_PASSWORD}
    assert (await ada.post("/api/me/password", json=body)).status_code == 200
    assert await read_subjects() == ["Your Flagstaff password was changed"]
    body = {"token": await request_reset(), "newPassword": PASSWORD}
    assert (await client.post("/auth/reset-password", json=body)).status_code == 200
    assert (await read_subjects())[1:] == ["Your Flagstaff password was reset"]


async def test_the_owner_is_mailed_about_an_app_and_recovery_codes(
    ada: Caller, client: Caller, clock: Clock, read_subjects: ReadSubjects
) -> None:
    app = await enrol(ada, clock)
    assert await read_subjects() == ["An authenticator app was added to your Flagstaff account"]
    (await ada.post(f"{TWO_FACTOR}/recovery-codes", json=CONFIRMED)).raise_for_status()
    assert (await read_subjects())[1:] == ["Your Flagstaff account has new recovery codes"]
    given = await challenge(client)
    assert (await answer_challenge(client, given, code=app.next_code())).status_code == 200
    assert len(await read_subjects()) == 2, "a sign-in with a code of the app tells nobody"
    body = {**CONFIRMED, "code": app.next_code()}
    assert (await ada.post(f"{TWO_FACTOR}/totp/disable", json=body)).status_code == 204
    assert (await read_subjects())[2:] == ["The authenticator app was removed from your Flagstaff account"]


async def test_the_owner_is_mailed_about_each_use_of_a_recovery_code(
    ada: Caller, client: Caller, clock: Clock, read_subjects: ReadSubjects
) -> None:
    app = await enrol(ada, clock)
    given = await challenge(client)
    wrong = await answer_challenge(client, given, recovery_code="abcd-efgh-2345-6789")
    assert wrong.status_code == 400
    assert (await answer_challenge(client, given, recovery_code=app.recovery_codes[0])).status_code == 200
    assert (await read_subjects())[1:] == ["A recovery code of your Flagstaff account was used"]


async def test_the_owner_is_mailed_about_passkeys_without_their_names(
    ada: Caller, read_mails: ReadMails, read_subjects: ReadSubjects
) -> None:
    options = (await ada.post(f"{TWO_FACTOR}/passkeys/options", json=CONFIRMED)).json()["public_key"]
    body = {"name": "https://evil.example", "credential": Authenticator(ORIGIN).create(options)}
    passkey = created(await ada.post(f"{TWO_FACTOR}/passkeys", json=body))["passkey"]
    (await ada.post(f"{TWO_FACTOR}/passkeys/{passkey['id']}/remove", json=CONFIRMED)).raise_for_status()
    assert await read_subjects() == [
        "A passkey was added to your Flagstaff account",
        "A passkey was removed from your Flagstaff account",
    ]
    assert not any("evil.example" in mail.as_string() for mail in await read_mails())
