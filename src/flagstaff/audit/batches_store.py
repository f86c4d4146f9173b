"""Operations that made several changes in the audit trail, and what was changed after one."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.changes import BatchKind, Change, NumberedChange, Scope
from flagstaff.database import tables
from flagstaff.database.change_states_store import read_whole

_columns = tables.changes.c
_part = sa.select(
    _columns.id,
    _columns.action,
    _columns.project_id,
    _columns.environment_id,
    _columns.flag_id,
    _columns.flag_key,
    _columns.batch,
)


class BatchPart(NamedTuple):
    """A change of an operation: its number, its action and its place."""

    number: int
    action: str
    scope: Scope


async def list_batch(connection: AsyncConnection, change: Change, number: int) -> list[BatchPart]:
    """The changes of the operation that has made a change, newest first; only this one if it made no others."""
    batch = change.batch
    if batch is None:
        return [BatchPart(number, change.action, change.scope)]
    # They follow each other in their project, whose writes are serialized; those of a clone only in the environment,
    # which nobody else could change meanwhile.
    is_beside = _columns.project_id == change.scope.project_id
    if batch.kind is BatchKind.CLONE:
        is_beside = sa.and_(is_beside, _columns.environment_id == change.scope.environment_id)
    beside = _part.where(is_beside).limit(batch.changes)
    later = await connection.execute(beside.where(_columns.id > number).order_by(_columns.id))
    earlier = await connection.execute(beside.where(_columns.id <= number).order_by(_columns.id.desc()))
    rows = (*reversed(later.all()), *earlier)
    return [_read(row) for row in rows if row.batch is not None and row.batch["id"] == str(batch.id)]


async def list_chosen(connection: AsyncConnection, project_id: UUID, numbers: Collection[int]) -> list[BatchPart]:
    """The changes with these numbers in a project, newest first; those that it does not have are left out."""
    chosen = _part.where(_columns.project_id == project_id, _columns.id.in_(numbers)).order_by(_columns.id.desc())
    return [_read(row) for row in await connection.execute(chosen)]


def _read(row: sa.Row[*tuple[object, ...]]) -> BatchPart:
    return BatchPart(row.id, row.action, Scope(row.project_id, row.environment_id, row.flag_id, row.flag_key))


async def find_change_since(
    connection: AsyncConnection, change: Change, number: int, ignored: Collection[int]
) -> NumberedChange | None:
    """The newest change of the flag that a change has created, or else of its resource, after that change.

    Changes of the same operation do not count, nor those with the `ignored` numbers.
    """
    creates_flag = change.action == "flag.created"
    is_of = (_columns.flag_id if creates_flag else _columns.resource_id) == change.resource_id
    later = sa.select(tables.changes).where(
        is_of, _columns.project_id == change.scope.project_id, _columns.id > number, _columns.id.not_in(ignored)
    )
    rows = await connection.execute(later.order_by(_columns.id.desc()).limit(1))
    found = next(iter(await read_whole(connection, rows)), None)
    # Nothing comes between the changes of an operation: if the newest is one of them, so are all.
    is_same = found is not None and change.batch is not None and found.change.batch == change.batch
    return None if is_same else found
