"""Finds the followers of projects that may still be told of changes: all at once, because there may be hundreds."""

from collections.abc import Collection
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables

_members, _sessions, _tokens = tables.members.c, tables.sessions.c, tables.access_tokens.c
_memberships = sa.select(_members.project_id, _members.account_id).where(
    _members.account_id.in_(sa.bindparam("accounts", expanding=True)),
    _members.project_id.in_(sa.bindparam("projects", expanding=True)),
)
_given: sa.BindParameter[UUID] = sa.bindparam("ids", expanding=True)
_open_sessions = sa.select(_sessions.id).where(
    _sessions.id.in_(_given), _sessions.expires_at > sa.bindparam("now", type_=tables.Moment)
)
_valid_tokens = sa.select(_tokens.id).where(
    _tokens.id.in_(_given),
    _tokens.expires_at.is_(None) | (_tokens.expires_at > sa.bindparam("now", type_=tables.Moment)),
)


async def find_memberships(
    connection: AsyncConnection, account_ids: Collection[UUID], project_ids: Collection[UUID]
) -> set[tuple[UUID, UUID]]:
    """The ids of project and account of the memberships of some accounts in some projects."""
    values = {"accounts": list(account_ids), "projects": list(project_ids)}
    return {(project_id, account_id) for project_id, account_id in await connection.execute(_memberships, values)}


async def find_credentials(
    connection: AsyncConnection, session_ids: Collection[UUID], token_ids: Collection[UUID], now: datetime
) -> set[UUID]:
    """Return the sessions and access tokens, of those given, that are still valid."""
    found: set[UUID] = set()
    for query, ids in ((_open_sessions, session_ids), (_valid_tokens, token_ids)):
        if ids:
            found.update((await connection.execute(query, {"ids": list(ids), "now": now})).scalars())
    return found
