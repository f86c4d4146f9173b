"""Writing the evaluation history: batches, each in one transaction and once only, and its deletion."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import repeat
from struct import pack
from uuid import UUID
from zlib import compress, crc32, decompress

import msgspec
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.domain.accounts import email_identity
from flagstaff.evaluation.layout import Layout
from flagstaff.evaluation.records import RecordBatch, RecordGroup
from flagstaff.storage import dialect, tables
from flagstaff.storage.evaluation_ids import evaluation_ids
from flagstaff.storage.evaluation_summaries import SummaryCounts, add_summaries

SLICE_SIZE = 500  # how many rows are prepared at once; the event loop stands still meanwhile
SEGMENT_SIZE = 500
LAYOUT_USE_PRECISION = timedelta(hours=1)

_rows = tables.evaluations.c
_segments = tables.segments.c


@dataclass(slots=True)
class Segment:
    """Some hundred successive evaluations of one environment, and the hashes of the users in them."""

    environment: int
    first_id: bytes
    last_id: bytes
    size: int
    hashes: bytes


def user_hash(text: str) -> bytes:
    """What stands in a segment for a user id or for the identity of an email."""
    return pack("<I", crc32(text.encode()))


def decode_layout(content: bytes) -> Layout:
    """A layout from its stored form."""
    return msgspec.msgpack.decode(decompress(content), type=Layout)


async def write_batch(connection: AsyncConnection, batch: RecordBatch) -> None:
    """Write a batch's evaluations, layouts, segments and summaries; a batch that is there already changes nothing."""
    groups = [group for group in batch.groups if group.records]
    if not groups:
        return
    numbers = await _number_environments(connection, {group.environment_id for group in groups})
    first = groups[0]
    [first_id] = evaluation_ids([first.records[0][0]], batch.seed)
    if await _exists(connection, numbers[first.environment_id], first_id):
        return
    layout_ids = await _store_layouts(connection, groups, numbers)
    counts = SummaryCounts()
    segments: list[Segment] = []

    def prepared() -> Iterator[list[tuple[object, ...]]]:
        tail = batch.seed
        for group in groups:
            number, layout_id = numbers[group.environment_id], layout_ids[group.environment_id, group.layout.digest]
            for start in range(0, len(group.records), SLICE_SIZE):
                # Column by column, so that the loops run in C: every evaluate call passes here.
                times, users, emails, recorded = zip(*group.records[start : start + SLICE_SIZE], strict=True)
                ids = evaluation_ids(times, tail)
                tail += len(ids)
                segments.append(Segment(number, min(ids), max(ids), len(ids), _hashes(users, emails)))
                counts.add(number, layout_id, group.layout, times, recorded)
                yield list(zip(repeat(number), ids, repeat(layout_id), users, emails, recorded, strict=False))

    await dialect.insert_rows(connection, tables.evaluations, _repacked(prepared()))
    await add_summaries(connection, counts)
    await _add_segments(connection, segments)


def _repacked(slices: Iterator[list[tuple[object, ...]]]) -> Iterator[list[tuple[object, ...]]]:
    """The same rows in as few slices as their size allows: many environments may each have a row or two."""
    gathered: list[tuple[object, ...]] = []
    for rows in slices:
        if len(gathered) + len(rows) > SLICE_SIZE:
            yield gathered
            gathered = []
        gathered = [*gathered, *rows] if gathered else rows
    if gathered:
        yield gathered


def _hashes(users: Iterable[str | None], emails: Iterable[str | None]) -> bytes:
    texts = {user_id for user_id in users if user_id is not None}
    texts |= {email_identity(user_email) for user_email in emails if user_email is not None}
    return pack(f"<{len(texts)}I", *map(crc32, map(str.encode, texts)))


async def _number_environments(connection: AsyncConnection, environment_ids: Collection[UUID]) -> dict[UUID, int]:
    """The numbers of environments, made where there are none, and safe from deletion until the transaction ends."""
    table = tables.recorded_environments
    query = (
        sa.select(table.c.environment_id, table.c.number)
        .where(table.c.environment_id.in_(environment_ids))
        .with_for_update(read=True)
    )
    while True:
        numbers = {row.environment_id: row.number for row in await connection.execute(query)}
        missing = sorted(set(environment_ids) - set(numbers))
        if not missing:
            return numbers
        statement = dialect.insert(connection, table).on_conflict_do_nothing()
        await connection.execute(statement, [{"environment_id": environment_id} for environment_id in missing])


async def _exists(connection: AsyncConnection, number: int, row_id: bytes) -> bool:
    query = sa.select(_rows.id).where(_rows.environment == number, _rows.id == row_id)
    return (await connection.execute(query)).first() is not None


