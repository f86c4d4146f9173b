"""The changes of a flag and its releases in the audit trail: those that others made, and outages that were told."""

from collections.abc import Mapping
from datetime import datetime
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
_watched = (
    sa.select(_changes.before)
    .where(_changes.resource_id == sa.bindparam("release"), _changes.action == "release.watched")
    .order_by(_changes.id.desc())
    .limit(1)
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


async def find_told_outage(connection: AsyncConnection, release_id: UUID) -> datetime | None:
    """When the latest outage began whose end people were told; None if there was none."""
    before = (await connection.execute(_watched, {"release": release_id})).scalar()
    return datetime.fromisoformat(before["unwatched_since"]) if before else None
