"""The pinned charts of projects in the database."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.database.resources import Resource
from flagstaff.values.errors import not_found
from flagstaff.views.pinned_charts import PinnedChart

_columns = tables.pinned_charts.c
_in_project = _columns.project_id == sa.bindparam("project")
_CHARTS = Resource(PinnedChart, tables.pinned_charts, also={"flag_key": tables.flags.c.key})
_charts = (
    _CHARTS.select()
    .select_from(tables.pinned_charts)
    .outerjoin(tables.flags, tables.flags.c.id == _columns.flag_id)
    .where(_in_project)
    .order_by(_columns.created_at, _columns.id)
)
_by_id = _charts.where(_columns.id == sa.bindparam("chart"))
_count = sa.select(sa.func.count()).where(_in_project)
_update = tables.pinned_charts.update().where(_columns.id == sa.bindparam("chart"))
_delete = tables.pinned_charts.delete().where(_columns.id == sa.bindparam("chart"))


async def create_chart(connection: AsyncConnection, chart: PinnedChart) -> None:
    """Insert a pinned chart."""
    await connection.execute(tables.pinned_charts.insert(), _CHARTS.row(chart))


async def get_chart(connection: AsyncConnection, project_id: UUID, chart_id: UUID) -> PinnedChart:
    """The pinned chart with this id in a project; raises Error NOT_FOUND."""
    row = (await connection.execute(_by_id, {"project": project_id, "chart": chart_id})).one_or_none()
    if row is None:
        raise not_found("pinned chart")
    return _CHARTS.read(row)


async def list_charts(connection: AsyncConnection, project_id: UUID) -> Sequence[PinnedChart]:
    """The pinned charts of a project, oldest first."""
    rows = await connection.execute(_charts, {"project": project_id})
    return [_CHARTS.read(row) for row in rows]


async def count_charts(connection: AsyncConnection, project_id: UUID) -> int:
    """Count the pinned charts of a project."""
    return int((await connection.execute(_count, {"project": project_id})).scalar_one())


async def update_chart(connection: AsyncConnection, chart: PinnedChart) -> None:
    """Update a pinned chart."""
    await connection.execute(_update, {"chart": chart.id, **_CHARTS.changes(chart)})


async def delete_chart(connection: AsyncConnection, chart_id: UUID) -> None:
    """Delete a pinned chart."""
    await connection.execute(_delete, {"chart": chart_id})
