"""Access tokens in the database, which has only their hashes."""

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.identity.second_factors.second_factors_store import chosen_demand
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.access_tokens.access_tokens import AccessToken

_columns = tables.access_tokens.c
_TOKENS = Resource(
    AccessToken,
    tables.access_tokens,
    also={"email": tables.accounts.c.email},
    reads={
        # A newer release may have stored permissions that this one does not know.
        "permissions": lambda stored: tuple(each for each in Permission if each in stored),
        "environments": lambda stored: tuple(map(UUID, stored)),
    },
    writes={"environments": lambda environments: None if environments is None else list(map(str, environments))},
)
_token = _TOKENS.select().join_from(tables.access_tokens, tables.accounts)
# Used by every request with a token.
_by_hash = _token.add_columns(chosen_demand).where(
    _columns.token_hash == sa.bindparam("token_hash"),
    tables.accounts.c.deactivated_at.is_(None),
    sa.or_(_columns.expires_at.is_(None), _columns.expires_at > sa.bindparam("now", type_=tables.Moment)),
)
_present = sa.select(_columns.id).where(_columns.id == sa.bindparam("token"))
_used_at = sa.bindparam("used_at", type_=tables.Moment)
_record_used = (
    tables.access_tokens.update()
    .where(
        _columns.id == sa.bindparam("token"),
        sa.or_(_columns.last_used_at.is_(None), _columns.last_used_at < _used_at),
    )
    .values(last_used_at=_used_at)
)


async def create_token(connection: AsyncConnection, token: AccessToken, token_hash: bytes) -> None:
    """Insert a token."""
    await connection.execute(tables.access_tokens.insert(), {**_TOKENS.row(token), "token_hash": token_hash})


async def find_token_by_hash(
    connection: AsyncConnection, token_hash: bytes, now: datetime
) -> tuple[AccessToken, str | None] | None:
    """The token with this hash, unless it has expired or its account is deactivated.

    With it, the instance's setting for second factors, or None if it has not been changed.
    """
    row = (await connection.execute(_by_hash, {"token_hash": token_hash, "now": now})).one_or_none()
    return (_TOKENS.read(row), row[-1]) if row else None


async def hold_token(connection: AsyncConnection, token_id: UUID) -> bool:
    """Return whether a token exists. If so, it cannot be deleted until the transaction ends."""
    query = _present.with_for_update(read=True, key_share=True)
    return (await connection.execute(query, {"token": token_id})).one_or_none() is not None


async def list_own_tokens(connection: AsyncConnection, account_id: UUID) -> list[AccessToken]:
    """The tokens of an account that are for no single project, newest first."""
    return await _list(connection, _columns.account_id == account_id, _columns.project_id.is_(None))


async def list_project_tokens(connection: AsyncConnection, project_id: UUID) -> list[AccessToken]:
    """The tokens for a project, newest first."""
    return await _list(connection, _columns.project_id == project_id)


async def delete_token(connection: AsyncConnection, token_id: UUID) -> None:
    """Delete a token, after the transactions that hold it."""
    await connection.execute(tables.access_tokens.delete().where(_columns.id == token_id))


async def delete_member_tokens(connection: AsyncConnection, project_id: UUID, account_id: UUID) -> None:
    """Delete the tokens for a project that an account has made."""
    ours = (_columns.project_id == project_id, _columns.account_id == account_id)
    await connection.execute(tables.access_tokens.delete().where(*ours))


async def count_account_tokens(connection: AsyncConnection, account_id: UUID) -> int:
    """Count the tokens that an account has made and not revoked, also those for projects."""
    query = sa.select(sa.func.count()).where(_columns.account_id == account_id)
    return int((await connection.execute(query)).scalar_one())


async def record_used(connection: AsyncConnection, used: Mapping[UUID, datetime]) -> None:
    """Store when tokens were used, unless they have been used later."""
    rows = [{"token": token_id, "used_at": at} for token_id, at in sorted(used.items())]
    await connection.execute(_record_used, rows)


async def _list(connection: AsyncConnection, *conditions: sa.ColumnElement[bool]) -> list[AccessToken]:
    query = _token.where(*conditions).order_by(_columns.created_at.desc(), _columns.id.desc())
    return [_TOKENS.read(row) for row in await connection.execute(query)]
