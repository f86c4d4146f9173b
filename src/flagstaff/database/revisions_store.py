"""Revisions: numbers that tell the states of what is evaluated apart, the same on all instances.

Each change that affects evaluations takes the next number of its project in its own transaction, and sets it as the
revision of the environments that it affects. Writes to a project are serialized, so a later state has a higher number.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.changes.changes import Scope
from flagstaff.database import tables
from flagstaff.database.revisions import LiveOn, Revision

FOUND = "found_projects"
"""The execution option of a write transaction's connection: the revisions of the projects that it has locked, by id."""

_project: sa.BindParameter[UUID] = sa.bindparam("project")
_environment: sa.BindParameter[UUID] = sa.bindparam("environment")
_number: sa.BindParameter[int] = sa.bindparam("number")
_projects, _environments = tables.projects, tables.environments
# In the same statement, because one more would cost a change a twentieth of its time.
_has_webhooks = sa.select(tables.webhooks.c.id).where(tables.is_concerned_webhook).correlate(None).exists()
_advance = _projects.update().where(_projects.c.id == _project).values(revision=_projects.c.revision + 1)
_next = _advance.returning(_projects.c.revision, _has_webhooks)
_one = _environments.update().where(_environments.c.id == _environment)
_all = _environments.update().where(_environments.c.project_id == _project)
_set_one, _set_all = _one.values(revision=_number), _all.values(revision=_number)
_advanced = _advance.returning(_projects.c.revision).cte("advanced")
_number_of_advanced = sa.select(_advanced.c.revision).scalar_subquery()


def _advancing(environments: sa.Update) -> sa.Select[Any]:
    """All of it in one statement, with the notification, for PostgreSQL: it has one row, also without a project."""
    return sa.select(
        _number_of_advanced,
        _has_webhooks,
        sa.func.pg_notify(sa.bindparam("channel", type_=sa.Text), sa.bindparam("announcement", type_=sa.Text)),
    ).add_cte(environments.values(revision=_number_of_advanced).cte("placed"))


_advance_one, _advance_all = _advancing(_one), _advancing(_all)
_of_project = (
    sa.select(_environments.c.id, _environments.c.revision, _projects.c.revision)
    .join_from(_environments, _projects)
    .where(_environments.c.project_id == _project)
)
_latest = sa.select(_projects.c.revision).where(_projects.c.id == _project)
_of_environment = _of_project.where(_environments.c.id == _environment)


@dataclass
class Written:
    """A write: whether it concerns evaluations, and the latest revision that it has made, or found and left.

    None if its project has been deleted. `change` is the number of the latest change, and `live_on` where the revision
    is served, if there are several instances.
    """

    concerns_evaluations: bool = False
    revision: int | None = None
    change: int | None = None
    live_on: LiveOn | None = None


_written: ContextVar[Written | None] = ContextVar("written revision", default=None)


@contextmanager
def watch_revision() -> Iterator[Written]:
    """Learn which revision is committed inside this context."""
    written = Written()
    token = _written.set(written)
    try:
        yield written
    finally:
        _written.reset(token)


def record_committed(revision: int | None, change: int | None) -> None:
    """Tell whoever watches that a transaction with this revision, and this change as its latest, has been committed."""
    written = _written.get()
    if written is None:
        return
    written.concerns_evaluations = True
    if revision is not None:
        written.revision = revision
    if change is not None:
        written.change = change


def record_live_on(live_on: LiveOn) -> None:
    """Tell whoever watches where the change is served."""
    written = _written.get()
    if written is not None:
        written.live_on = live_on


def record_found(connection: AsyncConnection, project_id: UUID, revision: int | None) -> None:
    """Note the revision in which a write transaction has locked a project, or None if the project has been deleted.

    The transaction does not return before this revision, or a later one, is served everywhere.
    """
    assert connection.sync_connection is not None
    connection.sync_connection.get_execution_options()[FOUND].setdefault(project_id, revision)


def forget_found(connection: AsyncConnection) -> None:
    """Let a transaction that writes nothing after all return without waiting."""
    assert connection.sync_connection is not None
    connection.sync_connection.get_execution_options()[FOUND].clear()


class Advanced(NamedTuple):
    """The number of a change, and whether a webhook may want it. None if its project has been deleted."""

    revision: int | None
    may_be_wanted: bool


async def advance(connection: AsyncConnection, scope: Scope, announcement: tuple[str, str]) -> Advanced:
    """Give a change in this scope its number, and announce it when the transaction commits.

    A change outside of all environments, such as of a segment, affects all of them. The announcement is a channel of
    PostgreSQL and a message; SQLite has no channels.
    """
    values: dict[str, Any] = {"project": scope.project_id}
    if scope.environment_id is not None:
        values["environment"] = scope.environment_id
    if connection.dialect.name == "postgresql":
        values["channel"], values["announcement"] = announcement
        query = _advance_all if scope.environment_id is None else _advance_one
        number, has_webhooks, _ = (await connection.execute(query, values)).one()
    else:
        number, has_webhooks = (await connection.execute(_next, values)).one_or_none() or (None, True)
        if number is not None:
            places = _set_all if scope.environment_id is None else _set_one
            await connection.execute(places, {**values, "number": number})
    return Advanced(number, number is None or bool(has_webhooks))


async def find_project_revision(connection: AsyncConnection, project_id: UUID) -> int | None:
    """The latest revision of a project; None if it does not exist."""
    return (await connection.execute(_latest, {"project": project_id})).scalar_one_or_none()


async def find_revision(connection: AsyncConnection, project_id: UUID, environment_id: UUID) -> Revision:
    """The revision of an environment that exists."""
    ids = {"project": project_id, "environment": environment_id}
    _, *revision = (await connection.execute(_of_environment, ids)).one()
    return Revision(*revision)


async def list_revisions(connection: AsyncConnection, project_id: UUID) -> dict[UUID, Revision]:
    """The revisions of a project's environments, by id."""
    rows = await connection.execute(_of_project, {"project": project_id})
    return {environment_id: Revision(*revision) for environment_id, *revision in rows}
