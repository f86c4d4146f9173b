"""Mails members once a week which of their flags may be removed."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from flagstaff.audit.dashboard_links import project_page
from flagstaff.database.database import Database
from flagstaff.mail.digest import Digest, Entry
from flagstaff.mail.mail_limits import HeldBackError
from flagstaff.notifications import notifications_store, reminders_store, wanted_mails_store
from flagstaff.notifications.mailing import HOUR, SHOWN_MAX, find_email, may_send, say_reason
from flagstaff.notifications.notifications import STALE_EVERY, WAITING_MAX, Kind
from flagstaff.notifications.reminders_store import StaleFlag
from flagstaff.notifications.unsubscribing import Recipient, UnsubscribeTokens

REMIND_SECONDS = 3600.0
_MEMBERS_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Reminder:
    """Reminds the owners of stale flags.

    `send_digest` returns whether the mail server has taken the mail, or never will.
    """

    database: Database
    now: Callable[[], datetime]
    public_url: str
    tokens: UnsubscribeTokens
    send_digest: Callable[[str, Digest], Awaitable[bool]]

    async def remind(self) -> None:
        """Tell the owners of stale flags, once a week."""
        now = self.now()
        async with self.database.read() as connection:
            members = await reminders_store.list_to_remind(connection, now - STALE_EVERY, now - HOUR, _MEMBERS_AT_ONCE)
        for member in members:
            await self._remind(member)

    async def _remind(self, member: Recipient) -> None:
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            if not await may_send(connection, member.account_id, now):
                return
            # After the lock: another process may have told the member meanwhile.
            if await reminders_store.was_reminded(connection, member, now - STALE_EVERY):
                return
            wanted = await wanted_mails_store.find_wanted(connection, member.project_id, member.account_id)
            flags = await reminders_store.list_stale(connection, member, WAITING_MAX)
            email = await find_email(connection, member)
            await reminders_store.record_reminder(connection, member, now)
            if not wanted[Kind.STALE] or not flags or email is None:
                return
            mail_id = await notifications_store.record_mail(connection, member.account_id, now)
        digest = Digest(
            subject=(
                "A flag of yours may be removed" if len(flags) == 1 else f"{len(flags)} flags of yours may be removed"
            ),
            intro="These flags are yours, and they may be removed: they are not evaluated any more, or their result is "
            "the same for everyone, or nobody has changed them for a long time. Flags that are meant to stay can be "
            "marked to be kept.",
            entries=[self._stale_entry(member.project_id, each) for each in flags[:SHOWN_MAX]],
            more=max(0, len(flags) - SHOWN_MAX),
            reason=say_reason({Kind.STALE}),
            unsubscribe_token=self.tokens.make(member),
        )
        try:
            is_sent = await self.send_digest(email, digest)
        except HeldBackError:
            is_sent = False
        if not is_sent:
            async with self.database.transaction() as transaction:
                await reminders_store.forget_reminder(transaction.connection, member)
                await notifications_store.forget_mail(transaction.connection, mail_id)

    def _stale_entry(self, project_id: UUID, flag: StaleFlag) -> Entry:
        project = project_page(self.public_url, project_id)
        link = f"{project}/environments/{flag.environment_id}/flags/{flag.flag_id}"
        return Entry(flag.key, f"in {flag.environment_key}", None, link)
