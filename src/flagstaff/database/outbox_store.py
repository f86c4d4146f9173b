"""The outbox: a message to each webhook that may want a change, written in the transaction of the change.

So a message exists if and only if its change does. `hooks/` sends them, and decides there whether a webhook wants one.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.changes import Scope
from flagstaff.database import tables

_webhooks, _changes = tables.webhooks.c, tables.changes.c
_STANDARD = "standard"
_columns = ("webhook_id", "project_id", "first_change", "last_change", "state", "attempts", "created_at", "revision")
_at = sa.bindparam("at", type_=tables.Moment)
_first, _last = sa.bindparam("first", type_=sa.BigInteger), sa.bindparam("last", type_=sa.BigInteger)
_project, _revision = sa.bindparam("project", type_=sa.Uuid), sa.bindparam("revision", type_=sa.BigInteger)


def _row(first: sa.ColumnElement[int], last: sa.ColumnElement[int]) -> sa.Select[*tuple[object, ...]]:
    return sa.select(_webhooks.id, _project, first, last, sa.literal("waiting"), sa.literal(0), _at, _revision)


def _insert(rows: sa.Select[*tuple[object, ...]] | sa.CompoundSelect[*tuple[object, ...]]) -> sa.Insert:
    return tables.webhook_deliveries.insert().from_select(_columns, rows)


_insert_one = _insert(_row(_first, _first).where(tables.is_concerned_webhook))
# One message for each change, but one for all of them where people read it.
# Others may have been made in other environments meanwhile.
_made = sa.and_(
    _changes.id.between(_first, _last),
    _changes.project_id == sa.bindparam("project"),
    _changes.environment_id.is_not_distinct_from(sa.bindparam("environment", type_=sa.Uuid)),
)
_insert_each = _insert(
    _row(_changes.id, _changes.id)
    .join_from(tables.webhooks, tables.changes, _made)
    .where(tables.is_concerned_webhook, _webhooks.format == _STANDARD)
    .order_by(_webhooks.id, _changes.id)
)
_insert_together = _insert(_row(_first, _last).where(tables.is_concerned_webhook, _webhooks.format != _STANDARD))


_insert_notice = tables.webhook_deliveries.insert().from_select(
    ("webhook_id", "project_id", "type", "state", "attempts", "created_at", "notice"),
    sa.select(
        _webhooks.id,
        _project,
        sa.bindparam("type", type_=sa.Text),
        sa.literal("waiting"),
        sa.literal(0),
        _at,
        sa.bindparam("notice", type_=sa.BigInteger),
    ).where(tables.is_concerned_webhook),
)


async def enqueue(
    connection: AsyncConnection,
    scope: Scope,
    numbers: Sequence[int],
    *,
    at: datetime,
    revision: int | None,
) -> None:
    """Write the messages about changes with these numbers, which one operation has made in one environment or in none.

    `revision` is the one that has the changes, if they affect evaluations.
    """
    values: dict[str, Any] = {
        "project": scope.project_id,
        "first": numbers[0],
        "last": numbers[-1],
        "at": at,
        "revision": revision,
    }
    if len(numbers) == 1:
        await connection.execute(_insert_one, values)
        return
    await connection.execute(_insert_each, {**values, "environment": scope.environment_id})
    await connection.execute(_insert_together, values)


async def enqueue_notice(
    connection: AsyncConnection, project_id: UUID | None, number: int, *, kind: str, at: datetime
) -> None:
    """Write the messages about the notice with this number, which is about a project or about none."""
    await connection.execute(_insert_notice, {"project": project_id, "type": kind, "at": at, "notice": number})
