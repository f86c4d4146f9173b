"""Rewrites what the audit trail has of a person, in short turns of the database's writer.

A long state takes tens of milliseconds to decode, rewrite and encode: a thread does so before the writer's turn, which
writes only if the state is still the one that was read.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, NamedTuple

from flagstaff.audit import redactions_store
from flagstaff.audit.redactions_store import Recorded, Wanted
from flagstaff.database.database import Database
from flagstaff.values.lists import parts_of

WRITTEN_AT_ONCE = 20

Rewrite = Callable[[Recorded], Mapping[str, Any]]
"""The columns of a change that become others: `before` and `after`, which are decoded, and texts."""


class Turn(NamedTuple):
    """How many changes a turn has altered, and up to which number of a change the trail is done; None if all is."""

    altered: int
    last: int | None


async def redact(
    database: Database, wanted: Wanted, rewrite: Rewrite, *, after: int, until: int
) -> AsyncIterator[Turn]:
    """Rewrite the changes that are wanted, with numbers after one and up to another, part by part."""
    async for numbers, last in _parts(database, wanted, after=after, until=until):
        altered = 0
        for some in parts_of(numbers, WRITTEN_AT_ONCE):
            left: Sequence[int] = some
            while left:
                rewritten = await _rewritten(database, wanted, left, rewrite)
                left = []
                if rewritten:
                    async with database.transaction() as transaction:
                        for read, values in rewritten:
                            if not await redactions_store.rewrite_change(transaction.connection, read, values):
                                left.append(read.number)
                altered += len(rewritten) - len(left)
        yield Turn(altered, last)


async def count(
    database: Database, wanted: Wanted, rewrite: Rewrite, *, until: int, most_parts: int
) -> tuple[int, bool]:
    """How many changes `redact` would alter, and whether there may be more after the parts that were examined."""
    altered, examined = 0, 0
    async for numbers, last in _parts(database, wanted, after=0, until=until):
        for some in parts_of(numbers, WRITTEN_AT_ONCE):
            altered += len(await _rewritten(database, wanted, some, rewrite))
        examined += 1
        if last is not None and examined == most_parts:
            return altered, True
    return altered, False


async def _parts(
    database: Database, wanted: Wanted, *, after: int, until: int
) -> AsyncIterator[tuple[Sequence[int], int | None]]:
    """The numbers of wanted changes in each part of the trail, and the part's end, None for the last part."""
    more = True
    while more:
        async with database.read() as connection:
            ends, more = await redactions_store.find_parts(connection, wanted, after=after, until=until)
        for end in ends:
            async with database.read() as connection:
                found = await redactions_store.find_wanted(connection, wanted, after=after, until=end)
            after = end
            yield found, end if more or end != ends[-1] else None


async def _rewritten(
    database: Database, wanted: Wanted, numbers: Sequence[int], rewrite: Rewrite
) -> Sequence[tuple[Recorded, Mapping[str, str]]]:
    """Changes as they were read, each with the columns that become others, encoded; without those that stay."""
    async with database.read() as connection:
        read = await redactions_store.read_changes(connection, wanted, numbers)
    return await asyncio.to_thread(lambda: [(each, values) for each in read if (values := _encoded(each, rewrite))])


def _encoded(read: Recorded, rewrite: Rewrite) -> Mapping[str, str]:
    decoded = read._replace(before=_decode(read.before), after=_decode(read.after))
    return {
        name: json.dumps(value) if name in ("before", "after") else value for name, value in rewrite(decoded).items()
    }


def _decode(state: str | None) -> Any:
    return None if state is None else json.loads(state)
