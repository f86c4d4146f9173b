"""Bounds the mails that an account gets in an hour. Its address may be a stranger's, who has not asked for any."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from flagstaff.database.database import Database
from flagstaff.identity.accounts import accounts_store
from flagstaff.notifications import notifications_store
from flagstaff.notifications.notifications import MAILS_PER_HOUR

_HOUR = timedelta(hours=1)
_WITH_WARNINGS = 2 * MAILS_PER_HOUR


@dataclass(frozen=True, slots=True)
class MailBudget:
    """The budget of each account. Mails about changes use half of it at most, so that they keep no warning away."""

    database: Database
    now: Callable[[], datetime]

    async def take_for_warning(self, account_id: UUID) -> bool:
        """Count a mail that warns an account's owner, such as of a new access token; return False if it is too many."""
        now = self.now()
        async with self.database.transaction() as transaction:
            connection = transaction.connection
            await accounts_store.lock_account(connection, account_id)  # so that two processes do not count at once
            await notifications_store.purge_mails(connection, now - _HOUR)
            if await notifications_store.count_mails(connection, account_id, now - _HOUR) >= _WITH_WARNINGS:
                return False
            await notifications_store.record_mail(connection, account_id, now)
        return True
