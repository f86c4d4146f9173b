"""Environments in the database."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.resources import Resource
from flagstaff.database.tables import is_costly
from flagstaff.database.windows import Listing
from flagstaff.projects.projects import Environment, is_critical
from flagstaff.values.errors import Code, Error, not_found
from flagstaff.values.lists import WHOLE, Window

_columns = tables.environments.c
_ENVIRONMENTS = Resource(Environment, tables.environments, fixed=frozenset({"position"}))
_environment = _ENVIRONMENTS.select()
_insert = tables.environments.insert()
_by_id = _environment.where(_columns.id == sa.bindparam("environment"), _columns.project_id == sa.bindparam("project"))
_by_key = _environment.where(_columns.project_id == sa.bindparam("project"), _columns.key == sa.bindparam("key"))
_of_project = Listing(
    _environment.where(_columns.project_id == sa.bindparam("project")),
    (_columns.position, _columns.created_at, _columns.id),
)
# An environment without a project is hidden: see hidden_environments_store.py.
_is_visible = _columns.project_id.is_not(None)
_with_costly_rules = (
    _environment.distinct()
    .join(tables.flags, tables.flags.c.environment_id == _columns.id)
    .join(tables.rules, tables.rules.c.flag_id == tables.flags.c.id)
    .where(_is_visible, sa.not_(tables.is_archived), is_costly)
)
_count = sa.select(sa.func.count()).where(_columns.project_id == sa.bindparam("project"))
_update = tables.environments.update().where(_columns.id == sa.bindparam("environment"))
_place = _update.values(position=sa.bindparam("place"))


async def create_environment(connection: AsyncConnection, environment: Environment) -> None:
    """Insert an environment; raises Error CONFLICT if the project already has one with this key."""
    with distinct_key(environment):
        await connection.execute(_insert, row_of(environment))


def distinct_key(environment: Environment) -> AbstractContextManager[None]:
    """Raise Error CONFLICT for a statement by which a project gets a second environment with the key of this one."""
    return unique_or(_taken(environment.key), _columns.project_id, _columns.key)


async def require_free_key(connection: AsyncConnection, project_id: UUID, key: str) -> None:
    """Raise Error CONFLICT if a project has an environment with a key."""
    if await find_environment_by_key(connection, project_id, key) is not None:
        raise Error(Code.CONFLICT, _taken(key))


def _taken(key: str) -> str:
    return f"The project already has an environment with the key {key}."


def row_of(environment: Environment) -> dict[str, Any]:
    """A new row of an environment."""
    return _ENVIRONMENTS.row(environment)


async def find_environment(connection: AsyncConnection, project_id: UUID, environment_id: UUID) -> Environment | None:
    """The environment with this id in a project, if there is one."""
    ids = {"project": project_id, "environment": environment_id}
    row = (await connection.execute(_by_id, ids)).one_or_none()
    return _from_row(row) if row else None


async def list_environments_with_costly_rules(connection: AsyncConnection) -> list[Environment]:
    """The environments of all projects in which a rule has conditions or a segment, in no particular order."""
    return list(map(_from_row, await connection.execute(_with_costly_rules)))


async def get_environment(connection: AsyncConnection, project_id: UUID, environment_id: UUID) -> Environment:
    """The environment with this id in a project; raises Error NOT_FOUND."""
    environment = await find_environment(connection, project_id, environment_id)
    if environment is None:
        raise not_found("environment")
    return environment


async def find_environment_by_key(connection: AsyncConnection, project_id: UUID, key: str) -> Environment | None:
    """The environment of a project with this key, if there is one."""
    row = (await connection.execute(_by_key, {"project": project_id, "key": key})).one_or_none()
    return _from_row(row) if row else None


async def list_environments(
    connection: AsyncConnection, project_id: UUID, window: Window = WHOLE
) -> Iterator[Environment]:
    """The environments of a project by position, the time of their creation and their id; converted when read."""
    rows = await _of_project.rows(connection, window, {"project": project_id})
    return map(_from_row, rows)


def _from_row(row: Sequence[Any]) -> Environment:
    environment = _ENVIRONMENTS.read(row)
    return replace(environment, critical=is_critical(environment.key, chosen=environment.critical))


async def find_places(
    connection: AsyncConnection, environment_ids: Collection[UUID]
) -> Mapping[UUID, tuple[UUID, str]]:
    """The project and the key of each of these environments that exists, by its id."""
    query = sa.select(_columns.id, _columns.project_id, _columns.key).where(
        _columns.id.in_(environment_ids), _is_visible
    )
    return {row.id: (row.project_id, row.key) for row in await connection.execute(query)}


async def count_environments(connection: AsyncConnection, project_id: UUID) -> int:
    """Count the environments of a project."""
    return int((await connection.execute(_count, {"project": project_id})).scalar_one())


async def update_environment(connection: AsyncConnection, environment: Environment) -> None:
    """Update an environment's mutable fields."""
    await connection.execute(_update, {"environment": environment.id, **_ENVIRONMENTS.changes(environment)})


async def place_environments(connection: AsyncConnection, environment_ids: Sequence[UUID]) -> None:
    """Give these environments the first positions, in this order."""
    places = [{"environment": each, "place": place} for place, each in enumerate(environment_ids)]
    await connection.execute(_place, places)


async def list_environment_ids(connection: AsyncConnection) -> set[UUID]:
    """The ids of all environments of all projects."""
    return set((await connection.execute(sa.select(_columns.id).where(_is_visible))).scalars())


async def list_retentions(connection: AsyncConnection) -> Mapping[UUID, int | None]:
    """For how many days each environment keeps its history, by the id: its own, or else the project's, if any."""
    days = sa.func.coalesce(_columns.history_retention_days, tables.projects.c.history_retention_days)
    query = sa.select(_columns.id, days.label("days")).join_from(tables.environments, tables.projects)
    return {row.id: row.days for row in await connection.execute(query)}


async def list_owners(connection: AsyncConnection) -> Mapping[UUID, tuple[UUID, UUID]]:
    """The first owner and the project of each environment, by its id."""
    projects = tables.projects.c
    query = sa.select(_columns.id, projects.owner_id, projects.id).join_from(tables.environments, tables.projects)
    return {environment: (owner, project) for environment, owner, project in await connection.execute(query)}
