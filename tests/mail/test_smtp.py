"""Mails sent to a real SMTP server, including slow, refusing and unreachable ones."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from structlog.testing import capture_logs

from flagstaff.mail.envelope import Mail
from flagstaff.mail.smtp import ATTEMPTS, SmtpMailer
from flagstaff.mail.transactional_mails import password_reset
from flagstaff.settings import SmtpServer

CERTIFICATE = Path(__file__).with_name("localhost.pem")  # self-signed, for these tests alone


class Inbox:
    """The mails that a server has received; `rejections` are its first answers to a recipient."""

    def __init__(self, *rejections: str) -> None:
        self.mails: list[Message] = []
        self.envelopes: list[tuple[str | None, list[str]]] = []
        self.sessions: list[Session] = []
        self.attempts = 0
        self._rejections = list(rejections)

    async def handle_RCPT(  # noqa: N802 - the server's name for it
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        self.attempts += 1
        if self._rejections:
            return self._rejections.pop(0)
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        assert isinstance(envelope.content, bytes)
        self.mails.append(message_from_bytes(envelope.content))
        self.envelopes.append((envelope.mail_from, envelope.rcpt_tos))
        self.sessions.append(session)
        return "250 OK"


@asynccontextmanager
async def smtp_server(inbox: Inbox, *, tls: ssl.SSLContext | None = None, **options: Any) -> AsyncIterator[int]:
    """A real SMTP server on a free port, in this event loop."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(
        lambda: SMTP(inbox, hostname="localhost", loop=loop, **options), "127.0.0.1", 0, ssl=tls
    )
    async with server:
        yield server.sockets[0].getsockname()[1]


@asynccontextmanager
async def mute_server() -> AsyncIterator[int]:
    """A server that accepts a connection and then sends nothing."""
    hang_up = asyncio.Event()

    async def say_nothing(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await hang_up.wait()
        writer.close()

    async with await asyncio.start_server(say_nothing, "127.0.0.1", 0) as server:
        yield server.sockets[0].getsockname()[1]
        hang_up.set()


@pytest.fixture
def server_tls() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return context


@pytest.fixture
def client_tls() -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(CERTIFICATE))


@pytest.fixture
def mail() -> Mail:
    return password_reset(
        sender="Flagstaff <flags@example.com>",
        recipient="ada@example.com",
        public_url="http://127.0.0.1:8000",
        token="a-token",
        sent_at=datetime.now(UTC),
    )


def only_ada(
    _server: SMTP, _session: Session, _envelope: Envelope, _mechanism: str, login: LoginPassword
) -> AuthResult:
    return AuthResult(success=login == LoginPassword(b"ada", b"p@ss/#"), handled=False)


async def send(mail: Mail, server: SmtpServer, **options: Any) -> list[Any]:
    """Send a mail with short pauses; return the log, which must never contain an address or a password."""
    with capture_logs() as entries:
        await SmtpMailer(server, backoff_seconds=0.001, **options).send(mail)
    assert "@" not in str(entries)
    assert "p@ss" not in str(entries)
    return list(entries)


def events(entries: list[Any]) -> list[str]:
    return [entry["event"] for entry in entries]


async def test_a_refused_recipient_is_logged_without_another_attempt(mail: Mail) -> None:
    inbox = Inbox("550 <ada@example.com>: no such user")
    async with smtp_server(inbox) as port:
        (entry,) = await send(mail, SmtpServer("127.0.0.1", port, "none"))
    assert (entry["event"], entry["log_level"], entry["code"]) == ("mail_not_sent", "error", 550)
    assert entry["answer"] == "[address] no such user"
    assert inbox.attempts == 1


async def test_a_recipient_refused_for_now_is_tried_again(mail: Mail) -> None:
    inbox = Inbox("451 later", "450 still busy")
    async with smtp_server(inbox) as port:
        log = await send(mail, SmtpServer("127.0.0.1", port, "none"))
    assert events(log) == ["mail_delayed", "mail_delayed", "mail_sent"]
    assert len(inbox.mails) == 1


async def test_after_three_attempts_it_gives_up(mail: Mail) -> None:
    inbox = Inbox(*["451 later"] * 9)
    async with smtp_server(inbox) as port:
        log = await send(mail, SmtpServer("127.0.0.1", port, "none"))
    assert events(log) == ["mail_delayed", "mail_delayed", "mail_not_sent"]
    assert inbox.attempts == ATTEMPTS


async def test_an_unreachable_server_is_logged(mail: Mail) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    log = await send(mail, SmtpServer("127.0.0.1", port, "none"))
    assert events(log) == ["mail_delayed", "mail_delayed", "mail_not_sent"]
    assert log[-1]["server"] == f"127.0.0.1:{port}"


async def test_a_server_that_sends_nothing_is_abandoned_in_time(mail: Mail) -> None:
    async with mute_server() as port:
        log = await asyncio.wait_for(send(mail, SmtpServer("127.0.0.1", port, "none"), timeout_seconds=0.05), timeout=5)
    assert events(log) == ["mail_delayed", "mail_delayed", "mail_not_sent"]


