"""Statements with long lists, some items at a time, so that evaluations are answered in between."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, TypeVar

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database.fetched_rows import collected_in_between
from flagstaff.values.lists import parts_of

T = TypeVar("T")

_ROWS_AT_ONCE = 16
_VALUES_AT_ONCE = 250  # of a statement: SQLAlchemy writes a parameter for each, which takes microseconds


async def write_many(connection: AsyncConnection, statement: sa.Insert, rows: Iterable[Mapping[str, Any]]) -> None:
    """Insert many rows, some at a time, so that evaluations are answered in between."""
    for some in some_at_a_time(rows):
        await connection.execute(statement, some)


async def read_many(
    connection: AsyncConnection, statement: sa.Select[Any], name: str, values: Collection[Any], **others: object
) -> Iterator[sa.Row[Any]]:
    """The rows that a statement has for a long list of values, which is its parameter with this name."""
    found = [
        await connection.execute(statement, {name: some, **others}) for some in parts_of(list(values), _VALUES_AT_ONCE)
    ]
    return collected_in_between(chain.from_iterable(found))


def some_at_a_time(items: Iterable[T]) -> Iterator[list[T]]:
    """Items in lists that are short enough for one statement."""
    left = iter(items)
    while some := list(islice(left, _ROWS_AT_ONCE)):
        yield some
