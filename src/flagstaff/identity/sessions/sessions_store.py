"""Sessions in the database. A session that ends is deleted, and its token is then refused."""

from collections.abc import Collection, Mapping
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.identity.sessions.sessions import Session

_columns = tables.sessions.c
_SESSIONS = Resource(Session, tables.sessions)
_session = _SESSIONS.select()
_of_account = _columns.account_id == sa.bindparam("account")
_open = _session.where(_of_account, _columns.expires_at > sa.bindparam("now", type_=tables.Moment))
_seen_at = sa.bindparam("seen_at", type_=tables.Moment)
_record_seen = (
    tables.sessions.update()
    .where(_columns.id == sa.bindparam("session"), _columns.last_seen_at < _seen_at)
    .values(last_seen_at=_seen_at)
)


async def create_session(connection: AsyncConnection, session: Session) -> None:
    """Insert a session."""
    await connection.execute(tables.sessions.insert(), _SESSIONS.row(session))


async def list_sessions(connection: AsyncConnection, account_id: UUID, now: datetime) -> list[Session]:
    """The open sessions of an account, those that were seen last first."""
    query = _open.order_by(_columns.last_seen_at.desc(), _columns.id.desc())
    return [_SESSIONS.read(row) for row in await connection.execute(query, {"account": account_id, "now": now})]


async def find_session(
    connection: AsyncConnection, account_id: UUID, session_id: UUID, now: datetime
) -> Session | None:
    """The open session of an account with this id, if there is one."""
    query = _open.where(_columns.id == session_id)
    row = (await connection.execute(query, {"account": account_id, "now": now})).one_or_none()
    return _SESSIONS.read(row) if row else None


async def end_sessions(connection: AsyncConnection, account_id: UUID, *, but_for: int = 0) -> None:
    """End the sessions of an account but for this many, those that were seen last. Lock the account first."""
    query = sa.select(_columns.id).where(_columns.account_id == account_id)
    latest_first = query.order_by(_columns.last_seen_at.desc(), _columns.id.desc()).offset(but_for)
    await end(connection, (await connection.execute(latest_first)).scalars().all())


async def end(connection: AsyncConnection, session_ids: Collection[UUID]) -> None:
    """End sessions."""
    if not session_ids:
        return
    ours = _columns.id.in_(session_ids)
    # In the same order as `record_seen`, so that the two do not wait for each other.
    await connection.execute(sa.select(_columns.id).where(ours).order_by(_columns.id).with_for_update())
    await connection.execute(tables.sessions.delete().where(ours))


async def end_unseen(connection: AsyncConnection, since: datetime, count: int) -> bool:
    """End some sessions that have not been seen since a moment; return whether there may be more."""
    query = sa.select(_columns.id).where(_columns.last_seen_at <= since).order_by(_columns.id).limit(count)
    found = (await connection.execute(query)).scalars().all()
    await end(connection, found)
    return len(found) == count


async def record_seen(connection: AsyncConnection, seen: Mapping[UUID, datetime]) -> None:
    """Store when sessions were seen, unless they have been seen later."""
    rows = [{"session": session_id, "seen_at": at} for session_id, at in sorted(seen.items())]
    await connection.execute(_record_seen, rows)


async def delete_expired(connection: AsyncConnection, now: datetime) -> None:
    """Delete the sessions whose tokens have expired."""
    await connection.execute(tables.sessions.delete().where(_columns.expires_at <= now))
