"""Writes the evaluation history in batches, each exactly once, and several in one transaction if they have waited."""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.worker import in_write_worker
from flagstaff.database import dialect, tables
from flagstaff.evaluation.history.layout import Layout
from flagstaff.evaluation.history.records import RecordBatch, RecordGroup, joined
from flagstaff.history.erased_users import Digests
from flagstaff.history.store.columns import VERSIONS
from flagstaff.history.store.erased_users import find_erased_users
from flagstaff.history.store.ids import uuid7
from flagstaff.history.store.layouts import encode_layout
from flagstaff.history.store.partitions import waiting_for_bound
from flagstaff.history.store.segments import CONTINUED_SIZE, MICROSECONDS_A_SPAN, Segment, pack_segments
from flagstaff.history.store.summaries import SummaryCounts, add_summaries

log = structlog.get_logger(__name__)

LAYOUT_USE_PRECISION = timedelta(hours=1)

_FIELDS = [field.name for field in fields(Segment)]
_segments = tables.segments.c
_environments = tables.recorded_environments.c
_layouts = tables.layouts.c
_others = tables.segments.alias().c

# Built once, because building them takes longer than executing them.
_lock_environments_query = (
    sa.select(_environments.environment_id, _environments.number)
    .where(_environments.environment_id.in_(sa.bindparam("environment_ids", expanding=True)))
    .order_by(_environments.number)  # all writers take the locks in this order
    .with_for_update()
)
_known_layouts_query = sa.select(_layouts.environment, _layouts.digest, _layouts.id, _layouts.last_used_at).where(
    _layouts.environment.in_(sa.bindparam("numbers", expanding=True)),
    _layouts.digest.in_(sa.bindparam("digests", expanding=True)),
)
_newest_segment = (
    sa.select(_others.id)
    .where(
        _others.environment == _environments.number,
        _others.last_time.between(sa.bindparam("since"), sa.bindparam("until")),
    )
    .order_by(_others.last_time.desc(), _others.id.desc())
    .limit(1)
    .scalar_subquery()
)
_small_newest_segments_query = (
    sa.select(_segments.id, *(_segments[name] for name in _FIELDS))
    .join_from(tables.recorded_environments, tables.segments, _segments.id == _newest_segment)
    .where(
        _environments.number.in_(sa.bindparam("numbers", expanding=True)),
        # Only these can be continued; PostgreSQL does not look at the partitions of other days.
        _segments.environment == _environments.number,
        _segments.last_time.between(sa.bindparam("since"), sa.bindparam("until")),
        _segments.size < sa.bindparam("below"),
        _segments.id > _environments.counted_segment,
        _segments.version.in_(VERSIONS),
    )
)
_continue_statement = tables.segments.update().where(
    _segments.environment == sa.bindparam("of_environment"),
    _segments.last_time == sa.bindparam("of_last_time"),
    _segments.id == sa.bindparam("of_id"),
)
_add_statement = tables.segments.insert()
_remember_statement = dialect.upsert(
    tables.batches, lambda insert: insert.on_conflict_do_nothing().returning(tables.batches.c.id)
)
_number_statement = dialect.upsert(tables.recorded_environments, lambda insert: insert.on_conflict_do_nothing())
_store_layout_statement = dialect.upsert(
    tables.layouts,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["environment", "digest"], set_={"last_used_at": insert.excluded.last_used_at}
    ).returning(_layouts.id),
)


