"""What releases of Flagstaff before counts by step have counted: for the results of releases that ended before that.

Open releases are counted again from the history.
"""

from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import tables
from flagstaff.releases.observations import Observations, Stretch, Sums
from flagstaff.releases.statistics.limits import Limits

_observed, _exposures, _done = tables.observed_releases.c, tables.exposures.c, tables.user_events.c
_content = sa.select(_observed.number, _observed.content).where(_observed.release_id == sa.bindparam("release"))


@dataclass(slots=True)
class _Metric:
    scale: Limits | None = None


@dataclass(slots=True)
class _Scales:
    metrics: list[_Metric] = field(default_factory=list)


_decode, _decode_scales = msgspec.json.Decoder(Observations).decode, msgspec.json.Decoder(_Scales).decode


async def find_earlier(connection: AsyncConnection, release_id: UUID) -> tuple[int, Observations] | None:
    """The number and the counts of a release; None if there are none."""
    row = (await connection.execute(_content, {"release": release_id})).one_or_none()
    return None if row is None else (row.number, read_earlier(row.content))


def read_earlier(content: bytes) -> Observations:
    """Read counts that were stored by step in force, with users in their first step only, and one scale."""
    counted = _decode(content)
    counted.stretches = [Stretch(place, counted.began_at) for place in range(len(counted.exposed))]
    counted.of_step = [list(users) for users in counted.new]
    for metric, stored in zip(counted.metrics, _decode_scales(content).metrics, strict=True):
        if stored.scale is None:
            continue
        metric.limits = [stored.scale]
        for cell in (cell for cells in metric.cells for cell in cells):
            cell.blocks[0] = Sums(cell.users, cell.total, cell.squares)
    return counted


async def list_earlier_users(connection: AsyncConnection, number: int, after: str, limit: int) -> list[Any]:
    """Some users after one of them: unit, first step, step, arm, and time in microseconds."""
    query = (
        sa.select(_exposures.unit, _exposures.first_step, _exposures.step, _exposures.arm, _exposures.at)
        .where(_exposures.release == number, _exposures.unit > after)
        .order_by(_exposures.unit)
        .limit(limit)
    )
    return list(await connection.execute(query))


async def list_earlier_events(connection: AsyncConnection, number: int, first: str, last: str) -> list[Any]:
    """The events of the users from one to another: metric, unit, number of events, and total."""
    query = sa.select(_done.metric, _done.unit, _done.events, _done.total).where(
        _done.release == number, _done.unit.between(first, last)
    )
    return list(await connection.execute(query))


async def list_earlier_numbers(connection: AsyncConnection) -> dict[UUID, int]:
    """The numbers of all releases for which something was counted."""
    rows = await connection.execute(sa.select(_observed.release_id, _observed.number))
    return {each.release_id: each.number for each in rows}
