"""The audit trail: every write leaves its row in its own transaction."""

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.changes import Actor, Change, NumberedChange, Scope
from flagstaff.storage import tables
from flagstaff.storage.database import Transaction
from flagstaff.storage.feed import notify_change

_columns = tables.changes.c
_insert = tables.changes.insert()
_latest = sa.select(sa.func.max(_columns.id)).where(_columns.environment_id == sa.bindparam("environment"))
_changed = (
    sa.select(sa.func.max(_columns.id), _columns.flag_id)
    .where(_columns.environment_id == sa.bindparam("environment"), _columns.id > sa.bindparam("since"))
    .group_by(_columns.flag_id)
)


async def record(transaction: Transaction, change: Change) -> None:
    """Write a change's row, and have it announced when the transaction has committed."""
    values = {
        "at": change.at,
        "actor_id": change.actor.account_id,
        "actor_email": change.actor.email,
        "action": change.action,
        "resource_id": change.resource_id,
        "project_id": change.scope.project_id,
        "environment_id": change.scope.environment_id,
        "flag_id": change.scope.flag_id,
        "before": change.before,
        "after": change.after,
    }
    await transaction.connection.execute(_insert, values)
    await notify_change(transaction.connection, transaction.instance, change.scope)
    transaction.changes.append(change)


async def changed_flags(connection: AsyncConnection, environment_id: UUID, since: int) -> tuple[int, set[UUID]]:
    """The number of the latest change in an environment, and the flags that were changed after the number `since`.

    The writes of one project follow one another, so that nothing with a lower number is still to come.
    """
    latest, flags = since, set[UUID]()
    for number, flag_id in await connection.execute(_changed, {"environment": environment_id, "since": since}):
        latest = max(latest, number)
        if flag_id is not None:
            flags.add(flag_id)
    return latest, flags


async def latest_change(connection: AsyncConnection, environment_id: UUID) -> int:
    """The number of the latest change in an environment; 0 if there is none."""
    number: int | None = (await connection.execute(_latest, {"environment": environment_id})).scalar_one()
    return number or 0


async def list_changes(
    connection: AsyncConnection, environment_id: UUID, *, flag_id: UUID | None, before: int | None, limit: int
) -> list[NumberedChange]:
    """The changes in an environment, or of one of its flags and its rules: newest first, below the number `before`."""
    query = sa.select(tables.changes).where(_columns.environment_id == environment_id)
    if flag_id is not None:
        query = query.where(_columns.flag_id == flag_id)
    if before is not None:
        query = query.where(_columns.id < before)
    rows = await connection.execute(query.order_by(_columns.id.desc()).limit(limit))
    return [
        NumberedChange(
            number=row.id,
            change=Change(
                at=row.at,
                actor=Actor(row.actor_id, row.actor_email),
                action=row.action,
                resource_id=row.resource_id,
                scope=Scope(row.project_id, row.environment_id, row.flag_id),
                before=row.before,
                after=row.after,
            ),
        )
        for row in rows
    ]
