"""Queries for lists, whole or in part. Each is built once: SQLAlchemy takes longer to build one than to run it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from flagstaff.database.fetched_rows import collected_in_between
from flagstaff.values.lists import Window

_NO_LIMIT = 2**31 - 1


def containing(text: str) -> str:
    """The pattern of whatever contains a text, for LIKE with a backslash as its escape."""
    escaped = re.sub(r"([\\%_])", r"\\\1", text)
    return f"%{escaped}%"


class ByCode(FunctionElement[str]):
    """A text that is sorted by the codes of its characters, as clients sort it that merge several lists.

    PostgreSQL sorts as the language of the database does, where `ab` can be before `a-c`. SQLite sorts by codes.
    """

    inherit_cache = True
    type = sa.Text()


@compiles(ByCode)
def _plain(element: ByCode, compiler: SQLCompiler, **options: Any) -> str:
    return compiler.process(element.clauses, **options)


@compiles(ByCode, "postgresql")
def _collated(element: ByCode, compiler: SQLCompiler, **options: Any) -> str:
    return f'({compiler.process(element.clauses, **options)} COLLATE "C")'


class Listing:
    """A query whose rows are ordered by columns, all ascending or all descending, which identify each row."""

    def __init__(
        self, query: sa.Select[Any], order: Sequence[sa.ColumnElement[Any]], *, descending: bool = False
    ) -> None:
        directed = [column.desc() for column in order] if descending else order
        self._whole = query.order_by(*directed).limit(sa.bindparam("limit", type_=sa.Integer))
        self._names = [f"after_{place}" for place in range(len(order))]
        given = (sa.bindparam(name, type_=column.type) for name, column in zip(self._names, order, strict=True))
        present, position = sa.tuple_(*order), sa.tuple_(*given)
        self._rest = self._whole.where(present < position if descending else present > position)

    async def rows(
        self, connection: AsyncConnection, window: Window, parameters: Mapping[str, Any]
    ) -> Iterable[sa.Row[Any]]:
        """The rows, which the driver has fetched; each is converted when it is read.

        Long lists are read after the connection has been released: converting them takes time, and others wait for it.
        """
        values = {**parameters, "limit": _NO_LIMIT if window.limit is None else window.limit}
        statement = self._whole
        if window.after is not None:
            statement = self._rest
            values |= dict(zip(self._names, window.after, strict=True))
        return collected_in_between(await connection.execute(statement, values))
