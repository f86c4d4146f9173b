"""Idempotency keys in the database: the response to a request is stored together with its changes."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.changes import Scope
from flagstaff.storage import dialect, tables

_DELETED_AT_ONCE = 500

_REPLACED = ("created_at", "fingerprint", "project_id", "environment_id", "status", "body")

_columns = tables.idempotency_keys.c
_primary = (_columns.account_id, _columns.key)
_claim = dialect.upsert(
    tables.idempotency_keys,
    lambda insert: insert.on_conflict_do_update(
        index_elements=_primary,
        set_={name: insert.excluded[name] for name in _REPLACED},
        where=_columns.created_at <= sa.bindparam("expired_at", type_=tables.Moment),
    ),
)
_of_key = (_columns.account_id == sa.bindparam("account"), _columns.key == sa.bindparam("wanted"))
_find = sa.select(
    _columns.fingerprint, _columns.project_id, _columns.environment_id, _columns.status, _columns.body
).where(*_of_key)
_store = tables.idempotency_keys.update().where(*_of_key)
_count = sa.select(sa.func.count()).where(_columns.account_id == sa.bindparam("account"))


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The response to the request with this fingerprint, and the project and environment that it changed."""

    fingerprint: bytes
    project_id: UUID | None
    environment_id: UUID | None
    status: int
    body: bytes


async def claim(
    connection: AsyncConnection, account_id: UUID, key: str, *, fingerprint: bytes, now: datetime, expired_at: datetime
) -> StoredAnswer | None:
    """Claim a key for this transaction, or return its stored response if that is newer than `expired_at`.

    If several transactions claim one key at once, the others wait until the first has ended.
    """
    values = {"account_id": account_id, "key": key, "created_at": now, "fingerprint": fingerprint}
    claimed = await connection.execute(_claim(connection), {**values, "expired_at": expired_at})
    if claimed.rowcount:
        return None
    return StoredAnswer(*(await connection.execute(_find, {"account": account_id, "wanted": key})).one())


async def store_answer(
    connection: AsyncConnection, account_id: UUID, key: str, *, scope: Scope, status: int, body: bytes
) -> None:
    """Complete a key that this transaction has claimed. `scope` is where the request made its change."""
    values = {"project_id": scope.project_id, "environment_id": scope.environment_id, "status": status, "body": body}
    await connection.execute(_store, {"account": account_id, "wanted": key, **values})


async def count_keys(connection: AsyncConnection, account_id: UUID) -> int:
    """How many keys an account has stored."""
    return int((await connection.execute(_count, {"account": account_id})).scalar_one())


async def oldest_key(connection: AsyncConnection, account_id: UUID) -> datetime:
    """When the oldest of an account's keys was stored; there must be one."""
    query = sa.select(sa.func.min(_columns.created_at)).where(_columns.account_id == account_id)
    oldest: datetime = (await connection.execute(query)).scalar_one()
    return oldest


async def delete_some_before(connection: AsyncConnection, moment: datetime) -> bool:
    """Delete some keys that were stored before a moment; whether there may be more."""
    some = sa.select(*_primary).where(_columns.created_at <= moment).limit(_DELETED_AT_ONCE)
    deleted = await connection.execute(tables.idempotency_keys.delete().where(sa.tuple_(*_primary).in_(some)))
    return deleted.rowcount == _DELETED_AT_ONCE
