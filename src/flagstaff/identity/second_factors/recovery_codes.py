"""Recovery codes, which come with the first second factor of an account and end with the last."""

import hashlib
from uuid import UUID

from flagstaff.database.database import Connection
from flagstaff.identity.second_factors import passkeys_store, second_factors_store
from flagstaff.identity.second_factors.second_factors import RECOVERY_CODES, Method, new_recovery_code


def hash_recovery_code(code: str) -> bytes:
    """The hash of a recovery code, which is stored instead of it. Hyphens do not matter."""
    return hashlib.sha256(code.replace("-", "").encode()).digest()


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
    await second_factors_store.replace_recovery_codes(connection, account_id, map(hash_recovery_code, codes))
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
