"""Counts by flag, which summaries are read from, and the roll-up of what batches have counted.

Batches count by minute and layout, and every change creates another layout. So after a few seconds, or at the end of
the hour if nothing changes, those rows move here: one row for each flag and hour, with a count for each minute, and one
for each flag and day, with a count for each hour. Each evaluation is always counted in exactly one of the two forms,
because a row moves in one transaction; late evaluations move later in the same way. The rows
tell apart the flags that had one key; see flag_counts.py.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.concurrency.pacing import Turns
from flagstaff.database import dialect, tables
from flagstaff.history.store.flag_counts import DAY, HOUR, FlagCounts, Kinds
from flagstaff.history.store.layouts import get_layouts
from flagstaff.history.store.summaries import kinds_of
from flagstaff.values.lists import parts_of

PENDING_LAYOUTS = 8  # with more of them, an environment's counts are rolled up before the end of the hour
ROWS_AT_ONCE = 50

_Flags = defaultdict[str, defaultdict[UUID, Kinds]]  # by key, and by the ids of the flags that had it

_pending = tables.summaries.c
_stored = tables.flag_counts.c
_lock_query = (
    sa.select(tables.recorded_environments.c.number)
    .where(tables.recorded_environments.c.number == sa.bindparam("number"))
    .with_for_update()
)
_written = ("version", "counts", "flag_id", "others")
_stored_query = sa.select(_stored.flag_key, *(_stored[name] for name in _written)).where(
    _stored.environment == sa.bindparam("number"),
    _stored.span == sa.bindparam("of_span"),
    _stored.start == sa.bindparam("of_start"),
    _stored.flag_key.in_(sa.bindparam("keys", expanding=True)),
)
_store_statement = dialect.upsert(
    tables.flag_counts,
    lambda insert: insert.on_conflict_do_update(
        index_elements=[_stored.environment, _stored.span, _stored.start, _stored.flag_key],
        set_={name: insert.excluded[name] for name in _written},
    ),
)
_add_bytes_statement = dialect.upsert(
    tables.recorded_bytes,
    lambda insert: insert.on_conflict_do_update(
        index_elements=["environment", "hour"],
        set_={"bytes": tables.recorded_bytes.c.bytes + insert.excluded.bytes},
    ),
)


@dataclass(slots=True)
class _Moved:
    """The counts that are removed from `summaries`, by the start of an hour and by flag; and their size, by hour."""

    hours: defaultdict[int, _Flags] = field(default_factory=lambda: defaultdict(_no_flags))
    bytes: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))

    async def days(self, turns: Turns) -> dict[int, _Flags]:
        """The same by the start of a day, added up by hour."""
        days: defaultdict[int, _Flags] = defaultdict(_no_flags)
        for start, flags in self.hours.items():
            hour = start % DAY // HOUR
            for key, found in flags.items():
                for flag_id, kinds in found.items():
                    for kind, times in kinds.items():
                        days[start - start % DAY][key][flag_id].setdefault(kind, {})[hour] = sum(times.values())
                await turns.give()
        return days


def _no_flags() -> _Flags:
    return defaultdict(lambda: defaultdict(dict))


async def lock_environment(connection: AsyncConnection, number: int) -> None:
    """Lock an environment's history against other writes until the transaction ends."""
    await connection.execute(_lock_query, {"number": number})


async def add_bytes(connection: AsyncConnection, number: int, bytes_by_hour: Mapping[int, int]) -> None:
    """Add to the size of an environment's history in some hours, counted from 1970."""
    sizes = [{"environment": number, "hour": hour, "bytes": size} for hour, size in bytes_by_hour.items()]
    await connection.execute(_add_bytes_statement(connection), sizes)


async def find_due(connection: AsyncConnection, minute: int) -> Sequence[int]:
    """The environments with counts to roll up: of hours that have passed at this minute, or of many layouts."""
    layouts = sa.func.count(sa.distinct(_pending.layout_id))
    is_due = sa.or_(layouts > PENDING_LAYOUTS, sa.func.min(_pending.minute) < minute // HOUR * HOUR)
    query = sa.select(_pending.environment).group_by(_pending.environment).having(is_due)
    return (await connection.execute(query)).scalars().all()


async def roll_up(connection: AsyncConnection, number: int) -> bool:
    """Roll up the oldest of an environment's counts. Return whether there may be more."""
    await lock_environment(connection, number)
    key = (_pending.minute, _pending.layout_id)
    query = sa.select(*key, _pending.evaluations, _pending.counts, _pending.version, _pending.bytes)
    oldest = query.where(_pending.environment == number).order_by(*key).limit(ROWS_AT_ONCE)
    rows = (await connection.execute(oldest)).all()
    if not rows:
        return False
    turns = Turns()
    moved = await _add_up(connection, rows, turns)
    for span, spans in ((DAY, await moved.days(turns)), (HOUR, moved.hours)):
        for start in list(spans):
            # Removed one by one: to free thousands of flags of many hours at once takes a while, too.
            grown = await _add_to(connection, (number, span, start), spans.pop(start), turns)
            moved.bytes[start // HOUR] += grown
    await add_bytes(connection, number, moved.bytes)
    keys = [(row.minute, row.layout_id) for row in rows]
    gone = sa.and_(_pending.environment == number, sa.tuple_(*key).in_(keys))
    await connection.execute(tables.summaries.delete().where(gone))
    return len(rows) == ROWS_AT_ONCE


async def _add_up(connection: AsyncConnection, rows: Iterable[Any], turns: Turns) -> _Moved:
    moved = _Moved()
    layouts = await get_layouts(connection, {row.layout_id for row in rows})
    for row in rows:
        start = row.minute // HOUR * HOUR
        part = row.minute - start
        moved.bytes[row.minute // HOUR] += row.bytes
        flags = moved.hours[start]
        for flag, kind, count in kinds_of(layouts[row.layout_id], row.evaluations, row.counts, row.version):
            times = flags[flag.key][flag.id].setdefault(kind, {})
            times[part] = times.get(part, 0) + count
            await turns.give()
    return moved


async def _add_to(connection: AsyncConnection, place: tuple[int, int, int], flags: _Flags, turns: Turns) -> int:
    """Add to the rows of a span's flags. Return by how many bytes they grew."""
    number, span, start = place
    grown = 0
    for some in parts_of(sorted(flags), ROWS_AT_ONCE):
        wanted = {"number": number, "of_span": span, "of_start": start, "keys": some}
        stored = {row.flag_key: row for row in await connection.execute(_stored_query, wanted)}
        rows = []
        for key in some:
            before = stored.get(key)
            counts = FlagCounts.of_row(before) if before else FlagCounts(min(flags[key]))
            for flag_id, kinds in flags[key].items():
                counts.add(flag_id, kinds)
            columns, more = counts.encode()
            grown += more + (0 if before else len(key))
            rows.append({"flag_key": key, **columns})
            await turns.give()
        shared = {"environment": number, "span": span, "start": start}
        await connection.execute(_store_statement(connection), [{**shared, **row} for row in rows])
    return grown
