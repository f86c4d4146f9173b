"""Recovery codes, which come with the first second factor of an account and end with the last."""

import hashlib
from uuid import UUID

from flagstaff.domain.second_factors import RECOVERY_CODES, Method, new_recovery_code
from flagstaff.storage import passkeys, second_factors
from flagstaff.storage.database import Connection


def hash_recovery_code(code: str) -> bytes:
    """The hash of a recovery code, which is stored instead of it. Hyphens do not matter."""
    return hashlib.sha256(code.replace("-", "").encode()).digest()


async def find_methods(connection: Connection, account_id: UUID) -> list[Method]:
    """The ways in which an account can prove a second factor; none if it has none."""
    methods = []
    secret = await second_factors.find_totp(connection, account_id)
    if secret is not None and secret.confirmed_at is not None:
        methods.append(Method.TOTP)
    if await passkeys.list_passkeys(connection, account_id):
        methods.append(Method.PASSKEY)
    if methods and await second_factors.count_recovery_codes(connection, account_id):
        methods.append(Method.RECOVERY_CODE)
    return methods


async def renew_codes(connection: Connection, account_id: UUID) -> list[str]:
    """New recovery codes for an account; the previous ones end. Lock the account first."""
    codes = [new_recovery_code() for _ in range(RECOVERY_CODES)]
    await second_factors.replace_recovery_codes(connection, account_id, map(hash_recovery_code, codes))
    return codes


async def issue_first_codes(connection: Connection, account_id: UUID) -> list[str]:
    """Recovery codes for an account that has none left, or none."""
    if await second_factors.count_recovery_codes(connection, account_id):
        return []
    return await renew_codes(connection, account_id)


async def forget_without_factors(connection: Connection, account_id: UUID) -> None:
    """Delete the recovery codes and open challenges of an account that has no second factor any more."""
    if not await find_methods(connection, account_id):
        await second_factors.delete_second_factors(connection, account_id)
