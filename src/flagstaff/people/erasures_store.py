"""Erasures in the history."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.people.erasures import Erasure, Stage

_LISTED_MAX = 1_000
_columns = tables.erasures.c
_create = dialect.upsert(tables.erasures, lambda insert: insert.on_conflict_do_nothing())


class Held(NamedTuple):
    """An erasure that a process, the holder, works on, and the sealed ids of its user."""

    erasure: Erasure
    sealed: bytes
    holder: str


async def create_erasure(connection: AsyncConnection, erasure: Erasure, sealed: bytes) -> bool:
    """Store an erasure that is to be done; return False if it is stored already."""
    values = {
        **tables.row_of(tables.erasures, erasure),
        "digests": dict(erasure.digests),
        "until": tables.microseconds(erasure.until),
        "sealed": sealed,
        "holder": "",
        "held_until": tables.moment(0),
    }
    return (await connection.execute(_create(connection), values)).rowcount > 0


async def find_erasure(connection: AsyncConnection, project_id: UUID, erasure_id: UUID) -> Erasure | None:
    """An erasure of a project."""
    query = sa.select(tables.erasures).where(_columns.project_id == project_id, _columns.id == erasure_id)
    row = (await connection.execute(query)).one_or_none()
    return None if row is None else _read(row)


async def list_erasures(connection: AsyncConnection, project_id: UUID) -> list[Erasure]:
    """The erasures of a project, newest first; a thousand at most."""
    query = sa.select(tables.erasures).where(_columns.project_id == project_id)
    newest = query.order_by(_columns.requested_at.desc(), _columns.id.desc()).limit(_LISTED_MAX)
    return [_read(row) for row in await connection.execute(newest)]


async def count_unfinished(connection: AsyncConnection, project_id: UUID) -> int:
    """How many erasures of a project are not done."""
    query = sa.select(sa.func.count()).where(_columns.project_id == project_id, _columns.finished_at.is_(None))
    return (await connection.execute(query)).scalar_one()


async def find_due(connection: AsyncConnection, holder: str, now: datetime) -> Sequence[UUID]:
    """The erasures that are not done and that nobody else works on, oldest first."""
    is_free = sa.or_(_columns.holder == holder, _columns.held_until <= now)
    query = sa.select(_columns.id).where(_columns.finished_at.is_(None), is_free)
    return (await connection.execute(query.order_by(_columns.requested_at))).scalars().all()


async def find_in_stages(connection: AsyncConnection, stages: Sequence[Stage]) -> Sequence[UUID]:
    """The erasures that are in one of these stages."""
    return (await connection.execute(sa.select(_columns.id).where(_columns.stage.in_(stages)))).scalars().all()


async def hold(
    connection: AsyncConnection, erasure_id: UUID, holder: str, now: datetime, until: datetime, *, at_once: bool
) -> Held | None:
    """Hold an erasure until a time; None if it is done, another process has it, or it waits to be tried again.

    `at_once` takes it also while it waits.
    """
    holders = (holder, "") if at_once else (holder,)
    is_free = sa.or_(_columns.holder.in_(holders), _columns.held_until <= now)
    own = sa.and_(_columns.id == erasure_id, _columns.finished_at.is_(None))
    held = tables.erasures.update().where(own, is_free).values(holder=holder, held_until=until)
    if (await connection.execute(held)).rowcount == 0:
        return None
    row = (await connection.execute(sa.select(tables.erasures).where(own))).one()
    return Held(_read(row), row.sealed or b"", holder)


async def go_on(connection: AsyncConnection, held: Held, until: datetime, **more: int) -> bool:
    """Hold an erasure longer, and add to what it has erased; return False if another process has it."""
    added = {name: _columns[name] + count for name, count in more.items()}
    return await _alter(connection, held, {"held_until": until, **added})


async def enter(connection: AsyncConnection, held: Held, stage: Stage) -> bool:
    """Note that everything before a stage is done; return False if another process has the erasure."""
    return await _alter(connection, held, {"stage": stage, "problem": None})


async def fail(connection: AsyncConnection, held: Held, problem: str, until: datetime) -> None:
    """Note why an erasure does not go on, and that nobody is to try again until a time."""
    await _alter(connection, held, {"problem": problem, "holder": "", "held_until": until})


async def finish(connection: AsyncConnection, held: Held, now: datetime) -> None:
    """Note that an erasure is done, and forget the ids of its user."""
    await _alter(connection, held, {"stage": Stage.DONE, "problem": None, "finished_at": now, "sealed": None})


async def _alter(connection: AsyncConnection, held: Held, values: dict[str, Any]) -> bool:
    is_held = sa.and_(_columns.id == held.erasure.id, _columns.holder == held.holder, _columns.finished_at.is_(None))
    return (await connection.execute(tables.erasures.update().where(is_held).values(values))).rowcount == 1


async def delete_old(connection: AsyncConnection, before: datetime) -> None:
    """Delete the erasures that were requested before a moment, from when nothing is kept any more."""
    await connection.execute(tables.erasures.delete().where(_columns.requested_at < before))


def _read(row: Any) -> Erasure:
    values = {name: getattr(row, name) for name in Erasure.__dataclass_fields__}
    return Erasure(**{**values, "until": tables.moment(row.until), "stage": Stage(row.stage)})
