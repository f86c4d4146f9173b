"""Idempotency keys in the database: the response to a request is stored together with its changes."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.changes import Scope
from flagstaff.database import dialect, tables
from flagstaff.permissions.permissions import Check, Permission

_DELETED_AT_ONCE = 500
_SMALLEST_COUNTED_BYTES = 1024  # so that the responses within a bound can be counted quickly
_CONFLICT = 409

_REPLACED = ("created_at", "fingerprint", "project_id", "environment_id", "status", "body", "outcome", "checks")

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
    _columns.fingerprint,
    _columns.project_id,
    _columns.environment_id,
    _columns.status,
    _columns.body,
    _columns.outcome,
    _columns.checks,
).where(*_of_key)
_store = tables.idempotency_keys.update().where(*_of_key)
_count = sa.select(sa.func.count()).where(_columns.account_id == sa.bindparam("account"))
_lock_shared = sa.select(sa.func.pg_advisory_xact_lock_shared(sa.bindparam("number", type_=sa.BigInteger)))
_lock = sa.select(sa.func.pg_advisory_xact_lock(sa.bindparam("number", type_=sa.BigInteger)))


class Outcome(StrEnum):
    """The reason why the response to a request is not stored."""

    UNCHANGED = "unchanged"
    """The request changed nothing."""
    DROPPED = "dropped"
    """Later responses needed the room."""


@dataclass(frozen=True, slots=True)
class StoredAnswer:
    """The response to the request with this fingerprint, and the project and environment that it changed.

    With an `outcome`, `status` and `body` are what releases without outcomes answer. `checks` are those that the
    request passed; none are known if such a release carried it out.
    """

    fingerprint: bytes
    project_id: UUID | None
    environment_id: UUID | None
    status: int
    body: bytes
    outcome: Outcome | None
    checks: list[Check]


class Place(NamedTuple):
    """An account or a project, by the column that has its id."""

    column: Literal["account_id", "project_id"]
    id: UUID


async def hold_back_claims(connection: AsyncConnection, account_id: UUID) -> None:
    """Wait for the transactions that have claimed keys of an account; others wait for the end of this one.

    A claim refers to the account, so a transaction that locks projects and then deletes the account would else wait for
    one that has claimed a key and waits for a project. SQLite has one writer anyway.
    """
    await _take(connection, _lock, account_id)


async def _take(connection: AsyncConnection, lock: sa.Select[Any], account_id: UUID) -> None:
    if connection.dialect.name == "postgresql":
        await connection.execute(lock, {"number": int.from_bytes(account_id.bytes[8:], signed=True)})


async def claim(
    connection: AsyncConnection, account_id: UUID, key: str, *, fingerprint: bytes, now: datetime, expired_at: datetime
) -> StoredAnswer | None:
    """Claim a key for this transaction, or return its stored response if that is newer than `expired_at`.

    If several transactions claim one key at once, the others wait until the first has ended.
    """
    await _take(connection, _lock_shared, account_id)
    values = {"account_id": account_id, "key": key, "created_at": now, "fingerprint": fingerprint}
    claimed = await connection.execute(_claim(connection), {**values, "expired_at": expired_at})
    if claimed.rowcount:
        return None
    found = (await connection.execute(_find, {"account": account_id, "wanted": key})).one()
    return StoredAnswer(
        fingerprint=found.fingerprint,
        project_id=found.project_id,
        environment_id=found.environment_id,
        status=found.status,
        body=found.body,
        outcome=Outcome(found.outcome) if found.outcome else None,
        checks=_read_checks(found.checks or ()),
    )


async def store_answer(
    connection: AsyncConnection,
    account_id: UUID,
    key: str,
    *,
    scope: Scope,
    status: int,
    body: bytes,
    checks: Iterable[Check],
) -> None:
    """Complete a key that this transaction has claimed. `scope` is where the request made its change."""
    values = {"project_id": scope.project_id, "environment_id": scope.environment_id, "status": status, "body": body}
    written = sorted([project_id.hex, needed or "", environment or ""] for project_id, needed, environment in checks)
    await connection.execute(_store, {"account": account_id, "wanted": key, **values, "checks": written})


async def store_unchanged(connection: AsyncConnection, account_id: UUID, key: str, body: bytes) -> None:
    """Complete a key whose request changed nothing. `body` is the conflict that releases without outcomes answer."""
    values = {"status": _CONFLICT, "body": body, "outcome": Outcome.UNCHANGED}
    await connection.execute(_store, {"account": account_id, "wanted": key, **values})


async def drop_oldest(connection: AsyncConnection, place: Place, max_bytes: int, body: bytes) -> None:
    """Drop the oldest responses of an account or a project until the others have at most `max_bytes`.

    Their keys remain, and `body` is the conflict that releases without outcomes answer to them. Responses that another
    transaction is dropping are left to it.
    """
    size = sa.func.length(_columns.body)
    counted = sa.case((size < _SMALLEST_COUNTED_BYTES, _SMALLEST_COUNTED_BYTES), else_=size)
    newer = sa.func.sum(counted).over(order_by=(_columns.created_at.desc(), *_primary))
    is_here = getattr(_columns, place.column) == place.id
    held = sa.select(*_primary, newer.label("bytes")).where(is_here, _columns.outcome.is_(None)).subquery()
    beyond = sa.select(held.c.account_id, held.c.key).where(held.c.bytes > max_bytes)
    free = sa.select(*_primary).where(sa.tuple_(*_primary).in_(beyond)).with_for_update(skip_locked=True)
    dropped = tables.idempotency_keys.update().where(sa.tuple_(*_primary).in_(free))
    await connection.execute(dropped.values(outcome=Outcome.DROPPED, status=_CONFLICT, body=body))


async def count_keys(connection: AsyncConnection, account_id: UUID) -> int:
    """Count the keys that an account has stored."""
    return int((await connection.execute(_count, {"account": account_id})).scalar_one())


async def oldest_key(connection: AsyncConnection, account_id: UUID) -> datetime:
    """Return the time at which the oldest of an account's keys was stored; there must be one."""
    query = sa.select(sa.func.min(_columns.created_at)).where(_columns.account_id == account_id)
    oldest: datetime = (await connection.execute(query)).scalar_one()
    return oldest


async def delete_some_before(connection: AsyncConnection, moment: datetime) -> bool:
    """Delete some keys that were stored before a moment; whether there may be more."""
    some = sa.select(*_primary).where(_columns.created_at <= moment).limit(_DELETED_AT_ONCE)
    deleted = await connection.execute(tables.idempotency_keys.delete().where(sa.tuple_(*_primary).in_(some)))
    return deleted.rowcount == _DELETED_AT_ONCE


def _read_checks(written: Iterable[list[str]]) -> list[Check]:
    return [
        (UUID(project_id), Permission(needed) if needed else None, environment or None)
        for project_id, needed, environment in written
    ]
