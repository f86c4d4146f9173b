"""The changes of a flag in the audit trail, with which a release may be in conflict."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables

_changes = tables.changes.c
_made_since = (
    sa.select(
        _changes.id,
        _changes.action,
        _changes.resource_id,
        _changes.before,
        _changes.after,
        _changes.actor_email,
        _changes.release,
    )
    .where(_changes.flag_id == sa.bindparam("flag"), _changes.id > sa.bindparam("mark"))
    .order_by(_changes.id)
    .limit(sa.bindparam("limit", type_=sa.Integer))
)


class MadeChange(NamedTuple):
    """A change of a flag or of its rules; `release_id` is the release that made it, if one did."""

    number: int
    action: str
    resource_id: UUID
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None
    actor_email: str | None
    release_id: UUID | None


async def list_made_since(connection: AsyncConnection, flag_id: UUID, mark: int, limit: int) -> list[MadeChange]:
    """The changes of a flag and its rules with higher numbers, oldest first."""
    rows = await connection.execute(_made_since, {"flag": flag_id, "mark": mark, "limit": limit})
    return [MadeChange(*row[:6], UUID(row.release["id"]) if row.release else None) for row in rows]
