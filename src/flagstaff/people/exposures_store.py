"""The releases for which a user was counted, in the history."""

from collections.abc import Collection
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.people.exposures import UserExposure

_observed, _exposures = tables.counted_releases.c, tables.step_exposures.c


async def list_exposures(
    connection: AsyncConnection, environment_id: UUID, units: Collection[str]
) -> list[UserExposure]:
    """The releases of an environment for which one of these units was counted."""
    query = (
        sa.select(_observed.release_id, _exposures.unit, _exposures.step, _exposures.arm, _exposures.at)
        .join_from(tables.counted_releases, tables.step_exposures, _exposures.release == _observed.number)
        .where(_observed.environment_id == environment_id, _exposures.unit.in_(units))
        .order_by(_exposures.at, _exposures.step)
    )
    return [UserExposure(*row[:-1], tables.moment(row.at)) for row in await connection.execute(query)]
