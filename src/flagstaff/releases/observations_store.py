"""Observations of releases, in the history: users who were exposed, what they did, and the sums.

A write says which version of the sums it continues, and changes nothing if another process has continued it first.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple
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
_observed, _exposures, _done = tables.counted_releases.c, tables.step_exposures.c, tables.step_events.c
_segments, _environments, _events = tables.segments.c, tables.recorded_environments.c, tables.event_segments.c
_encode, _decode = msgspec.json.encode, msgspec.json.Decoder(Observations).decode
_encode_rows = msgspec.json.Encoder().encode

_by_release = sa.select(tables.counted_releases, DatabaseNow().label("now")).where(
    _observed.release_id == sa.bindparam("release")
)
_create = dialect.upsert(tables.counted_releases, lambda insert: insert.on_conflict_do_nothing())
_continue = tables.counted_releases.update().where(
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
_first_event = sa.select(sa.func.min(_events.id)).where(
    _events.environment == _number, _events.last_at >= sa.bindparam("since")
)
_last_event = sa.select(sa.func.max(_events.id)).where(_events.environment == _number)
_is_of_environment = _segments.environment == _environments.number
_newest = (
    sa.select(_segments.id)
    .where(_is_of_environment)
    .correlate(tables.recorded_environments)
    .order_by(_segments.id.desc())
    .limit(1)
)
# Without what the environments have in common, each costs three places in an index.
_latest = sa.select(
    _environments.environment_id,
    _environments.number,
    _newest.scalar_subquery(),
    _newest.with_only_columns(_segments.size).scalar_subquery(),
    sa.select(sa.func.max(_events.id))
    .where(_events.environment == _environments.number)
    .correlate(tables.recorded_environments)
    .scalar_subquery(),
).where(_environments.environment_id.in_(sa.bindparam("environments", expanding=True)))
_by_releases = sa.select(tables.counted_releases, DatabaseNow().label("now")).where(
    _observed.release_id.in_(sa.bindparam("releases", expanding=True))
)
_are_releases: sa.BindParameter[int] = sa.bindparam("releases", expanding=True)
_are_units: sa.BindParameter[str] = sa.bindparam("units", expanding=True)
_of_units = sa.select(_exposures.release, _exposures.unit, _exposures.step, _exposures.arm, _exposures.at).where(
    _exposures.release.in_(_are_releases), _exposures.unit.in_(_are_units)
)
# By metric as well, so that the index leads to each user.
_done_by_units = sa.select(
    _done.release, _done.metric, _done.unit, _done.step, _done.events, _done.total, _done.limits
).where(
    _done.release.in_(_are_releases),
    _done.metric.in_(sa.bindparam("metrics", expanding=True)),
    _done.unit.in_(_are_units),
)
_of_metric = sa.select(_done.unit, _done.step, _done.events, _done.total, _done.limits).where(
    _done.release == sa.bindparam("release"), _done.metric == sa.bindparam("metric")
)

_after, _up_to = sa.bindparam("after", type_=sa.Text), sa.bindparam("last", type_=sa.Text)
_between = (
    sa.select(_exposures.unit, _exposures.step, _exposures.arm, _exposures.at)
    .where(_exposures.release == sa.bindparam("release"), _exposures.unit > _after, _exposures.unit <= _up_to)
    .order_by(_exposures.unit, _exposures.step)
)
_done_between = _of_metric.where(_done.unit > _after, _done.unit <= _up_to)


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
    "step_exposures",
    {"release": "integer", "unit": "text", "step": "smallint", "arm": "smallint", "at": "bigint"},
    ("release", "unit", "step"),
)
_put_done = _upsert_rows(
    "step_events",
    {
        "release": "integer",
        "metric": "smallint",
        "unit": "text",
        "step": "smallint",
        "events": "integer",
        "total": "double precision",
        "limits": "smallint",
    },
    ("release", "metric", "unit", "step"),
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
    """Begin to count for a release whose first step comes at a time, in microseconds; nothing if that was done.

    The step may have come before: after an update that counts in another way, everything is counted again.
    """
    wanted = {"environment_id": environment_id, "since": since}
    first = (await connection.execute(_first_segment, wanted)).scalar()
    last = (await connection.execute(_last_segment, wanted)).scalar() or 0
    first_event = (await connection.execute(_first_event, wanted)).scalar()
    last_event = (await connection.execute(_last_event, wanted)).scalar() or 0
    event = last_event if first_event is None else first_event - 1
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


class Latest(NamedTuple):
    """The ends of an environment's history: its last segment, its size, and the last segment of events."""

    number: int
    segment: int | None
    size: int | None
    event: int | None


