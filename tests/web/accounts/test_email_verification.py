"""POST /api/me/email-verification and its confirmation, and what an address shows that is not verified."""

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, field_errors, flag_path, project_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.mailbox import newest_to, reset_token
from tests.support.members import join
from tests.support.sessions import PASSWORD, log_in, operated_accounts
from tests.support.two_factor import enrol
from tests.web.conftest import Call, ListChanges, ReadMails

MALLORYS = "victim@example.com"
LINK = "/api/me/email-verification"
NOT_VALID = {"token": "is not the token of a valid link for this account; ask for a new link in your account"}


@pytest.fixture
async def mallory(flagstaff: Flagstaff, client: Caller, call_from: Call) -> Caller:
    """A signed-in user who registered with somebody else's address."""
    body = {"email": MALLORYS, "password": PASSWORD}
    account = (await client.post("/auth/register", json=body)).json()
    caller = call_from("192.0.2.7")
    caller.account = account
    caller.headers["authorization"] = f"Bearer {await log_in(flagstaff, **body)}"
    return caller


async def is_verified(caller: Caller) -> bool:
    verified: bool = (await caller.get("/api/me/account")).json()["email_verified"]
    return verified


async def request_link(caller: Caller, read_mails: ReadMails) -> str:
    answer = await caller.post(LINK)
    assert (answer.status_code, answer.content) == (202, b"")
    return reset_token(newest_to(await read_mails(), "verify-email"), "verify-email")


async def test_a_link_is_mailed_only_to_the_own_account_and_while_it_is_not_verified(
    ada: Caller, client: Caller, read_mails: ReadMails
) -> None:
    assert (await client.post(LINK)).status_code == 401
    answer = await ada.post(LINK)
    assert (answer.status_code, answer.json()["detail"]) == (409, "The address of your account is verified already.")
    assert await read_mails() == []


async def test_a_token_that_is_not_genuine_is_refused(mallory: Caller, read_mails: ReadMails) -> None:
    genuine = await request_link(mallory, read_mails)
    last = "B" if genuine.endswith("A") else "A"
    session = mallory.headers["authorization"].removeprefix("Bearer ")
    for token in (
        "",
        "x",
        "é" * 64,
        "\0",
        "x" * 10_000,
        f"B{genuine[1:]}",
        f"{genuine[:-1]}{last}",
        genuine[:-4],
        session,
    ):
        assert field_errors(await mallory.post(f"{LINK}/confirm", json={"token": token})) == NOT_VALID, token
    assert field_errors(await mallory.post(f"{LINK}/confirm", json={})) == {"token": "is required"}
    assert not await is_verified(mallory)


@pytest.mark.both_databases
async def test_only_a_session_of_the_account_verifies_its_address(
    client: Caller, ada: Caller, mallory: Caller, read_mails: ReadMails
) -> None:
    """The owner of the address, who gets the mail, does not vouch for an account that Mallory has registered."""
    token = await request_link(mallory, read_mails)
    assert (await client.post(f"{LINK}/confirm", json={"token": token})).status_code == 401
    assert field_errors(await ada.post(f"{LINK}/confirm", json={"token": token})) == NOT_VALID
    assert not await is_verified(mallory)


async def test_a_link_ends_after_a_day(
    flagstaff: Flagstaff, mallory: Caller, read_mails: ReadMails, clock: Clock
) -> None:
    token = await request_link(mallory, read_mails)
    clock.advance(days=1)
    mallory.headers["authorization"] = f"Bearer {await log_in(flagstaff, email=MALLORYS, password=PASSWORD)}"
    assert field_errors(await mallory.post(f"{LINK}/confirm", json={"token": token})) == NOT_VALID


async def test_a_link_of_an_account_that_is_deactivated_is_refused(
    ada: Caller, mallory: Caller, read_mails: ReadMails
) -> None:
    token = await request_link(mallory, read_mails)
    (await ada.put(f"/api/admin/accounts/{mallory.account['id']}", json={"active": False})).raise_for_status()
    assert (await mallory.post(f"{LINK}/confirm", json={"token": token})).status_code == 401


async def test_a_link_verifies_the_address_once_and_for_all(
    mallory: Caller, read_mails: ReadMails, list_changes: ListChanges
) -> None:
    token = await request_link(mallory, read_mails)
    for _ in range(2):
        assert (await mallory.post(f"{LINK}/confirm", json={"token": token})).status_code == 204
    assert await is_verified(mallory)
    actions = [each["action"] for each in await list_changes()]
    assert actions.count("account.email_verified") == 1
    assert (await mallory.post(LINK)).status_code == 409


async def test_an_account_gets_at_most_forty_links_an_hour(mallory: Caller, read_mails: ReadMails) -> None:
    for _ in range(42):
        assert (await mallory.post(LINK)).status_code == 202
    assert len(await read_mails()) == 40


@pytest.mark.both_databases
async def test_an_account_gets_no_mail_about_what_others_write_until_its_address_is_verified(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    environment: Json,
    mallory: Caller,
    read_mails: ReadMails,
    clock: Clock,
) -> None:
    await join(flagstaff, project, mallory, "editor")
    path = f"{project_path(project)}/notifications"
    (await mallory.put(path, json={"critical": True})).raise_for_status()
    flag = await ada.create_flag(environment)

    async def count_mails_of_a_change() -> int:
        before = len(await read_mails())
        (await ada.post(f"{flag_path(flag)}/toggle")).raise_for_status()
        await do_now(flagstaff, "notifications")
        clock.advance(seconds=61)
        await do_now(flagstaff, "notifications")
        return len(await read_mails()) - before

    assert await count_mails_of_a_change() == 0
    token = await request_link(mallory, read_mails)
    assert (await mallory.post(f"{LINK}/confirm", json={"token": token})).status_code == 204
    assert await count_mails_of_a_change() == 1


async def test_an_operator_vouches_for_the_accounts_that_the_command_line_creates(
    flagstaff: Flagstaff, call_from: Call
) -> None:
    account = await operated_accounts(flagstaff).create(email="ops@example.com", password=PASSWORD)
    caller = call_from("192.0.2.8")
    caller.headers["authorization"] = f"Bearer {await log_in(flagstaff, email=account.email, password=PASSWORD)}"
    assert await is_verified(caller)


async def test_the_first_reset_by_mail_ends_what_somebody_else_has_set_up(
    client: Caller, mallory: Caller, read_mails: ReadMails, clock: Clock
) -> None:
    """Mallory enrols an authenticator app, which would lock the owner of the address out of it for ever."""
    await enrol(mallory, clock)
    made = {"name": "CI", "permissions": ["project:read"], "current_password": PASSWORD}
    token = (await mallory.post("/api/me/tokens", json=made)).json()["token"]

    (await client.post("/auth/forgot-password", json={"email": "victim@example.com"})).raise_for_status()
    link = reset_token(newest_to(await read_mails(), "reset-password"))
    body = {"token": link, "newPassword": "the owner's own", "keep_access_tokens": True}
    assert (await client.post("/auth/reset-password", json=body)).status_code == 200

    answer = await client.post("/auth/login", json={"email": "victim@example.com", "password": "the owner's own"})
    assert answer.status_code == 200
    assert (await mallory.get("/api/me/account")).status_code == 401
    mallory.headers["authorization"] = f"Bearer {token}"
    assert (await mallory.get("/api/me")).status_code == 401
    mallory.headers["authorization"] = f"Bearer {answer.json()['token']}"
    assert await is_verified(mallory)
