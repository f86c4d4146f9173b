"""The partitions of the history on PostgreSQL: maintaining them at a moment, and listing them."""

from collections.abc import Awaitable, Callable
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from flagstaff.database.database import Database
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store import partitions
from tests.support.history import START

TODAY = START.date()


def clock_at(moment: datetime) -> Callable[[Any], Awaitable[datetime]]:
    """A database's clock that stands still."""

    async def read_clock(_connection: Any) -> datetime:
        return moment

    return read_clock


def retention_at(database: Database, now: datetime, **values: Any) -> HistoryRetention:
    """Run the maintenance for a moment, with the database's clock at the same moment."""
    return HistoryRetention(
        database, lambda: now, **{"retention": timedelta(days=90), "read_clock": clock_at(now), **values}
    )


async def days_of(database: Database) -> list[date]:
    """The days that have a partition."""
    async with database.read_history() as connection:
        return [*await partitions.list_days(connection)]


async def rows_by_partition(database: Database) -> dict[str, int]:
    """Return the number of rows in each partition, by its day or `default`; empty ones are left out."""
    query = "SELECT tableoid::regclass::text, count(*) FROM history.segments GROUP BY 1"
    async with database.read_history() as connection:
        found = (await connection.execute(sa.text(query.replace("::", r"\:\:")))).all()
    return {name.removeprefix("history.segments_"): count for name, count in found}


async def is_bound(database: Database) -> bool:
    """Return whether the default partition has a bound."""
    query = "SELECT EXISTS (SELECT FROM pg_constraint WHERE conname = 'segments_default_before')"
    async with database.read_history() as connection:
        return bool(await connection.scalar(sa.text(query)))