async def write_batches(connection: AsyncConnection, *batches: RecordBatch, digests: Digests | None = None) -> set[int]:
    """Write the evaluations, layouts and summaries of batches, oldest first; return the ids of those that are new.

    The others are already stored, or empty. Together, they cost hardly more round trips than one of them. Users who
    were erased since are known by `digests`; their evaluations are stored without a user.

    Raises Error UNAVAILABLE if PostgreSQL can store them only after the next sweep.
    """
    groups_of = {batch.id: [group for group in batch.groups if group.times] for batch in batches}
    times = {batch_id: groups[0].times[0] // 1000 for batch_id, groups in groups_of.items() if groups}
    new = await find_new_batches(connection, times)
    # By id, because an append to the spool that was cut short and repeated has left the same batch in two files.
    groups = await _join_groups([group for batch_id, some in groups_of.items() if batch_id in new for group in some])
    if not groups:
        return new
    numbers = await lock_environments(connection, {group.environment_id for group in groups})
    if digests is not None:
        erased = await find_erased_users(connection, numbers, min(min(group.times) for group in groups) // 1000)
        groups = [
            digests.without_erased(group, erased[group.environment_id]) if group.environment_id in erased else group
            for group in groups
        ]
    layout_ids, layout_bytes = await _store_layouts(connection, groups, numbers)
    newest = await _find_small_newest_segments(connection, groups, numbers)
    counts = SummaryCounts()
    added: list[dict[str, object]] = []
    continued: list[dict[str, object]] = []
    for group in groups:
        number, layout_id = numbers[group.environment_id], layout_ids[group.environment_id, group.layout.digest]
        packed = pack_segments(group, environment=number, layout_id=layout_id)
        for segment, columns in packed:
            await counts.add(segment, group.layout, columns, layout_bytes.pop(layout_id, 0))
            before = newest.get(number)
            joined = _join(*before, segment) if before and segment.continues(before[1]) else None
            if joined:
                continued.append(joined)
                del newest[number]
            else:
                added.append(_values(segment))
            await asyncio.sleep(0)  # lets evaluate calls run
    with waiting_for_bound():
        if continued:
            await connection.execute(_continue_statement, continued)
        if added:
            await connection.execute(_add_statement, added)
    await add_summaries(connection, counts)
    return new


async def _join_groups(groups: Sequence[RecordGroup]) -> list[RecordGroup]:
    """The groups with their digests; groups of an environment with the same columns become one."""
    alike: dict[tuple[object, ...], list[RecordGroup]] = {}
    await in_write_worker(_make_digests, [group.layout for group in groups])
    for group in groups:
        columns = group.attributes is None, group.flags is None
        kind = group.environment_id, group.layout.digest, group.has_all, *columns
        alike.setdefault(kind, []).append(group)
    return [some[0] if len(some) == 1 else joined(some) for some in alike.values()]


def _make_digests(layouts: Sequence[Layout]) -> None:
    for layout in layouts:
        layout.digest  # noqa: B018 -- which it remembers


def _join(earlier_id: int, earlier: Segment, later: Segment) -> dict[str, object] | None:
    """The earlier row, continued; None if there is no room in it.

    None also if it is damaged, which must not stop the recording of all environments.
    """
    try:
        joined = earlier.and_then(later)
        of_earlier = {"of_id": earlier_id, "of_environment": earlier.environment, "of_last_time": earlier.last_time}
        return {**of_earlier, **_values(joined)} if joined else None
    except ValueError as error:
        log.error("history_row_damaged", table=tables.segments.name, id=earlier_id, error=str(error))  # noqa: TRY400
        return None


def _values(segment: Segment) -> dict[str, object]:
    return {name: getattr(segment, name) for name in _FIELDS}


async def find_new_batches(connection: AsyncConnection, times: Mapping[int, int]) -> set[int]:
    """Store the ids of batches with the times of their first records, in microseconds; return those that are new."""
    ids = {uuid7(time, batch_id): batch_id for batch_id, time in sorted(times.items())}
    if not ids:
        return set()
    rows = [{"id": each} for each in ids]
    # The usual single row needs no statement for many, which takes longer to make.
    inserted = await connection.execute(_remember_statement(connection), rows if len(rows) > 1 else rows[0])
    return {ids[each] for each in inserted.scalars()}


async def lock_environments(connection: AsyncConnection, environment_ids: Collection[UUID]) -> dict[UUID, int]:
    """The numbers of environments, created where there are none.

    They are locked against other writes and deletion until the transaction ends.
    """
    wanted = {"environment_ids": list(environment_ids)}
    while True:
        numbers = {row.environment_id: row.number for row in await connection.execute(_lock_environments_query, wanted)}
        missing = sorted(set(environment_ids) - set(numbers))
        if not missing:
            return numbers
        await connection.execute(
            _number_statement(connection), [{"environment_id": environment_id} for environment_id in missing]
        )


async def _store_layouts(
    connection: AsyncConnection, groups: Collection[RecordGroup], numbers: Mapping[UUID, int]
) -> tuple[dict[tuple[UUID, bytes], int], dict[int, int]]:
    """The ids of the groups' layouts, new ones being stored; and the size of the new ones, by id."""
    wanted = {"numbers": list(numbers.values()), "digests": list({group.layout.digest for group in groups})}
    known = {(row.environment, row.digest): row for row in await connection.execute(_known_layouts_query, wanted)}
    ids: dict[tuple[UUID, bytes], int] = {}
    added: dict[int, int] = {}
    for group in groups:
        number, digest = numbers[group.environment_id], group.layout.digest
        used_at = tables.moment(group.times[-1] // 1000)
        stored = known.get((number, digest))
        # Updated at most once an hour; a layout is deleted only after it has been unused for much longer.
        if stored and stored.last_used_at >= used_at - LAYOUT_USE_PRECISION:
            ids[group.environment_id, digest] = stored.id
        else:
            content = await encode_layout(group.layout)
            values = {"environment": number, "digest": digest, "content": content, "last_used_at": used_at}
            stored_now = await connection.execute(
                _store_layout_statement(connection), {"version": group.layout.version, **values}
            )
            ids[group.environment_id, digest] = layout_id = stored_now.scalar_one()
            if not stored:
                added[layout_id] = len(content)
    return ids, added


async def _find_small_newest_segments(
    connection: AsyncConnection, groups: Collection[RecordGroup], numbers: Mapping[UUID, int]
) -> dict[int, tuple[int, Segment]]:
    """The newest segments of the groups' hours that are small enough to be continued, with their ids."""
    small = [group for group in groups if len(group.times) < CONTINUED_SIZE]
    if not small:
        return {}
    since, until = (limit(limit(group.times) for group in small) // 1000 for limit in (min, max))
    since -= since % MICROSECONDS_A_SPAN
    environments = {numbers[group.environment_id] for group in small}
    wanted = {"numbers": list(environments), "below": CONTINUED_SIZE, "since": since, "until": until}
    rows = await connection.execute(_small_newest_segments_query, wanted)
    return {row.environment: (row.id, Segment(*row[1:])) for row in rows}


async def find_environment_number(connection: AsyncConnection, environment_id: UUID) -> int | None:
    """The number of an environment in the history; None if it has none."""
    columns = tables.recorded_environments.c
    query = sa.select(columns.number).where(columns.environment_id == environment_id)
    return (await connection.execute(query)).scalar_one_or_none()


async def list_recorded_environments(connection: AsyncConnection) -> dict[UUID, int]:
    """The environments that have a history, with their numbers in it."""
    columns = tables.recorded_environments.c
    rows = await connection.execute(sa.select(columns.environment_id, columns.number))
    return {row.environment_id: row.number for row in rows}
