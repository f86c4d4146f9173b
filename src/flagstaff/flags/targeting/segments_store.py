"""Segments of projects in the database. The table `segments` belongs to the history."""

from collections.abc import Collection, Iterator
from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.resources import Resource
from flagstaff.database.windows import Listing
from flagstaff.flags.flags import RuleType
from flagstaff.flags.targeting.condition_columns import read_condition, write_condition
from flagstaff.flags.targeting.segments import Segment, SegmentUse
from flagstaff.values.errors import not_found
from flagstaff.values.lists import WHOLE, Window

_columns = tables.project_segments.c
_SEGMENTS = Resource(
    Segment,
    tables.project_segments,
    reads={"conditions": lambda stored: tuple(map(read_condition, stored))},
    writes={"conditions": lambda conditions: list(map(write_condition, conditions))},
)
_segment = _SEGMENTS.select()
_insert = tables.project_segments.insert()
_in_project = _columns.project_id == sa.bindparam("project")
_by_id = _segment.where(_columns.id == sa.bindparam("segment"), _in_project)
_of_project = Listing(_segment.where(_in_project), (_columns.created_at, _columns.id), descending=True)
_versions = sa.select(_columns.id, _columns.updated_at).where(_in_project)
_chosen = _segment.where(_columns.id.in_(sa.bindparam("segments", expanding=True)))
_key = sa.select(_columns.id).where(_columns.key == sa.bindparam("key"), _in_project)
_keys = sa.select(_columns.key).where(_in_project)
_named = _segment.where(
    _in_project,
    sa.or_(
        _columns.key.in_(sa.bindparam("keys", expanding=True)),
        _columns.key.in_(
            sa.select(tables.rules.c.rule_value).where(
                tables.rules.c.flag_id.in_(sa.bindparam("flags", expanding=True)),
                tables.rules.c.rule_type == RuleType.SEGMENT,
            )
        ),
    ),
)
_count = sa.select(sa.func.count()).where(_in_project)
_condition_characters = sa.select(
    sa.func.coalesce(sa.func.sum(sa.func.length(sa.cast(_columns.conditions, sa.Text))), 0)
).where(_in_project)
_update = tables.project_segments.update().where(_columns.id == sa.bindparam("segment"))
_delete = tables.project_segments.delete().where(_columns.id == sa.bindparam("segment"))
_users = (
    sa.select(tables.environments.c.key, tables.flags.c.key, tables.is_archived.label("archived"))
    .distinct()
    .select_from(tables.rules.join(tables.flags).join(tables.environments))
    .where(
        tables.environments.c.project_id == sa.bindparam("project"),
        tables.rules.c.rule_type == RuleType.SEGMENT,
        tables.rules.c.rule_value == sa.bindparam("key"),
    )
    .order_by(tables.environments.c.key, tables.flags.c.key)
)

_environments = (
    sa.select(tables.environments.c.id, tables.environments.c.key)
    .distinct()
    .select_from(tables.rules.join(tables.flags).join(tables.environments))
    .where(
        tables.environments.c.project_id == sa.bindparam("project"),
        tables.rules.c.rule_type == RuleType.SEGMENT,
        tables.rules.c.rule_value == sa.bindparam("key"),
        sa.not_(tables.is_archived),
    )
    .order_by(tables.environments.c.key)
)


async def create_segment(connection: AsyncConnection, segment: Segment) -> None:
    """Insert a segment; raises Error CONFLICT if the project already has one with this key."""
    with unique_or(
        f"The project already has a segment with the key {segment.key}.",
        tables.project_segments.c.project_id,
        tables.project_segments.c.key,
    ):
        await connection.execute(_insert, _SEGMENTS.row(segment))


async def find_segment(connection: AsyncConnection, project_id: UUID, segment_id: UUID) -> Segment | None:
    """The segment with this id in a project, if there is one."""
    row = (await connection.execute(_by_id, {"project": project_id, "segment": segment_id})).one_or_none()
    return _SEGMENTS.read(row) if row is not None else None


async def get_segment(connection: AsyncConnection, project_id: UUID, segment_id: UUID) -> Segment:
    """The segment with this id in a project; raises Error NOT_FOUND."""
    segment = await find_segment(connection, project_id, segment_id)
    if segment is None:
        raise not_found("segment")
    return segment


async def has_segment(connection: AsyncConnection, project_id: UUID, key: str) -> bool:
    """Return whether a project has a segment with a key."""
    return (await connection.execute(_key, {"project": project_id, "key": key})).first() is not None


async def list_keys(connection: AsyncConnection, project_id: UUID) -> set[str]:
    """The keys of a project's segments."""
    return set((await connection.execute(_keys, {"project": project_id})).scalars())


async def find_named_segments(
    connection: AsyncConnection, project_id: UUID, *, flag_ids: Collection[UUID], keys: Collection[str]
) -> Iterator[Segment]:
    """The segments of a project that have one of these keys or that a rule of one of these flags names.

    Converted when read.
    """
    given = {"project": project_id, "flags": list(flag_ids), "keys": list(keys)}
    return map(_SEGMENTS.read, await connection.execute(_named, given))


async def list_segments(connection: AsyncConnection, project_id: UUID, window: Window = WHOLE) -> Iterator[Segment]:
    """The segments of a project, newest first, by the time of their creation and their id; converted when read."""
    rows = await _of_project.rows(connection, window, {"project": project_id})
    return map(_SEGMENTS.read, rows)


async def list_segment_versions(connection: AsyncConnection, project_id: UUID) -> dict[UUID, datetime]:
    """Return the time of the last change of each segment of a project, by its id."""
    rows = await connection.execute(_versions, {"project": project_id})
    return {row.id: row.updated_at for row in rows}


async def find_segments(connection: AsyncConnection, segment_ids: Collection[UUID]) -> Iterator[Segment]:
    """The segments with these ids; converted when read."""
    if not segment_ids:
        return iter(())
    rows = await connection.execute(_chosen, {"segments": list(segment_ids)})
    return map(_SEGMENTS.read, rows)


async def count_segments(connection: AsyncConnection, project_id: UUID) -> int:
    """Count the segments of a project."""
    return int((await connection.execute(_count, {"project": project_id})).scalar_one())


async def count_condition_characters(connection: AsyncConnection, project_id: UUID) -> int:
    """Count the characters of the conditions of a project's segments, as JSON."""
    return int((await connection.execute(_condition_characters, {"project": project_id})).scalar_one())


async def list_flags_in(connection: AsyncConnection, project_id: UUID, key: str) -> list[SegmentUse]:
    """The flags with a rule for a segment, whether or not it is enabled."""
    rows = await connection.execute(_users, {"project": project_id, "key": key})
    return [SegmentUse(*row) for row in rows]


async def list_environments_with(connection: AsyncConnection, project_id: UUID, key: str) -> list[tuple[UUID, str]]:
    """The ids and keys of the environments in which a flag that is not archived has a rule for a segment, by key."""
    rows = await connection.execute(_environments, {"project": project_id, "key": key})
    return [(row.id, row.key) for row in rows]


async def update_segment(connection: AsyncConnection, segment: Segment) -> None:
    """Update a segment's mutable fields."""
    await connection.execute(_update, {"segment": segment.id, **_SEGMENTS.changes(segment)})


async def delete_segment(connection: AsyncConnection, segment_id: UUID) -> None:
    """Delete a segment."""
    await connection.execute(_delete, {"segment": segment_id})
