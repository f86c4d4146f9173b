"""Observations of releases, in the history: users who were exposed, what they did, and the sums.

A write says which version of the sums it continues, and changes nothing if another process has continued it first.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import dialect, tables
from flagstaff.database.clock import DatabaseNow
from flagstaff.history.store.segments import CONTINUED_SIZE
from flagstaff.releases.observations import Done, Exposure, Observations
from flagstaff.values.lists import parts_of

_MICROSECONDS = 1_000_000
_UNITS_AT_ONCE = 400  # a statement has a bound on its parameters
_observed, _exposures, _done = tables.observed_releases.c, tables.exposures.c, tables.user_events.c
_segments, _environments, _events = tables.segments.c, tables.recorded_environments.c, tables.event_segments.c
_encode, _decode = msgspec.json.encode, msgspec.json.Decoder(Observations).decode
_encode_rows = msgspec.json.Encoder().encode

_by_release = sa.select(tables.observed_releases, DatabaseNow().label("now")).where(
    _observed.release_id == sa.bindparam("release")
)
_create = dialect.upsert(tables.observed_releases, lambda insert: insert.on_conflict_do_nothing())
_continue = tables.observed_releases.update().where(
    _observed.number == sa.bindparam("of_number"), _observed.version == sa.bindparam("of_version")
)
# A value and not a join, so that PostgreSQL takes the ends of its index, and does not read the whole history.
_number = (
    sa.select(_environments.number)
    .where(_environments.environment_id == sa.bindparam("environment_id"))
    .scalar_subquery()
)
_first_segment = (
    sa.select(_segments.id)
    .where(_segments.environment == _number, _segments.last_time >= sa.bindparam("since"))
    .order_by(_segments.id)
    .limit(1)
)
_last_segment = sa.select(sa.func.max(_segments.id)).where(_segments.environment == _number)
_newest_segment = (
    sa.select(_segments.id, _segments.size)
    .where(_segments.environment == _number)
    .order_by(_segments.id.desc())
    .limit(1)
)
_continued = (
    sa.select(_segments.id, _segments.size)
    .join_from(tables.recorded_environments, tables.segments, _segments.environment == _environments.number)
    .where(
        _environments.environment_id == sa.bindparam("environment_id"),
        _segments.id <= sa.bindparam("until"),
        _segments.id > _environments.counted_segment,
        _segments.size < sa.bindparam("below"),
    )
)
_last_event = sa.select(sa.func.max(_events.id)).where(_events.environment == _number)
_of_units = sa.select(_exposures.unit, _exposures.first_step, _exposures.step, _exposures.arm, _exposures.at).where(
    _exposures.release == sa.bindparam("release"), _exposures.unit.in_(sa.bindparam("units", expanding=True))
)
_done_by_units = sa.select(_done.metric, _done.unit, _done.step, _done.arm, _done.events, _done.total).where(
    _done.release == sa.bindparam("release"), _done.unit.in_(sa.bindparam("units", expanding=True))
)
_of_metric = sa.select(_done.unit, _done.step, _done.arm, _done.events, _done.total).where(
    _done.release == sa.bindparam("release"), _done.metric == sa.bindparam("metric")
)


def _upsert_rows(table: str, columns: Mapping[str, str], keys: Sequence[str]) -> Mapping[str, sa.TextClause]:
    """Statements that insert rows from one JSON text, or replace those with the same key; by database."""
    names, types = list(columns), list(columns.values())
    assigned = ", ".join(f"{name} = excluded.{name}" for name in names if name not in keys)
    insert = f"({', '.join(names)}) SELECT"
    end = f"ON CONFLICT ({', '.join(keys)}) DO UPDATE SET {assigned}"
    cast = ", ".join(f"(row ->> {place})::{kind}" for place, kind in enumerate(types))
    read = ", ".join(f"value ->> {place}" for place in range(len(names)))
    return {
        "postgresql": sa.text(
            f"INSERT INTO history.{table} {insert} {cast} FROM json_array_elements(CAST(:rows AS json)) AS row {end}"
        ),
        "sqlite": sa.text(f"INSERT INTO {table} {insert} {read} FROM json_each(:rows) WHERE true {end}"),
    }


_put_exposures = _upsert_rows(
    "exposures",
    {
        "release": "integer",
        "unit": "text",
        "first_step": "smallint",
        "step": "smallint",
        "arm": "smallint",
        "at": "bigint",
    },
    ("release", "unit"),
)
_put_done = _upsert_rows(
    "user_events",
    {
        "release": "integer",
        "metric": "smallint",
        "unit": "text",
        "step": "smallint",
        "arm": "smallint",
        "events": "integer",
        "total": "double precision",
    },
    ("release", "metric", "unit"),
)


class Observed(NamedTuple):
    """The sums of a release, with what is needed to continue them, and the database's time in microseconds."""

    number: int
    version: int
    holder: str
    held_until: int
    counted: Observations
    now: int


