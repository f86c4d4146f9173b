"""Identities of accounts at providers, memberships that providers gave, and sign-ins that wait for an answer."""

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.accounts.single_sign_on.identities import Identity, SignIn
from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.resources import Resource

_identities = tables.identities
_sign_ins = tables.sign_ins
_given = tables.given_memberships
_IDENTITIES = Resource(Identity, _identities)
_SIGN_INS = Resource(SignIn, _sign_ins)


async def create_sign_in(
    connection: AsyncConnection, state_hash: bytes, sign_in: SignIn, *, expires_at: datetime
) -> None:
    """Write a sign-in. Only the hash of its state is stored."""
    values = {**_SIGN_INS.row(sign_in), "state_hash": state_hash, "expires_at": expires_at}
    await connection.execute(_sign_ins.insert(), values)


async def take_sign_in(connection: AsyncConnection, state_hash: bytes, now: datetime) -> SignIn | None:
    """The sign-in with this state, which ends; None if it has ended or expired."""
    columns = _sign_ins.c
    ours = columns.state_hash == state_hash
    query = _SIGN_INS.select().where(ours, columns.expires_at > now)
    row = (await connection.execute(query)).one_or_none()
    # Of two requests with the same state, one deletes it.
    if row is None or not (await connection.execute(_sign_ins.delete().where(ours))).rowcount:
        return None
    return _SIGN_INS.read(row)


async def delete_expired_sign_ins(connection: AsyncConnection, now: datetime) -> None:
    """Delete the sign-ins that have expired."""
    await connection.execute(_sign_ins.delete().where(_sign_ins.c.expires_at <= now))


async def find_identity(connection: AsyncConnection, issuer: str, subject: str) -> Identity | None:
    """The identity of a person at a provider, if it has an account."""
    query = _IDENTITIES.select().where(_identities.c.issuer == issuer, _identities.c.subject == subject)
    row = (await connection.execute(query)).one_or_none()
    return _IDENTITIES.read(row) if row else None


async def create_identity(connection: AsyncConnection, identity: Identity) -> None:
    """Write an identity; raises Error CONFLICT if another sign-in has just done so."""
    with unique_or(
        "Another sign-in of the same person is under way. Sign in again.", _identities.c.issuer, _identities.c.subject
    ):
        await connection.execute(_identities.insert(), _IDENTITIES.row(identity))


async def delete_identities(connection: AsyncConnection, account_id: UUID) -> None:
    """Delete the identities of an account at every provider."""
    await connection.execute(_identities.delete().where(_identities.c.account_id == account_id))


async def set_only_way(connection: AsyncConnection, identity: Identity, *, is_only_way: bool) -> None:
    """Store whether the provider is the only way into the account."""
    ours = (_identities.c.issuer == identity.issuer, _identities.c.subject == identity.subject)
    await connection.execute(_identities.update().where(*ours).values(is_only_way=is_only_way))


async def list_given(connection: AsyncConnection, account_id: UUID, issuer: str) -> set[UUID]:
    """The projects of which an account is a member because of its groups at a provider."""
    query = sa.select(_given.c.project_id).where(_given.c.account_id == account_id, _given.c.issuer == issuer)
    return set((await connection.execute(query)).scalars())


async def record_given(connection: AsyncConnection, project_id: UUID, account_id: UUID, issuer: str) -> None:
    """Store that a provider's groups gave a membership, which ends with them."""
    await connection.execute(_given.insert().values(project_id=project_id, account_id=account_id, issuer=issuer))
