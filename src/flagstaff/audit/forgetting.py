"""Takes the addresses of deleted accounts out of the audit trail, in short turns and again after a kill.

What is repeated finds nothing more to replace. What an account did stays, with its id, as done by "a deleted account".
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

import structlog

from flagstaff.accounts import account_deletions_store
from flagstaff.accounts.account_deletions_store import Forgotten
from flagstaff.audit.redacting import redact
from flagstaff.audit.redactions_store import Recorded, Wanted
from flagstaff.changes.actions import actions_of
from flagstaff.changes.changes import DELETED_ACCOUNT
from flagstaff.changes.redaction import TARGETING_KINDS, redacted_state, without_address, without_person
from flagstaff.database.changes_store import newest_change
from flagstaff.database.database import Database
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.values.errors import Code, Error

EVERY_SECONDS = 2.0
RETRY_SECONDS = 60.0
_TARGETING = tuple(action for kind in TARGETING_KINDS for action in actions_of(kind))

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class TrailForgetting:
    """Forgets deleted accounts, one after the other."""

    database: Database
    sealer: Sealer = field(repr=False)
    _retried_at: dict[UUID, float] = field(default_factory=dict, init=False)  # by the loop's clock

    async def run_due(self) -> None:
        """Forget all accounts that were deleted; one that fails is tried again later, after the others."""
        async with self.database.read() as connection:
            waiting = await account_deletions_store.list_forgotten(connection)
        now = asyncio.get_running_loop().time
        for each in waiting:
            if self._retried_at.get(each.id, 0) > now():
                continue
            try:
                await self._forget(each)
            except Exception as error:
                is_expected = isinstance(error, Error) and error.code is Code.UNAVAILABLE
                log.warning("forgetting_failed", account=str(each.id), exc_info=None if is_expected else error)
                self._retried_at[each.id] = now() + RETRY_SECONDS
            else:
                self._retried_at.pop(each.id, None)

    async def forget(self, account: Account) -> None:
        """Forget an account that was just deleted, with whatever key its address was sealed."""
        async with self.database.read() as connection:
            until = await newest_change(connection)
        await self._redact(account.id, account.email, after=0, until=until)

    async def _forget(self, account: Forgotten) -> None:
        opened = self.sealer.open(account.sealed, account.id.bytes)
        if opened is None:  # what the account did is found by its id
            log.warning("address_of_deleted_account_unreadable", account=str(account.id))
        email = opened.decode() if opened is not None else None
        await self._redact(account.id, email, after=account.examined, until=account.until)

    async def _redact(self, account_id: UUID, email: str | None, *, after: int, until: int) -> None:
        wanted = Wanted(() if email is None else (email,), _TARGETING, of_other_actions=True, account_id=account_id)
        rewrite = partial(_forgotten, account_id=account_id, email=email)
        async for turn in redact(self.database, wanted, rewrite, after=after, until=until):
            async with self.database.transaction() as transaction:
                if turn.last is None:
                    await account_deletions_store.forget(transaction.connection, account_id, email)
                else:
                    await account_deletions_store.note_examined(transaction.connection, account_id, turn.last)


def _forgotten(change: Recorded, *, account_id: UUID, email: str | None) -> Mapping[str, Any]:
    """The columns of a change that become others."""
    values: dict[str, Any] = {"actor_email": DELETED_ACCOUNT} if change.actor_id == account_id else {}
    for name, state in (("before", change.before), ("after", change.after)):
        changed = redacted_state(state, without_address(email))
        if change.resource_id == account_id:
            changed = redacted_state(changed, without_person)
        if changed != state:
            values[name] = changed
    return values
