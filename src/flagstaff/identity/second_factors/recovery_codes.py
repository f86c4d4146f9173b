"""Recovery codes, which come with the first second factor of an account and end with the last.

Only hashes of them are stored. A slow hash takes too long for a transaction. So the one that issues codes stores their
fast hashes, and each of these is replaced by its slow hash a moment later.
"""

import hashlib
from collections.abc import Hashable
from dataclasses import dataclass
from uuid import UUID

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.database import Connection, Database
from flagstaff.identity.accounts import accounts_store
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.second_factors import passkeys_store, second_factors_store
from flagstaff.identity.second_factors.second_factors import RECOVERY_CODES, Method, new_recovery_code

_FAST_HASH_BYTES = 32


def _fast_hash(code: str) -> bytes:
    """The fast hash of a recovery code. Hyphens do not matter."""
    return hashlib.sha256(code.replace("-", "").encode()).digest()


@dataclass(frozen=True, slots=True)
class RecoveryCodeHashes:
    """Computes slow hashes of recovery codes: Argon2id of the fast one, in the turns of passwords.

    All codes of an account have one salt, so that one hash tells whether a code is any of them.
    """

    database: Database
    passwords: Passwords
    supervisor: Supervisor

    async def of(self, account_id: UUID, code: str, client: Hashable) -> tuple[bytes, ...]:
        """The hashes by which a code may be stored for an account. Not to be called in a transaction."""
        fast = _fast_hash(code)
        return fast, await self._slow_hash(account_id, fast, client)

    def start_slowing(self, account_id: UUID) -> None:
        """Begin to replace the fast hashes of an account's codes, after the transaction that has stored them."""
        self.supervisor.start("hashes of recovery codes", self._slow(account_id))

    async def _slow(self, account_id: UUID) -> None:
        async with self.database.read() as connection:
            stored = await second_factors_store.list_recovery_codes(connection, account_id)
        fast_ones = [each for each in stored if len(each) == _FAST_HASH_BYTES]
        slow_ones = [await self._slow_hash(account_id, each, account_id) for each in fast_ones]
        async with self.database.transaction() as transaction:
            await accounts_store.lock_account(transaction.connection, account_id)
            for fast, slow in zip(fast_ones, slow_ones, strict=True):
                await second_factors_store.replace_recovery_code(transaction.connection, account_id, fast, slow)

    async def _slow_hash(self, account_id: UUID, fast: bytes, client: Hashable) -> bytes:
        salt = hashlib.sha256(b"recovery codes" + account_id.bytes).digest()[:16]
        return (await self.passwords.hash(fast.hex(), salt=salt, client=client)).encode()


async def find_methods(connection: Connection, account_id: UUID) -> list[Method]:
    """The ways in which an account can prove a second factor; none if it has none."""
    methods = []
    secret = await second_factors_store.find_totp(connection, account_id)
    if secret is not None and secret.confirmed_at is not None:
        methods.append(Method.TOTP)
    if await passkeys_store.list_passkeys(connection, account_id):
        methods.append(Method.PASSKEY)
    if methods and await second_factors_store.count_recovery_codes(connection, account_id):
        methods.append(Method.RECOVERY_CODE)
    return methods


async def renew_codes(connection: Connection, account_id: UUID) -> list[str]:
    """New recovery codes for an account; the previous ones end. Lock the account first."""
    codes = [new_recovery_code() for _ in range(RECOVERY_CODES)]
    await second_factors_store.replace_recovery_codes(connection, account_id, map(_fast_hash, codes))
    return codes


async def issue_first_codes(connection: Connection, account_id: UUID) -> list[str]:
    """Recovery codes for an account that has none left, or none."""
    if await second_factors_store.count_recovery_codes(connection, account_id):
        return []
    return await renew_codes(connection, account_id)


async def forget_without_factors(connection: Connection, account_id: UUID) -> None:
    """Delete the recovery codes and open challenges of an account that has no second factor any more."""
    if not await find_methods(connection, account_id):
        await second_factors_store.delete_second_factors(connection, account_id)
