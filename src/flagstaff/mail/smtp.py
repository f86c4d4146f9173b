"""Sends mails through a mail server. Addresses and passwords are never logged."""

import asyncio
import re
import socket
import ssl

import aiosmtplib
import structlog

from flagstaff.mail.envelope import Mail
from flagstaff.settings import SmtpServer

log = structlog.get_logger(__name__)

ATTEMPTS = 3

_ADDRESS = re.compile(r"\S+@\S+")


class SmtpMailer:
    """Sends each mail over a separate connection."""

    def __init__(
        self,
        server: SmtpServer,
        *,
        tls_context: ssl.SSLContext | None = None,
        timeout_seconds: float = 20,
        backoff_seconds: float = 1,
    ) -> None:
        """Opens nothing yet. `timeout_seconds` bounds an attempt; `backoff_seconds` is the first pause and doubles."""
        self._server = server
        self._tls_context = tls_context
        self._timeout_seconds = timeout_seconds
        self._backoff_seconds = backoff_seconds

    async def send(self, mail: Mail) -> bool:
        """Send the mail in up to three attempts, and log failures.

        Return False if the mail may be taken later: the server cannot be reached, refuses for the moment, or refuses
        everything, as for a wrong password. Return True if it was taken, or if this mail itself will never be.
        """
        for attempt in range(1, ATTEMPTS + 1):
            try:
                async with asyncio.timeout(self._timeout_seconds):
                    await self._attempt(mail)
            except (aiosmtplib.SMTPException, OSError, ValueError) as error:
                again = attempt < ATTEMPTS and _is_transient(error)
                report = log.warning if again else log.error
                report("mail_delayed" if again else "mail_not_sent", attempt=attempt, **self._told(error))
                if not again:
                    return _is_final(error)
                await asyncio.sleep(self._backoff_seconds * 2 ** (attempt - 1))
            else:
                log.info("mail_sent", attempt=attempt)
                return True
        return False

    async def _attempt(self, mail: Mail) -> None:
        await aiosmtplib.send(
            mail.content,
            sender=mail.sender,
            recipients=[mail.recipient],
            mail_options=[] if mail.content.isascii() else ["SMTPUTF8", "BODY=8BITMIME"],
            hostname=self._server.host,
            port=self._server.port,
            username=self._server.user,
            password=self._server.password,
            # The library would query the name service and block the loop.
            local_hostname=socket.gethostname(),
            timeout=self._timeout_seconds,
            use_tls=self._server.security == "tls",
            start_tls=self._server.security == "starttls",
            tls_context=self._tls_context,
        )

    def _told(self, error: Exception) -> dict[str, str | int]:
        """Return the part of an error that an operator needs, without the recipient."""
        reason: dict[str, str | int] = {
            "server": f"{self._server.host}:{self._server.port}",
            "error": type(error).__name__,
        }
        response = _response(error)
        if response is not None:
            reason |= {"code": response.code, "answer": _ADDRESS.sub("[address]", response.message)[:200]}
        return reason


def _response(error: Exception) -> aiosmtplib.SMTPResponseException | None:
    """The server's answer, if the server refused. A mail has one recipient."""
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused):
        return error.recipients[0]
    return error if isinstance(error, aiosmtplib.SMTPResponseException) else None


def _is_final(error: Exception) -> bool:
    """Whether the recipient or the content was refused, so that this mail is never taken."""
    if isinstance(error, aiosmtplib.SMTPRecipientsRefused | aiosmtplib.SMTPDataError):
        return not _is_transient(error)
    return isinstance(error, aiosmtplib.SMTPNotSupported | ValueError)


def _is_transient(error: Exception) -> bool:
    """Return whether another attempt may succeed: the server answered 4xx or could not be reached."""
    response = _response(error)
    return 400 <= response.code < 500 if response is not None else isinstance(error, OSError)