async def _store_layouts(
    connection: AsyncConnection, groups: Collection[RecordGroup], numbers: Mapping[UUID, int]
) -> dict[tuple[UUID, bytes], int]:
    """The ids of the groups' layouts, stored where they are new."""
    columns = tables.layouts.c
    query = sa.select(columns.environment, columns.digest, columns.id, columns.last_used_at).where(
        columns.environment.in_(set(numbers.values())), columns.digest.in_({group.layout.digest for group in groups})
    )
    known = {(row.environment, row.digest): row for row in await connection.execute(query)}
    ids = {}
    for group in sorted(groups, key=lambda group: (numbers[group.environment_id], group.layout.digest)):
        number, digest = numbers[group.environment_id], group.layout.digest
        used_at = tables.moment(group.records[-1][0] // 1000)
        stored = known.get((number, digest))
        # Noted once an hour at most; a layout is deleted only when it has been out of use for far longer.
        if stored and stored.last_used_at >= used_at - LAYOUT_USE_PRECISION:
            ids[group.environment_id, digest] = stored.id
        else:
            content = compress(msgspec.msgpack.encode(group.layout))
            statement = dialect.insert(connection, tables.layouts).values(
                environment=number, digest=digest, content=content, last_used_at=used_at
            )
            statement = statement.on_conflict_do_update(
                index_elements=["environment", "digest"], set_={"last_used_at": used_at}
            ).returning(columns.id)
            ids[group.environment_id, digest] = (await connection.execute(statement)).scalar_one()
    return ids


async def _add_segments(connection: AsyncConnection, added: Collection[Segment]) -> None:
    """Write segments; a small one continues the environment's newest, as long as that has room."""
    newest = await _newest_segments(connection, {segment.environment for segment in added})
    written: list[dict[str, object]] = []
    continued: list[dict[str, object]] = []
    for segment in sorted(added, key=lambda segment: (segment.environment, segment.last_id)):
        before = newest.pop(segment.environment, None)
        if before and before.last_id < segment.first_id and before.size + segment.size <= SEGMENT_SIZE:
            continued.append(
                {
                    "of_environment": before.environment,
                    "of_last_id": before.last_id,
                    "last_id": segment.last_id,
                    "size": before.size + segment.size,
                    "hashes": before.hashes + segment.hashes,
                }
            )
        else:
            written.append({name: getattr(segment, name) for name in _segments.keys()})  # noqa: SIM118 - not a dict
    if continued:
        statement = tables.segments.update().where(
            _segments.environment == sa.bindparam("of_environment"), _segments.last_id == sa.bindparam("of_last_id")
        )
        await connection.execute(statement, continued)
    if written:
        await connection.execute(tables.segments.insert(), written)


async def _newest_segments(connection: AsyncConnection, numbers: Collection[int]) -> dict[int, Segment]:
    environments, others = tables.recorded_environments, tables.segments.alias()
    newest = sa.select(sa.func.max(others.c.last_id)).where(others.c.environment == environments.c.number)
    query = (
        sa.select(_segments.environment, _segments.first_id, _segments.last_id, _segments.size, _segments.hashes)
        .join_from(environments, tables.segments, _segments.environment == environments.c.number)
        .where(environments.c.number.in_(numbers), _segments.last_id == newest.scalar_subquery())
        .with_for_update(of=tables.segments)
    )
    return {row.environment: Segment(*row) for row in await connection.execute(query)}


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


async def delete_evaluations_before(connection: AsyncConnection, number: int, before: bytes, limit: int) -> bool:
    """Delete at most `limit` of an environment's evaluations with an id below `before`; whether there may be more."""
    mine = _rows.environment == number
    boundary = sa.select(_rows.id).where(mine, _rows.id < before).order_by(_rows.id).offset(limit).limit(1)
    end = (await connection.execute(boundary)).scalar_one_or_none()
    await connection.execute(tables.evaluations.delete().where(mine, _rows.id < (before if end is None else end)))
    return end is not None


async def delete_segments_and_summaries_before(
    connection: AsyncConnection, number: int, before: bytes, minute: int
) -> None:
    """Delete what stands for an environment's evaluations before an id and a minute."""
    await connection.execute(
        tables.segments.delete().where(_segments.environment == number, _segments.last_id < before)
    )
    columns = tables.summaries.c
    await connection.execute(tables.summaries.delete().where(columns.environment == number, columns.minute < minute))


async def delete_unused_layouts(connection: AsyncConnection, before: datetime) -> None:
    """Delete the layouts that were last used before a moment and an hour."""
    await connection.execute(
        tables.layouts.delete().where(tables.layouts.c.last_used_at < before - LAYOUT_USE_PRECISION)
    )


async def forget_environment(connection: AsyncConnection, number: int) -> bool:
    """Delete an environment's number and layouts, if nothing is recorded of it any more; False if something is."""
    table = tables.recorded_environments
    # Who records takes the number's lock too, so nothing can arrive between the question and the deletion.
    await connection.execute(sa.select(table.c.number).where(table.c.number == number).with_for_update())
    if (await connection.execute(sa.select(_rows.id).where(_rows.environment == number).limit(1))).first():
        return False
    await connection.execute(tables.layouts.delete().where(tables.layouts.c.environment == number))
    await connection.execute(table.delete().where(table.c.number == number))
    return True
