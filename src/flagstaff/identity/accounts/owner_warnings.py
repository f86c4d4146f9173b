"""Mails that tell the owner of an account how it was changed or opened, so that nobody takes it over unnoticed.

They contain no words that anybody has chosen, and go only to addresses whose mail the owner has shown to read.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.database import Database
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.accounts import Account


class Warned(StrEnum):
    """The subject of a warning to an owner."""

    PASSWORD_CHANGED = "password_changed"  # noqa: S105 - no password
    PASSWORD_RESET = "password_reset"  # noqa: S105 - no password
    APP_ADDED = "app_added"
    APP_REMOVED = "app_removed"
    PASSKEY_ADDED = "passkey_added"
    PASSKEY_REMOVED = "passkey_removed"
    RECOVERY_CODE_USED = "recovery_code_used"
    RECOVERY_CODES_RENEWED = "recovery_codes_renewed"


@dataclass(frozen=True, slots=True)
class OwnerWarnings:
    """Tells owners. `mail` mails an account, unless it has got too many mails."""

    database: Database
    supervisor: Supervisor
    mail: Callable[[Account, Warned], Awaitable[None]]

    def start(self, account_id: UUID, warned: Warned) -> None:
        """Begin to tell the owner of an account, after the response, which must not wait for the mail."""
        self.supervisor.start("warning mail", self._tell(account_id, warned))

    async def _tell(self, account_id: UUID, warned: Warned) -> None:
        async with self.database.read() as connection:
            account = await accounts_store.find_account(connection, account_id)
        if account is not None and account.email_verified_at is not None:
            await self.mail(account, warned)
