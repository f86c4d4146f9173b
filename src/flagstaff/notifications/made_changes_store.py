"""The changes of which members may be told, and the position up to which a project's changes were examined."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.notifications.notifications import Made

_positions, _changes, _projects = tables.notification_positions.c, tables.changes.c, tables.projects.c
_project = sa.bindparam("project", type_=sa.Uuid)
_newest = (
    sa.select(sa.func.coalesce(sa.func.max(_changes.id), 0)).where(_changes.project_id == _project).scalar_subquery()
)
_position = sa.select(_positions.change).where(_positions.project_id == _project)
_begin = dialect.upsert(
    tables.notification_positions,
    lambda insert: insert.values(
        project_id=_project, change=sa.case((sa.bindparam("is_new", type_=sa.Boolean), 0), else_=_newest)
    ).on_conflict_do_nothing(),
)
_advance = (
    tables.notification_positions.update()
    .where(_positions.project_id == _project, _positions.change == sa.bindparam("before"))
    .values(change=sa.bindparam("after"))
)
_behind = (
    sa.select(_projects.id)
    .outerjoin(tables.notification_positions, _positions.project_id == _projects.id)
    .where(
        sa.or_(
            _positions.change.is_(None),
            sa.exists().where(_changes.project_id == _projects.id, _changes.id > _positions.change),
        )
    )
    .limit(sa.bindparam("most"))
)
# Without the states, which can have half a megabyte each.
_made = sa.select(
    _changes.id,
    _changes.at,
    _changes.action,
    _changes.actor_id,
    _changes.actor_email,
    _changes.environment_id,
    _changes.flag_id,
    _changes.flag_key,
    sa.func.coalesce(tables.flags.c.owner, _changes.before["owner"].as_string()),
    _changes.after["enabled"].as_boolean(),
    _changes.release.is_not(None),
    sa.func.coalesce(_changes.after["is_late"].as_boolean(), sa.false()),
    sa.func.coalesce(_changes.after["lost_authority"].as_boolean(), sa.false()),
    tables.flags.c.tags,
    _changes.before["tags"],
).outerjoin(tables.flags, tables.flags.c.id == _changes.flag_id)
_after = (
    _made.where(_changes.project_id == _project, _changes.id > sa.bindparam("after"))
    .order_by(_changes.id)
    .limit(sa.bindparam("most"))
)
_numbered = _made.where(
    _changes.project_id == _project, _changes.id.in_(sa.bindparam("numbers", expanding=True))
).order_by(_changes.id)


async def list_behind(connection: AsyncConnection, most: int) -> list[UUID]:
    """The projects with changes that were not examined."""
    return list((await connection.execute(_behind, {"most": most})).scalars())


async def find_position(connection: AsyncConnection, project_id: UUID) -> int | None:
    """The number up to which the changes of a project were examined; None if none were."""
    return (await connection.execute(_position, {"project": project_id})).scalar_one_or_none()


async def begin(connection: AsyncConnection, project_id: UUID, *, is_new: bool) -> None:
    """Examine the changes of a project from the next one on, or of a new one from the first one on."""
    await connection.execute(_begin(connection), {"project": project_id, "is_new": is_new})


async def advance(connection: AsyncConnection, project_id: UUID, before: int, after: int) -> bool:
    """Note that the changes up to a number were examined; return False if another process has done so."""
    values = {"project": project_id, "before": before, "after": after}
    return (await connection.execute(_advance, values)).rowcount == 1


async def list_after(connection: AsyncConnection, project_id: UUID, number: int, most: int) -> list[Made]:
    """A project's next changes."""
    values = {"project": project_id, "after": number, "most": most}
    return [_made_of(row) for row in await connection.execute(_after, values)]


async def list_made(connection: AsyncConnection, project_id: UUID, numbers: Sequence[int]) -> list[Made]:
    """The changes of a project with these numbers, oldest first."""
    if not numbers:
        return []
    values = {"project": project_id, "numbers": list(numbers)}
    return [_made_of(row) for row in await connection.execute(_numbered, values)]


def _made_of(row: Iterable[Any]) -> Made:
    *values, tags, before = row  # whoever follows a tag is told that it was taken from a flag
    return replace(Made(*values), tags=tuple(dict.fromkeys((*(tags or ()), *(before or ())))))
