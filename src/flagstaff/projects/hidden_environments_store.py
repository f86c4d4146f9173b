"""Environments that nobody sees, in the database: those without a project.

An environment with thousands of flags is written into one in several short transactions, of which the last gives it to
its project. A deleted one is taken from its project at once, and its rows are removed in several transactions.
"""

from collections.abc import Iterable
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.clock import DatabaseNow
from flagstaff.projects import environments_store
from flagstaff.projects.projects import Environment
from flagstaff.values.errors import Code, Error

BUILT_SECONDS = 30
"""For how long a builder may pause between two transactions before what it has built is removed."""
REMOVED_AT_ONCE = 500
"""The most rows of one table that a transaction removes."""

_columns, _flags, _rules, _releases = tables.environments.c, tables.flags.c, tables.rules.c, tables.releases.c
_comments, _changes = tables.comments.c, tables.changes.c
_environment: sa.BindParameter[UUID] = sa.bindparam("environment")
_until = DatabaseNow() + BUILT_SECONDS * 1_000_000
_by_id = _columns.id == _environment
_is_hidden = _columns.project_id.is_(None)
_is_built = sa.and_(_by_id, _is_hidden, _columns.built_until > DatabaseNow())
_build = tables.environments.insert().values(project_id=None, built_until=_until)
_hold = tables.environments.update().where(_is_built).values(built_until=_until)
_show = tables.environments.update().where(_is_built).values(project_id=sa.bindparam("project"), built_until=None)
_give_up = tables.environments.update().where(_is_built).values(built_until=DatabaseNow())
_hide = tables.environments.update().values(project_id=None, built_until=None)
_unneeded = (
    sa.select(_columns.id, _columns.built_until.is_not(None))
    .where(_is_hidden, sa.or_(_columns.built_until.is_(None), _columns.built_until <= DatabaseNow()))
    .order_by(_columns.id)
    .limit(1)
)
_free = _unneeded.with_for_update(skip_locked=True)  # of another instance, which removes it
# What belongs to an environment without flags, and what else may act for it, such as keys and running releases.
_FOUND_BY_ITS_ID = tuple(
    table.c.environment_id
    for table in (
        tables.sdk_keys,
        tables.environment_roles,
        tables.subscriptions,
        tables.pinned_charts,
        tables.notices,
        tables.noticed_flags,
        tables.environment_looks,
    )
)
_flags_of = sa.select(_flags.id).where(_flags.environment_id == _environment)


def _some(table: sa.Table, condition: sa.ColumnElement[bool]) -> sa.Delete:
    some = sa.select(table.c.id).where(condition).limit(REMOVED_AT_ONCE)
    return table.delete().where(table.c.id.in_(some))


_removals = (
    _some(tables.rules, _rules.flag_id.in_(_flags_of)),
    _some(tables.comments, _comments.flag_id.in_(_flags_of)),
    _some(tables.releases, _releases.environment_id == _environment),
    _some(tables.flags, _flags.environment_id == _environment),
)
_remove_changes = _some(tables.changes, _changes.environment_id == _environment)
_remove = tables.environments.delete().where(_by_id)


async def build_environment(connection: AsyncConnection, environment: Environment) -> None:
    """Insert an environment that nobody sees until `show_environment`."""
    values = {name: value for name, value in environments_store.row_of(environment).items() if name != "project_id"}
    await connection.execute(_build, values)


async def hold_environment(connection: AsyncConnection, environment_id: UUID) -> None:
    """Go on building an environment; raises Error UNAVAILABLE if it was given up."""
    _require_present(await connection.execute(_hold, {"environment": environment_id}))


async def show_environment(connection: AsyncConnection, environment: Environment) -> None:
    """Give a built environment to its project; raises Error CONFLICT if that has another one with its key.

    Raises:
        Error: UNAVAILABLE if it was given up.
    """
    with environments_store.distinct_key(environment):
        values = {"environment": environment.id, "project": environment.project_id}
        _require_present(await connection.execute(_show, values))


async def give_up_environment(connection: AsyncConnection, environment_id: UUID) -> None:
    """Let an environment that is being built be removed."""
    await connection.execute(_give_up, {"environment": environment_id})


async def hide_environments(connection: AsyncConnection, environment_ids: Iterable[UUID]) -> None:
    """Take environments from their project for good, with their keys, roles and running releases."""
    chosen = list(environment_ids)
    for column in _FOUND_BY_ITS_ID:
        await connection.execute(sa.delete(column.table).where(column.in_(chosen)))
    await connection.execute(
        tables.releases.delete().where(_releases.environment_id.in_(chosen), _releases.ended_at.is_(None))
    )
    charts = tables.pinned_charts
    compared = charts.update().where(charts.c.compare_environment_id.in_(chosen))
    await connection.execute(compared.values(compare_environment_id=None))
    await connection.execute(_hide.where(_columns.id.in_(chosen)))


async def hide_environments_of(connection: AsyncConnection, project_id: UUID) -> None:
    """Take all environments from a project."""
    its = sa.select(_columns.id).where(_columns.project_id == project_id)
    await hide_environments(connection, (await connection.execute(its)).scalars())


async def is_any_unneeded(connection: AsyncConnection) -> bool:
    """Return whether there is something to remove."""
    return (await connection.execute(_unneeded)).first() is not None


async def remove_some(connection: AsyncConnection) -> bool:
    """Remove some rows of an environment that nobody needs; return whether there was one.

    The changes of a deleted environment stay. What was never shown has none.
    """
    found = (await connection.execute(_free)).one_or_none()
    if found is None:
        return False
    environment_id, was_built = found
    for statement in (*_removals, *([_remove_changes] if was_built else [])):
        result = await connection.execute(statement, {"environment": environment_id})
        if result.rowcount:
            return True
    await connection.execute(_remove, {"environment": environment_id})
    return True


def _require_present(result: sa.CursorResult[object]) -> None:
    if result.rowcount == 0:
        raise Error(
            Code.UNAVAILABLE,
            "Creating the environment took too long, for example because the database was away. Nothing was created. "
            "Try again shortly.",
            retry_after_seconds=1,
        )
