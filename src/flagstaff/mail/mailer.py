"""Sends each kind of mail that Flagstaff writes."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

import structlog

from flagstaff.mail.digest import Digest, write_digest
from flagstaff.mail.envelope import Mail
from flagstaff.mail.mail_limits import HeldBackError, MailKind, MailLimits
from flagstaff.mail.transactional_mails import (
    invitation,
    owner_warning,
    password_reset,
    token_created,
    verification,
    webhook_disabled,
)

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Mailer:
    """Writes mails and sends them with `send`, which says whether that is done. `public_url` is where links lead.

    A mail that cannot be written, because of the recipient's address, is logged and not sent. One beyond the limits is
    not sent either.
    """

    send: Callable[[Mail], Awaitable[bool]]
    sender: str
    public_url: str
    limits: MailLimits

    async def send_password_reset(self, email: str, token: str) -> None:
        """Send the link with which an account's owner sets a new password."""
        await self._send(password_reset, email, MailKind.ACCOUNT, token=token)

    async def send_verification(self, email: str, token: str) -> None:
        """Send the link with which an account's owner verifies its address."""
        await self._send(verification, email, MailKind.INVITATION, token=token)

    async def send_invitation(self, email: str, token: str, inviter: str) -> None:
        """Send the link with which an invitation is accepted. `inviter` is the address of the member who sends it."""
        await self._send(invitation, email, MailKind.INVITATION, token=token, inviter=inviter)

    async def send_token_created(self, email: str, page: str) -> None:
        """Tell an account's owner that an access token was created, with the page that lists it."""
        await self._send(token_created, email, MailKind.ACCOUNT, page=page)

    async def send_owner_warning(self, email: str, warned: str) -> None:
        """Tell an account's owner how it was changed or opened: a `Warned`."""
        await self._send(owner_warning, email, MailKind.ACCOUNT, warned=warned)

    async def send_webhook_disabled(self, email: str, host: str, page: str, reason: str) -> None:
        """Tell an administrator that a webhook of the instance was switched off: its host, its page, and the reason."""
        await self._send(webhook_disabled, email, MailKind.SAFETY, host=host, page=page, reason=reason)

    async def send_digest(
        self, email: str, digest: Digest, *, settings_path: str, page_path: str, one_click_path: str
    ) -> bool:
        """Tell a member what has changed, with paths for the links to the settings and to the end of such mails.

        Return False if the mail should be tried again later; raises HeldBackError if there are too many for now.
        """
        kind = MailKind.SAFETY if digest.is_urgent else MailKind.NOTICE
        if not self.limits.admit(email, kind):
            raise HeldBackError
        paths = {"settings_path": settings_path, "page_path": page_path, "one_click_path": one_click_path}
        return await self._write_and_send(partial(write_digest, digest), email, **paths)

    async def _send(self, write: Callable[..., Mail], email: str, kind: MailKind, **values: str) -> None:
        if self.limits.admit(email, kind):
            await self._write_and_send(write, email, **values)

    async def _write_and_send(self, write: Callable[..., Mail], email: str, **values: str) -> bool:
        try:
            # In a thread: the library takes milliseconds to write a long mail and to read it again.
            mail = await asyncio.to_thread(
                write,
                sender=self.sender,
                recipient=email,
                public_url=self.public_url,
                sent_at=datetime.now(UTC),
                **values,
            )
        except ValueError as error:
            log.error("mail_not_sent", error=str(error))  # noqa: TRY400 - the account's address is to blame, no code
            return True
        return await self.send(mail)