async def test_a_wrong_password_is_logged_without_another_attempt(
    mail: Mail, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    inbox = Inbox()
    async with smtp_server(inbox, tls_context=server_tls, authenticator=only_ada, auth_required=True) as port:
        (entry,) = await send(
            mail, SmtpServer("localhost", port, "starttls", "ada", "wrong-p@ss"), tls_context=client_tls
        )
    assert (entry["event"], entry["code"]) == ("mail_not_sent", 535)
    assert not inbox.mails


async def test_only_a_refused_recipient_or_content_makes_a_mail_final(mail: Mail) -> None:
    class Refusing(Inbox):
        async def handle_MAIL(  # noqa: N802 - the server's name for it
            self, _server: SMTP, _session: Session, _envelope: Envelope, _address: str, _options: list[str]
        ) -> str:
            return "550 not from here"

    async with smtp_server(Inbox("550 no such user")) as port:
        assert await SmtpMailer(SmtpServer("127.0.0.1", port, "none")).send(mail)
    async with smtp_server(Refusing()) as port:
        assert not await SmtpMailer(SmtpServer("127.0.0.1", port, "none")).send(mail)
    async with smtp_server(Inbox(), authenticator=only_ada, auth_require_tls=False) as port:
        assert not await SmtpMailer(SmtpServer("127.0.0.1", port, "none", "ada", "wrong-p@ss")).send(mail)
    async with smtp_server(Inbox()) as port:
        assert not await SmtpMailer(SmtpServer("127.0.0.1", port, "starttls")).send(mail)


async def test_an_unknown_certificate_is_not_trusted(mail: Mail, server_tls: ssl.SSLContext) -> None:
    inbox = Inbox()
    async with smtp_server(inbox, tls_context=server_tls) as port:
        log = await send(mail, SmtpServer("localhost", port, "starttls"))
    assert events(log)[-1] == "mail_not_sent"
    assert not inbox.mails


async def test_where_starttls_is_wanted_and_missing_nothing_is_sent_in_the_clear(mail: Mail) -> None:
    inbox = Inbox()
    async with smtp_server(inbox) as port:
        log = await send(mail, SmtpServer("localhost", port, "starttls", "ada", "p@ss/#"))
    assert events(log)[-1] == "mail_not_sent"
    assert not inbox.attempts


async def test_a_plain_server_takes_the_mail_as_it_was_written(mail: Mail) -> None:
    inbox = Inbox()
    async with smtp_server(inbox) as port:
        log = await send(mail, SmtpServer("127.0.0.1", port, "none"))
    assert events(log) == ["mail_sent"]
    (received,) = inbox.mails
    assert inbox.envelopes == [("flags@example.com", ["ada@example.com"])]
    assert received["To"] == "ada@example.com"
    assert received["Subject"] == "Reset your Flagstaff password"
    assert f"Message-ID: {received['Message-ID']}".encode() in mail.content
    assert received.get_content_type() == "multipart/alternative"
    assert "http://127.0.0.1:8000/reset-password?token=a-token" in str(received)


async def test_starttls_and_a_password_are_used_where_wanted(
    mail: Mail, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    inbox = Inbox()
    async with smtp_server(inbox, tls_context=server_tls, authenticator=only_ada, auth_required=True) as port:
        log = await send(mail, SmtpServer("localhost", port, "starttls", "ada", "p@ss/#"), tls_context=client_tls)
    assert events(log) == ["mail_sent"]
    assert inbox.sessions[0].ssl is not None
    assert inbox.sessions[0].authenticated


async def test_tls_from_the_first_byte_is_used_where_wanted(
    mail: Mail, server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    inbox = Inbox()
    async with smtp_server(inbox, tls=server_tls) as port:
        log = await send(mail, SmtpServer("localhost", port, "tls"), tls_context=client_tls)
    assert events(log) == ["mail_sent"]
    assert len(inbox.mails) == 1


async def test_a_non_ascii_address_reaches_a_server_that_supports_it() -> None:
    recipient = "b\N{LATIN SMALL LETTER U WITH DIAERESIS}@example.com"
    mail = password_reset(
        sender="Flagstaff <flags@example.com>",
        recipient=recipient,
        public_url="http://127.0.0.1:8000",
        token="a-token",
        sent_at=datetime.now(UTC),
    )
    inbox = Inbox()
    async with smtp_server(inbox, enable_SMTPUTF8=True) as port:
        log = await send(mail, SmtpServer("127.0.0.1", port, "none"))
    assert events(log) == ["mail_sent"]
    assert inbox.envelopes == [("flags@example.com", [recipient])]
    async with smtp_server(inbox) as port:
        log = await send(mail, SmtpServer("127.0.0.1", port, "none"))
    assert events(log) == ["mail_not_sent"]
    assert len(inbox.mails) == 1


async def test_the_envelope_says_who_gets_the_mail_whatever_the_mail_says(mail: Mail) -> None:
    inbox = Inbox()
    async with smtp_server(inbox) as port:
        await send(replace(mail, recipient="grace@example.com"), SmtpServer("127.0.0.1", port, "none"))
    assert inbox.envelopes == [("flags@example.com", ["grace@example.com"])]
