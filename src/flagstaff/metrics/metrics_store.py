"""Metrics in the database."""

from collections.abc import Collection, Iterator
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.driver_errors import unique_or
from flagstaff.database.resources import Resource
from flagstaff.database.windows import Listing
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.values.errors import not_found
from flagstaff.values.lists import WHOLE, Window

_columns = tables.metrics.c
_in_project = _columns.project_id == sa.bindparam("project")
_METRICS = Resource(Metric, tables.metrics, reads={"kind": Kind, "better": Better}, fixed=frozenset({"kind"}))
_all = _METRICS.select().where(_in_project)
_by_id = _all.where(_columns.id == sa.bindparam("metric"))
_of_project = Listing(_all, (_columns.created_at, _columns.id), descending=True)
_named = _all.where(_columns.key.in_(sa.bindparam("keys", expanding=True)))
_kinds = sa.select(_columns.key, _columns.kind).where(_in_project)
_count = sa.select(sa.func.count()).where(_in_project)
_update = tables.metrics.update().where(_columns.id == sa.bindparam("metric"))
_delete = tables.metrics.delete().where(_columns.id == sa.bindparam("metric"))


async def create_metric(connection: AsyncConnection, metric: Metric) -> None:
    """Insert a metric; raises Error CONFLICT if the project already has one with this key."""
    with unique_or(f"The project already has a metric with the key {metric.key}.", _columns.project_id, _columns.key):
        await connection.execute(tables.metrics.insert(), _METRICS.row(metric))


async def get_metric(connection: AsyncConnection, project_id: UUID, metric_id: UUID) -> Metric:
    """The metric with this id in a project; raises Error NOT_FOUND."""
    row = (await connection.execute(_by_id, {"project": project_id, "metric": metric_id})).one_or_none()
    if row is None:
        raise not_found("metric")
    return _METRICS.read(row)


async def list_metrics(connection: AsyncConnection, project_id: UUID, window: Window = WHOLE) -> Iterator[Metric]:
    """The metrics of a project, newest first, by the time of their creation and their id; converted when read."""
    return map(_METRICS.read, await _of_project.rows(connection, window, {"project": project_id}))


async def find_metrics(connection: AsyncConnection, project_id: UUID, keys: Collection[str]) -> dict[str, Metric]:
    """The metrics of a project with some keys, by key."""
    rows = await connection.execute(_named, {"project": project_id, "keys": list(keys)})
    return {row.key: _METRICS.read(row) for row in rows}


async def list_kinds(connection: AsyncConnection, project_id: UUID) -> dict[str, Kind]:
    """The kinds of a project's metrics, by key."""
    rows = await connection.execute(_kinds, {"project": project_id})
    return {key: Kind(kind) for key, kind in rows}


async def count_metrics(connection: AsyncConnection, project_id: UUID) -> int:
    """Count the metrics of a project."""
    return int((await connection.execute(_count, {"project": project_id})).scalar_one())


async def update_metric(connection: AsyncConnection, metric: Metric) -> None:
    """Update a metric's mutable fields."""
    await connection.execute(_update, {"metric": metric.id, **_METRICS.changes(metric)})


async def delete_metric(connection: AsyncConnection, metric_id: UUID) -> None:
    """Delete a metric."""
    await connection.execute(_delete, {"metric": metric_id})