async def list_latest(connection: AsyncConnection, environment_ids: Collection[UUID]) -> dict[UUID, Latest]:
    """List the last records of environments, by environment; none of one without a history."""
    found = {}
    for some in parts_of([*environment_ids], _UNITS_AT_ONCE):
        for environment_id, *latest in await connection.execute(_latest, {"environments": some}):
            found[environment_id] = Latest(*latest)
    return found


async def find_observed(connection: AsyncConnection, release_id: UUID) -> Observed | None:
    """Find the counts of a release; None if nothing was begun."""
    row = (await connection.execute(_by_release, {"release": release_id})).one_or_none()
    if row is None:
        return None
    held_until = tables.microseconds(row.held_until)
    return Observed(row.number, row.version, row.holder, held_until, _decode(row.content), row.now)


async def find_all_observed(
    connection: AsyncConnection, release_ids: Collection[UUID]
) -> dict[UUID, Observed | Exception]:
    """Find the counts of releases; an error in place of those that cannot be read, and nothing where none was begun."""
    found: dict[UUID, Observed | Exception] = {}
    for row in await connection.execute(_by_releases, {"releases": [*release_ids]}):
        try:
            counted = _decode(row.content)
        except Exception as error:  # noqa: BLE001 - it must not stop the counting of all others
            found[row.release_id] = error
            continue
        held_until = tables.microseconds(row.held_until)
        found[row.release_id] = Observed(row.number, row.version, row.holder, held_until, counted, row.now)
    return found


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


async def find_exposures(
    connection: AsyncConnection, number: int, units: Collection[str]
) -> dict[str, dict[int, Exposure]]:
    """The exposures of some users, by unit and stretch."""
    return (await find_exposures_of(connection, (number,), units)).get(number, {})


async def find_exposures_of(
    connection: AsyncConnection, numbers: Collection[int], units: Collection[str]
) -> dict[int, dict[str, dict[int, Exposure]]]:
    """The exposures of some users to some releases, by the release's number, unit and stretch."""
    found: dict[int, dict[str, dict[int, Exposure]]] = {}
    for some in parts_of(sorted(units), _UNITS_AT_ONCE):
        for number, unit, place, arm, at in await connection.execute(
            _of_units, {"releases": [*numbers], "units": some}
        ):
            found.setdefault(number, {}).setdefault(unit, {})[place] = Exposure(arm, at)
    return found


async def find_done_of(
    connection: AsyncConnection, numbers: Collection[int], metrics: int, units: Collection[str]
) -> dict[int, dict[tuple[int, str], dict[int, Done]]]:
    """The events of some users in some releases with so many metrics: by number, metric and unit, and stretch."""
    found: dict[int, dict[tuple[int, str], dict[int, Done]]] = {}
    for some in parts_of(sorted(units) if metrics else (), _UNITS_AT_ONCE):
        given = {"releases": [*numbers], "metrics": [*range(metrics)], "units": some}
        for number, metric, unit, place, *values in await connection.execute(_done_by_units, given):
            found.setdefault(number, {}).setdefault((metric, unit), {})[place] = Done(*values)
    return found


async def list_done(connection: AsyncConnection, number: int, metric: int) -> dict[tuple[str, int], Done]:
    """The events of all users for a metric, by unit and stretch."""
    rows = await connection.execute(_of_metric, {"release": number, "metric": metric})
    return {(unit, place): Done(*values) for unit, place, *values in rows}


async def put_exposures(
    connection: AsyncConnection, exposures: Mapping[int, Mapping[tuple[str, int], Exposure]]
) -> None:
    """Insert or replace exposures, by the release's number, and by unit and stretch."""
    rows = [
        (number, unit, place, each.arm, each.at)
        for number, some in exposures.items()
        for (unit, place), each in some.items()
    ]
    if rows:
        await connection.execute(_put_exposures[connection.dialect.name], {"rows": _encode_rows(rows).decode()})


