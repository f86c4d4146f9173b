"""The database's own clock, which is the same for all instances."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles


class DatabaseNow(sa.sql.expression.ColumnElement[int]):
    """The present moment in whole microseconds since 1970, also within a transaction."""

    type = sa.BigInteger()
    inherit_cache = True


@compiles(DatabaseNow, "postgresql")
def _of_postgresql(_element: DatabaseNow, _compiler: Any, **_: Any) -> str:
    return "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint"


@compiles(DatabaseNow, "sqlite")
def _of_sqlite(_element: DatabaseNow, _compiler: Any, **_: Any) -> str:
    return "CAST((julianday('now') - 2440587.5) * 86400000000.0 AS INTEGER)"
