"""Parts of both kinds of mails to members: the address, the bound of mails, and the reason that a mail gives."""

from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.database.database import Connection
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.second_factors.second_factors_store import has_second_factor
from flagstaff.notifications import notifications_store
from flagstaff.notifications.notifications import MAILS_PER_HOUR, Kind
from flagstaff.notifications.unsubscribing import Recipient

HOUR = timedelta(hours=1)
SHOWN_MAX = 50
"""The number of things that a mail tells of; it counts the others."""
_REASONS = {
    Kind.CRITICAL: "a critical environment of this project was changed",
    Kind.OWNED: "flags that you own were changed",
    Kind.STALE: "flags that you own may be removed",
    Kind.WEBHOOKS: "you manage the webhooks of this project",
    Kind.RELEASES: "you made the release or can resume it",
    Kind.MENTIONS: "others have mentioned you in comments",
    Kind.SUBSCRIBED: "you have subscribed to these changes",
}


async def may_send(connection: Connection, account_id: UUID, now: datetime) -> bool:
    """Return whether an account may get another mail. Locks it, so that two processes do not count at once."""
    await accounts_store.lock_account(connection, account_id)
    return await notifications_store.count_mails(connection, account_id, now - HOUR) < MAILS_PER_HOUR


async def find_email(connection: Connection, member: Recipient) -> str | None:
    """Find a member's verified address; None if the account is not active or lacks a demanded second factor."""
    address = await notifications_store.find_address(connection, member)
    if address is None:
        return None
    is_lacking = address.demands_second_factor and not await has_second_factor(connection, member.account_id)
    return None if is_lacking else address.email


def say_reason(kinds: set[Kind]) -> str:
    """Say why a member gets a mail, by the kinds of what it tells."""
    told = [_REASONS[kind] for kind in Kind if kind in kinds]
    return f"You get this mail because {' and '.join(told)}."
