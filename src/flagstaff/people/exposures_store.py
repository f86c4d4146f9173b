"""The releases for which a user was counted, in the history."""

from collections.abc import Collection
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.people.exposures import UserExposure

# Those of today, and those of an earlier release for releases that had ended before the update.
_STORES = (
    (tables.counted_releases, tables.step_exposures, sa.true()),
    (
        tables.observed_releases,
        tables.exposures,
        tables.observed_releases.c.release_id.not_in(sa.select(tables.counted_releases.c.release_id)),
    ),
)


async def list_exposures(
    connection: AsyncConnection, environment_id: UUID, units: Collection[str]
) -> list[UserExposure]:
    """The releases of an environment for which one of these units was counted."""
    found = []
    for observed, exposures, wanted in _STORES:
        query = (
            sa.select(observed.c.release_id, exposures.c.unit, exposures.c.step, exposures.c.arm, exposures.c.at)
            .join_from(observed, exposures, exposures.c.release == observed.c.number)
            .where(observed.c.environment_id == environment_id, exposures.c.unit.in_(units), wanted)
            .order_by(exposures.c.at, exposures.c.step)
        )
        found += [UserExposure(*row[:-1], tables.moment(row.at)) for row in await connection.execute(query)]
    return found