async def put_done(connection: AsyncConnection, done: Mapping[int, Mapping[tuple[int, str, int], Done]]) -> None:
    """Insert or replace what was counted of users, by the release's number, and by metric, unit and stretch."""
    rows = [
        (number, metric, unit, place, each.events, each.total, each.limits)
        for number, some in done.items()
        for (metric, unit, place), each in some.items()
    ]
    if rows:
        await connection.execute(_put_done[connection.dialect.name], {"rows": _encode_rows(rows).decode()})


async def list_units(connection: AsyncConnection, number: int, after: str, limit: int) -> list[str]:
    """Some of the users of a release, in their order, after one of them."""
    query = (
        sa.select(_exposures.unit)
        .where(_exposures.release == number, _exposures.unit > after)
        .distinct()
        .order_by(_exposures.unit)
        .limit(limit)
    )
    return list((await connection.execute(query)).scalars())


async def list_exposures(
    connection: AsyncConnection, number: int, after: str, last: str
) -> Sequence[tuple[str, int, int, int]]:
    """Units, steps, arms and times of the users after one and up to another, by unit and step."""
    given = {"release": number, "after": after, "last": last}
    return (await connection.execute(_between, given)).all()


async def list_done_between(
    connection: AsyncConnection, number: int, metric: int, after: str, last: str
) -> Sequence[tuple[str, int, int, float, int]]:
    """Units, steps, and what such users did for a metric: events, total and limits."""
    given = {"release": number, "metric": metric, "after": after, "last": last}
    return (await connection.execute(_done_between, given)).all()


async def list_numbers(connection: AsyncConnection) -> dict[UUID, int]:
    """The numbers of all releases for which something was counted."""
    return {
        each.release_id: each.number
        for each in await connection.execute(sa.select(_observed.release_id, _observed.number))
    }


async def delete_users(connection: AsyncConnection, number: int, limit: int) -> bool:
    """Delete some of the users who were counted for a release; return whether there may be more."""
    for table in (tables.step_exposures, tables.step_events):
        keys = sa.select(table.c.unit).where(table.c.release == number).distinct().limit(limit)
        units = (await connection.execute(keys)).scalars().all()
        if units:
            await connection.execute(table.delete().where(table.c.release == number, table.c.unit.in_(units)))
            return True
    return False


async def list_of_environment(connection: AsyncConnection, environment_id: UUID) -> Sequence[int]:
    """The numbers of the releases of an environment for which something was counted."""
    numbers = sa.select(_observed.number).where(_observed.environment_id == environment_id)
    return (await connection.execute(numbers)).scalars().all()


async def delete_units(connection: AsyncConnection, number: int, units: Collection[str]) -> int:
    """Delete some users from those that were counted for a release; return how many it had. The sums stay.

    Whoever is counting begins again, because it may have read what they did before.
    """
    exposed, done, sums = tables.step_exposures, tables.step_events, tables.counted_releases
    # First, so that whoever is counting has written all or nothing, and both lock in one order.
    await connection.execute(sums.update().where(sums.c.number == number).values(version=sums.c.version + 1))
    is_user = sa.and_(exposed.c.release == number, exposed.c.unit.in_(units))
    found = sa.select(sa.func.count(sa.distinct(exposed.c.unit))).where(is_user)
    count: int = (await connection.execute(found)).scalar_one()
    await connection.execute(exposed.delete().where(is_user))
    last = (await connection.execute(sa.select(sa.func.max(done.c.metric)).where(done.c.release == number))).scalar()
    for metric in range(0 if last is None else last + 1):  # each is a place in the index
        is_done = sa.and_(done.c.release == number, done.c.metric == metric, done.c.unit.in_(units))
        await connection.execute(done.delete().where(is_done))
    return count


async def delete_observed(connection: AsyncConnection, number: int) -> None:
    """Delete the sums of a release."""
    await connection.execute(tables.counted_releases.delete().where(_observed.number == number))
