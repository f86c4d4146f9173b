"""The check of a mail server, against real servers."""

import ssl

import pytest
from aiosmtpd.smtp import AuthResult, LoginPassword

from flagstaff.mail.probe import MailServerError, probe
from flagstaff.settings import SmtpServer
from tests.mail.test_smtp import CERTIFICATE, Inbox, smtp_server
from tests.support.ports import free_port

SENDER = "Flagstaff <flags@example.com>"


def plain(port: int, **credentials: str) -> SmtpServer:
    return SmtpServer(host="127.0.0.1", port=port, security="none", **credentials)


async def test_an_unreachable_server_is_reported() -> None:
    with pytest.raises(MailServerError, match="onnect"):
        await probe(plain(free_port()), sender=SENDER)


async def test_a_server_that_sends_nothing_is_not_waited_for() -> None:
    inbox = Inbox()
    async with smtp_server(inbox) as port:
        silent = SmtpServer(host="127.0.0.1", port=port, security="tls")  # both sides wait for each other
        with pytest.raises(MailServerError):
            await probe(silent, sender=SENDER, timeout_seconds=0.3)


async def test_a_server_without_starttls_is_refused() -> None:
    async with smtp_server(Inbox()) as port:
        with pytest.raises(MailServerError, match=r"(?i)starttls"):
            await probe(SmtpServer(host="127.0.0.1", port=port, security="starttls"), sender=SENDER)


async def test_a_wrong_password_is_said_to_be_wrong_and_not_repeated() -> None:
    def refuse(*_: object) -> AuthResult:
        return AuthResult(success=False, handled=False)

    async with smtp_server(Inbox(), authenticator=refuse, auth_require_tls=False) as port:
        with pytest.raises(MailServerError, match="535") as refusal:
            await probe(plain(port, user="flags", password="a wrong password"), sender=SENDER)
    assert "a wrong password" not in str(refusal.value)


async def test_it_connects_and_logs_in_and_sends_nothing() -> None:
    seen: list[LoginPassword] = []

    def accept(*arguments: object) -> AuthResult:
        seen.extend(each for each in arguments if isinstance(each, LoginPassword))
        return AuthResult(success=True)

    inbox = Inbox()
    async with smtp_server(inbox, authenticator=accept, auth_require_tls=False) as port:
        await probe(plain(port, user="flags", password="right"), sender=SENDER)
    assert [(each.login, each.password) for each in seen] == [(b"flags", b"right")]
    assert not inbox.mails


async def test_it_starts_tls() -> None:
    trusted = ssl.create_default_context(cafile=str(CERTIFICATE))
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(CERTIFICATE)
    async with smtp_server(Inbox(), tls_context=own) as port:
        server = SmtpServer(host="localhost", port=port, security="starttls")
        await probe(server, sender=SENDER, tls_context=trusted)
        with pytest.raises(MailServerError, match=r"(?i)certificate"):
            await probe(server, sender=SENDER)


async def test_a_test_mail_goes_to_the_one_it_is_for() -> None:
    inbox = Inbox()
    async with smtp_server(inbox) as port:
        await probe(plain(port), sender=SENDER, recipient="ada@example.com")
    (mail,) = inbox.mails
    assert (mail["to"], mail["from"]) == ("ada@example.com", SENDER)
    assert mail["subject"] == "Test mail from Flagstaff"
