"""Checks a mail server: connects, starts TLS and logs in as for a mail, and sends one only on request."""

import asyncio
import socket
import ssl
from email.message import EmailMessage
from email.policy import SMTPUTF8
from email.utils import localtime, make_msgid

import aiosmtplib

from flagstaff.settings import SmtpServer

_TEXT = "This is a test mail of `flagstaff doctor`. Mails from Flagstaff reach you.\n"


class MailServerError(Exception):
    """The mail server cannot be used; the message says why."""


async def probe(
    server: SmtpServer,
    *,
    sender: str,
    recipient: str | None = None,
    tls_context: ssl.SSLContext | None = None,
    timeout_seconds: float = 10,
) -> None:
    """Return if the server accepts us, and a test mail to the recipient if one is given; raises MailServerError."""
    client = aiosmtplib.SMTP(
        hostname=server.host,
        port=server.port,
        username=server.user,
        password=server.password,
        local_hostname=socket.gethostname(),
        timeout=timeout_seconds,
        use_tls=server.security == "tls",
        start_tls=server.security == "starttls",
        tls_context=tls_context,
    )
    try:
        async with asyncio.timeout(timeout_seconds), client:
            if recipient is not None:
                message = _test_mail(sender, recipient)
                await client.send_message(
                    message, sender=message["From"].addresses[0].addr_spec, recipients=[recipient]
                )
    except TimeoutError as error:
        raise MailServerError(f"no answer within {timeout_seconds:g} seconds") from error
    except (aiosmtplib.SMTPException, OSError, ValueError) as error:
        raise MailServerError(str(error) or type(error).__name__) from error


def _test_mail(sender: str, recipient: str) -> EmailMessage:
    message = EmailMessage(policy=SMTPUTF8)
    message["From"] = sender
    message["To"] = recipient
    message["Subject"] = "Test mail from Flagstaff"
    message["Date"] = localtime()
    message["Message-ID"] = make_msgid(domain=message["From"].addresses[0].domain)
    message["Auto-Submitted"] = "auto-generated"
    message.set_content(_TEXT, charset="us-ascii", cte="7bit")
    return message
