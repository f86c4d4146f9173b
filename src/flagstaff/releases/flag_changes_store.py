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
_changed_flags = (
    sa.select(_changes.flag_id)
    .where(_changes.environment_id == sa.bindparam("environment"), _changes.id > sa.bindparam("after"))
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


async def find_changed_flags(
    connection: AsyncConnection, environment_id: UUID, after: int, most: int
) -> set[UUID] | None:
    """The flags of an environment that were changed after a change; None if there are more changes than so many."""
    given = {"environment": environment_id, "after": after, "limit": most + 1}
    found = (await connection.execute(_changed_flags, given)).scalars().all()
    return None if len(found) > most else {each for each in found if each is not None}


async def find_told_outage(connection: AsyncConnection, release_id: UUID) -> datetime | None:
    """When the latest outage began whose end people were told; None if there was none."""
    before = (await connection.execute(_watched, {"release": release_id})).scalar()
    return datetime.fromisoformat(before["unwatched_since"]) if before else None
