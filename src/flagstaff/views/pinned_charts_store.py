"""The pinned charts of projects in the database."""

from collections.abc import Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.values.errors import not_found
from flagstaff.views.pinned_charts import PinnedChart

_columns = tables.pinned_charts.c
_in_project = _columns.project_id == sa.bindparam("project")
_charts = (
    sa.select(tables.pinned_charts, tables.flags.c.key.label("flag_key"))
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
    await connection.execute(tables.pinned_charts.insert(), tables.row_of(tables.pinned_charts, chart))


async def get_chart(connection: AsyncConnection, project_id: UUID, chart_id: UUID) -> PinnedChart:
    """The pinned chart with this id in a project; raises Error NOT_FOUND."""
    row = (await connection.execute(_by_id, {"project": project_id, "chart": chart_id})).mappings().one_or_none()
    if row is None:
        raise not_found("pinned chart")
    return PinnedChart(**row)


async def list_charts(connection: AsyncConnection, project_id: UUID) -> Sequence[PinnedChart]:
    """The pinned charts of a project, oldest first."""
    rows = (await connection.execute(_charts, {"project": project_id})).mappings()
    return [PinnedChart(**row) for row in rows]


async def count_charts(connection: AsyncConnection, project_id: UUID) -> int:
    """Count the pinned charts of a project."""
    return int((await connection.execute(_count, {"project": project_id})).scalar_one())


async def update_chart(connection: AsyncConnection, chart: PinnedChart) -> None:
    """Update a pinned chart."""
    await connection.execute(_update, {"chart": chart.id, **tables.row_of(tables.pinned_charts, chart)})


async def delete_chart(connection: AsyncConnection, chart_id: UUID) -> None:
    """Delete a pinned chart."""
    await connection.execute(_delete, {"chart": chart_id})