async def create_observed(connection: AsyncConnection, release_id: UUID, environment_id: UUID, since: int) -> None:
    """Begin to count for a release whose first step comes at a time, in microseconds; nothing if that was done."""
    wanted = {"environment_id": environment_id, "since": since}
    first = (await connection.execute(_first_segment, wanted)).scalar()
    last = (await connection.execute(_last_segment, wanted)).scalar() or 0
    event = (await connection.execute(_last_event, wanted)).scalar() or 0
    segment = last if first is None else first - 1
    # Batches may continue these with evaluations of the release.
    unfinished = await connection.execute(_continued, {**wanted, "until": segment, "below": CONTINUED_SIZE})
    begun = Observations(
        segment=segment,
        unfinished={row.id: row.size for row in unfinished},
        event=event,
        first_event=event,
        began_at=since,
    )
    row = {
        "release_id": release_id,
        "environment_id": environment_id,
        "version": 0,
        "holder": "",
        "held_until": tables.moment(0),
        "content": _encode(begun),
    }
    await connection.execute(_create(connection), row)


async def find_latest(connection: AsyncConnection, environment_id: UUID) -> tuple[int | None, ...]:
    """Return what changes when an environment gets records: its last segment, its size, and that of events."""
    segment = (await connection.execute(_newest_segment, {"environment_id": environment_id})).first()
    event = (await connection.execute(_last_event, {"environment_id": environment_id})).scalar()
    return (*(segment or (None, None)), event)


async def find_observed(connection: AsyncConnection, release_id: UUID) -> Observed | None:
    """Find the counts of a release; None if nothing was begun."""
    row = (await connection.execute(_by_release, {"release": release_id})).one_or_none()
    if row is None:
        return None
    held_until = tables.microseconds(row.held_until)
    return Observed(row.number, row.version, row.holder, held_until, _decode(row.content), row.now)


async def continue_observed(
    connection: AsyncConnection, before: Observed, counted: Observations, holder: str, held_for_seconds: float
) -> bool:
    """Replace the sums; return False, and change nothing, if another process has replaced them."""
    values = {
        "of_number": before.number,
        "of_version": before.version,
        "version": before.version + 1,
        "holder": holder,
        "held_until": tables.moment(before.now + int(held_for_seconds * _MICROSECONDS)),
        "content": _encode(counted),
    }
    return (await connection.execute(_continue, values)).rowcount == 1


async def find_exposures(connection: AsyncConnection, number: int, units: Collection[str]) -> dict[str, Exposure]:
    """The exposures of some users, by unit."""
    found = {}
    for some in parts_of(sorted(units), _UNITS_AT_ONCE):
        for unit, first, step, arm, at in await connection.execute(_of_units, {"release": number, "units": some}):
            found[unit] = Exposure(first, step, arm, at)
    return found


async def find_done(connection: AsyncConnection, number: int, units: Collection[str]) -> dict[tuple[int, str], Done]:
    """Find the events of some users, by metric and unit."""
    found = {}
    for some in parts_of(sorted(units), _UNITS_AT_ONCE):
        for metric, unit, *values in await connection.execute(_done_by_units, {"release": number, "units": some}):
            found[metric, unit] = Done(*values)
    return found


async def list_done(connection: AsyncConnection, number: int, metric: int) -> list[tuple[str, Done]]:
    """List the events of all users for a metric."""
    rows = await connection.execute(_of_metric, {"release": number, "metric": metric})
    return [(unit, Done(*values)) for unit, *values in rows]


async def put_exposures(connection: AsyncConnection, number: int, exposures: Mapping[str, Exposure]) -> None:
    """Insert or replace exposures, by unit."""
    rows = [(number, unit, each.first_step, each.step, each.arm, each.at) for unit, each in exposures.items()]
    if rows:
        await connection.execute(_put_exposures[connection.dialect.name], {"rows": _encode_rows(rows).decode()})


async def put_done(connection: AsyncConnection, number: int, done: Mapping[tuple[int, str], Done]) -> None:
    """Insert or replace what was counted of users, by metric and unit."""
    rows = [
        (number, metric, unit, each.step, each.arm, each.events, each.total) for (metric, unit), each in done.items()
    ]
    if rows:
        await connection.execute(_put_done[connection.dialect.name], {"rows": _encode_rows(rows).decode()})


async def list_exposures(connection: AsyncConnection, number: int, after: str, limit: int) -> list[Any]:
    """The exposures of a release by unit, from a unit on: unit, first step, step, arm, and time in microseconds."""
    query = (
        sa.select(_exposures.unit, _exposures.first_step, _exposures.step, _exposures.arm, _exposures.at)
        .where(_exposures.release == number, _exposures.unit > after)
        .order_by(_exposures.unit)
        .limit(limit)
    )
    return list(await connection.execute(query))


async def list_numbers(connection: AsyncConnection) -> dict[UUID, int]:
    """The numbers of all releases for which something was counted."""
    return {
        each.release_id: each.number
        for each in await connection.execute(sa.select(_observed.release_id, _observed.number))
    }


async def delete_users(connection: AsyncConnection, number: int, limit: int) -> bool:
    """Delete some of the users who were counted for a release; return whether there may be more."""
    for table in (tables.exposures, tables.user_events):
        keys = sa.select(table.c.unit).where(table.c.release == number).distinct().limit(limit)
        units = (await connection.execute(keys)).scalars().all()
        if units:
            await connection.execute(table.delete().where(table.c.release == number, table.c.unit.in_(units)))
            return True
    return False


async def delete_observed(connection: AsyncConnection, number: int) -> None:
    """Delete the sums of a release."""
    await connection.execute(tables.observed_releases.delete().where(_observed.number == number))
