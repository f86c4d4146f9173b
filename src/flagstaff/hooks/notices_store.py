"""Notices in the database: those that were told, what was told of, and when environments were last examined."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.database.outbox_store import enqueue_notice
from flagstaff.hooks.notices import Notice, NoticeType

_LOCK = 0x6E6F7469  # a number that no other lock of PostgreSQL has here
_IDS_AT_ONCE = 1000
_notices, _flags, _instances = tables.notices.c, tables.noticed_flags.c, tables.noticed_instances.c
_looks, _environments = tables.environment_looks.c, tables.environments.c
_by_number = sa.select(tables.notices).where(_notices.number == sa.bindparam("number"))
_begin_looks = dialect.upsert(tables.environment_looks, lambda insert: insert.on_conflict_do_nothing())
_of_environment = sa.and_(_flags.environment_id == sa.bindparam("environment"), _flags.type == sa.bindparam("type"))


class Place(NamedTuple):
    """An environment that is due to be examined, and its project."""

    project_id: UUID
    environment_id: UUID


async def create_notice(
    connection: AsyncConnection,
    kind: NoticeType,
    at: datetime,
    details: Mapping[str, Any],
    *,
    project_id: UUID | None = None,
    environment_id: UUID | None = None,
) -> None:
    """Insert a notice, and a message about it for each webhook that may want it."""
    row = {
        "type": kind,
        "project_id": project_id,
        "environment_id": environment_id,
        "at": at,
        "details": dict(details),
    }
    result = await connection.execute(tables.notices.insert().values(row))
    assert result.inserted_primary_key is not None
    await enqueue_notice(connection, project_id, result.inserted_primary_key[0], kind=kind.value, at=at)


async def find_notice(connection: AsyncConnection, number: int) -> Notice | None:
    """The notice with this number, if it is still kept."""
    row = (await connection.execute(_by_number, {"number": number})).one_or_none()
    if row is None:
        return None
    return Notice(row.number, NoticeType(row.type), row.project_id, row.environment_id, row.at, row.details)


async def purge_notices(connection: AsyncConnection, before: datetime) -> None:
    """Delete the notices that are older than a time."""
    await connection.execute(tables.notices.delete().where(_notices.at < before))


async def list_noticed_flags(connection: AsyncConnection, environment_id: UUID, kind: NoticeType) -> set[str]:
    """Return the keys of the environment's flags about which this notice was sent."""
    query = sa.select(_flags.flag_key).where(_of_environment)
    return set((await connection.execute(query, {"environment": environment_id, "type": kind.value})).scalars())


async def replace_noticed_flags(
    connection: AsyncConnection,
    environment_id: UUID,
    kind: NoticeType,
    now: datetime,
    *,
    added: Collection[str],
    ended: Collection[str],
) -> None:
    """Record that this notice was sent about some flags, and ended for others."""
    if ended:
        delete = tables.noticed_flags.delete().where(_of_environment, _flags.flag_key.in_(ended))
        await connection.execute(delete, {"environment": environment_id, "type": kind.value})
    if added:
        rows = [
            {"environment_id": environment_id, "type": kind.value, "flag_key": key, "since": now}
            for key in sorted(added)
        ]
        await connection.execute(tables.noticed_flags.insert(), rows)


async def list_noticed_instances(connection: AsyncConnection, kind: NoticeType) -> set[str]:
    """Return the names of the instances about which this notice was sent."""
    query = sa.select(_instances.name).where(_instances.type == kind.value)
    return set((await connection.execute(query)).scalars())


async def record_instance(connection: AsyncConnection, kind: NoticeType, name: str, now: datetime) -> None:
    """Record that this notice was sent about the instance."""
    await connection.execute(tables.noticed_instances.insert(), {"type": kind.value, "name": name, "since": now})


async def forget_instance(connection: AsyncConnection, kind: NoticeType, name: str) -> None:
    """Record that this notice ended for the instance."""
    await connection.execute(
        tables.noticed_instances.delete().where(_instances.type == kind.value, _instances.name == name)
    )


async def lock_notices(connection: AsyncConnection) -> None:
    """Let one process at a time decide what is told, until its transaction ends. SQLite has one writer anyway."""
    if connection.dialect.name == "postgresql":
        await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(_LOCK)))


async def forget_instances(connection: AsyncConnection, before: datetime) -> None:
    """Forget instances of which was told before a time: those that have ended under a name that never came back."""
    await connection.execute(tables.noticed_instances.delete().where(_instances.since < before))


async def list_due(
    connection: AsyncConnection, kind: NoticeType, before: datetime, most: int, among: Collection[UUID] | None
) -> list[Place]:
    """Environments, of all or of those given, that were not examined for this since a time."""
    at = _looked_at(kind)
    query = (
        sa.select(_environments.project_id, _environments.id)
        .outerjoin(tables.environment_looks, _looks.environment_id == _environments.id)
        .where(_environments.project_id.is_not(None), sa.or_(at.is_(None), at < before))
    )
    if among is None:
        return [Place(*row) for row in await connection.execute(query.limit(most))]
    found: list[Place] = []
    given = sorted(among)
    for start in range(0, len(given), _IDS_AT_ONCE):  # a statement has a bound on its parameters
        some = query.where(_environments.id.in_(given[start : start + _IDS_AT_ONCE]))
        found += [Place(*row) for row in await connection.execute(some.limit(most - len(found)))]
        if len(found) == most:
            break
    return found


async def claim_look(
    connection: AsyncConnection, kind: NoticeType, environment_id: UUID, before: datetime, now: datetime
) -> bool:
    """Note that an environment is examined for this now; return False if another process does so."""
    column = _looked_at(kind)
    await connection.execute(_begin_looks(connection), {"environment_id": environment_id})
    update = (
        tables.environment_looks.update()
        .where(_looks.environment_id == environment_id, sa.or_(column.is_(None), column < before))
        .values({column.name: now})
    )
    return (await connection.execute(update)).rowcount == 1


def _looked_at(kind: NoticeType) -> sa.Column[datetime]:
    return _looks.stale_at if kind is NoticeType.FLAG_STALE else _looks.missing_at
