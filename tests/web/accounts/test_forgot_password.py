"""POST /auth/forgot-password."""

import asyncio
from collections.abc import AsyncIterator
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pytest
import sqlalchemy as sa
from aiosmtpd.smtp import SMTP, Envelope, Session
from structlog.testing import capture_logs

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from tests.support.api import Caller, field_errors
from tests.support.builders import make_account, store_all
from tests.support.clock import Clock
from tests.support.mailbox import reset_token
from tests.web.conftest import ReadMails

ANSWER = {"message": "If the account exists, a reset link has been sent."}


async def forget(client: Caller, email: str = "ada@example.com") -> None:
    answer = await client.post("/auth/forgot-password", json={"email": email})
    assert answer.status_code == 200
    assert answer.json() == ANSWER


MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"email": "is required"}),
    ({"email": None}, {"email": "must be a string"}),
    ({"email": "a\0"}, {"email": "must not contain the NUL character"}),
    ({"mail": "ada@example.com"}, {"email": "is required", "mail": "is not a known field; did you mean email?"}),
]


async def test_a_body_of_another_shape_is_refused(client: Caller) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await client.post("/auth/forgot-password", json=body)) == errors


async def test_beyond_the_limit_an_address_must_wait(client: Caller) -> None:
    for _ in range(60):
        await forget(client)

    answer = await client.post("/auth/forgot-password", json={"email": "ada@example.com"})
    assert answer.status_code == 429


async def test_an_unknown_email_gets_the_same_answer_and_no_mail(
    ada: Caller, client: Caller, read_mails: ReadMails
) -> None:
    for email in ("nobody@example.com", "no address", "", "x" * 1_000):
        await forget(client, email)

    assert await read_mails() == []


async def test_the_link_is_mailed_to_the_address_of_the_account(
    ada: Caller, client: Caller, read_mails: ReadMails
) -> None:
    await forget(client, " ADA@example.com ")

    (mail,) = await read_mails()
    assert mail["to"] == "ada@example.com"
    assert f"http://127.0.0.1:8000/reset-password?token={reset_token(mail)}" in mail.as_string()


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_PUBLIC_URL": "https://flags.example.com/"}])
async def test_the_link_leads_to_the_public_address(ada: Caller, client: Caller, read_mails: ReadMails) -> None:
    await forget(client)

    (mail,) = await read_mails()
    for part in mail.iter_parts():
        assert f"https://flags.example.com/reset-password?token={reset_token(mail)}" in part.get_content()


async def test_three_mails_go_out_in_half_an_hour_and_the_answer_stays_the_same(
    ada: Caller, eve: Caller, client: Caller, clock: Clock, read_mails: ReadMails
) -> None:
    for _ in range(5):
        await forget(client)
    await forget(client, "eve@example.com")
    assert sorted(mail["to"] for mail in await read_mails()) == 3 * ["ada@example.com"] + ["eve@example.com"]

    clock.advance(minutes=30, microseconds=-1)
    await forget(client)
    assert len(await read_mails()) == 4

    clock.advance(microseconds=1)
    await forget(client)
    assert len(await read_mails()) == 5


@pytest.mark.both_databases
async def test_concurrent_requests_all_count(ada: Caller, client: Caller, read_mails: ReadMails) -> None:
    await asyncio.gather(*(forget(client) for _ in range(8)))

    assert len(await read_mails()) == 3


async def test_only_a_hash_of_the_token_is_stored(
    ada: Caller, client: Caller, flagstaff: Flagstaff, read_mails: ReadMails
) -> None:
    await forget(client)

    (mail,) = await read_mails()
    async with flagstaff.database.read() as connection:
        rows = (await connection.execute(sa.select(tables.password_resets))).all()
    assert len(rows) == 1
    assert reset_token(mail) not in repr(rows)
    assert len(rows[0].token_hash) == 32


SMUGGLED = "=?us-ascii?q?v=40t=2eexample=0d=0aSubject=3a=20Invoice=0d=0a=0d=0aPay=20now?=@x.example"


async def forget_of_an_old_account(client: Caller, flagstaff: Flagstaff) -> None:
    """Request a link for an account that is older than the rule that would refuse its address."""
    await store_all(flagstaff.database, make_account(email=SMUGGLED))
    await forget(client, SMUGGLED)


async def test_an_address_that_would_write_its_own_headers_is_sent_nothing(
    client: Caller, flagstaff: Flagstaff, read_mails: ReadMails
) -> None:
    with capture_logs() as log:
        await forget_of_an_old_account(client, flagstaff)
        assert await read_mails() == []

    assert [(entry["event"], entry["log_level"]) for entry in log if entry["log_level"] != "info"] == [
        ("mail_not_sent", "error")
    ]
    assert "Invoice" not in str(log)


class Inbox:
    """The mails that the mail server received."""

    def __init__(self) -> None:
        self.mails: list[EmailMessage] = []

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content, policy=policy.default))
        return "250 OK"


class TestWithAMailServer:
    """The same tests, over SMTP."""

    @pytest.fixture
    def inbox(self) -> Inbox:
        """The server's mails."""
        return Inbox()

    @pytest.fixture
    async def environ(self, inbox: Inbox) -> AsyncIterator[dict[str, str]]:
        """The settings that name the server."""
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: SMTP(inbox, hostname="localhost", loop=loop), "127.0.0.1", 0)
        async with server:
            port = server.sockets[0].getsockname()[1]
            yield {
                "FLAGSTAFF_SMTP_URL": f"smtp://127.0.0.1:{port}",
                "FLAGSTAFF_MAIL_FROM": "Flags <flags@example.com>",
            }

    async def test_an_address_that_would_write_its_own_headers_is_sent_nothing(
        self, client: Caller, flagstaff: Flagstaff, inbox: Inbox, read_mails: ReadMails
    ) -> None:
        await forget_of_an_old_account(client, flagstaff)

        assert await read_mails() == []
        assert inbox.mails == []

    async def test_the_mail_reaches_the_server_and_the_link_works(
        self, ada: Caller, client: Caller, inbox: Inbox, read_mails: ReadMails
    ) -> None:
        await forget(client, ada.account["email"])

        assert await read_mails() == [], "the outbox is for those without a mail server"
        (mail,) = inbox.mails
        assert (mail["to"], mail["from"]) == ("ada@example.com", "Flags <flags@example.com>")
        body = {"token": reset_token(mail), "newPassword": "a new password"}
        assert (await client.post("/auth/reset-password", json=body)).status_code == 200
