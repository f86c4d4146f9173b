"""The partitions of the segments on PostgreSQL: one for each day (UTC), and a default one for all other rows.

Days are added well ahead, so that the default partition, from which PostgreSQL cannot drop a day at once, gets only
rows from before the first day or far in the future. No batch is lost, whatever days there are: one that meets a bound
that was left behind waits until the next sweep has removed it. What takes a strong lock gives up after a fifth of a
second, because batches wait behind it, and is tried again a minute later.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from datetime import date, datetime, timedelta

import sqlalchemy as sa
import structlog
from sqlalchemy.exc import DBAPIError, IntegrityError
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import driver_errors
from flagstaff.database.tables import microseconds
from flagstaff.values.errors import unavailable

DAYS_AHEAD = 14
FEWEST_DAYS_AHEAD = 7  # with fewer, days are added
_DAY = timedelta(days=1)
_SOONEST = 7 * _DAY  # so that a bound that is left behind refuses no rows before others have long removed it
_PATIENCE = "200ms"  # how long a strong lock may be waited for
_PROOF_SECONDS = 3600  # how long it may take to read the whole default partition
_PREFIX = "segments_"
_BOUND = "segments_default_before"
_LOCK = 0x464C4150  # an arbitrary number: one instance at a time changes partitions

_names_query = sa.text("""
    SELECT relname FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
    WHERE inhparent = to_regclass('history.segments') AND relname ~ '^segments_[0-9]{8}$' ORDER BY relname
""")
_has_default_rows = sa.text("SELECT EXISTS (SELECT FROM history.segments_default)")
_newest_default_row = sa.text("SELECT max(last_time) FROM history.segments_default WHERE last_time >= :time")
_bound_query = sa.text("""
    SELECT convalidated FROM pg_constraint
    WHERE conrelid = to_regclass('history.segments_default') AND conname = :bound
""").bindparams(bound=_BOUND)

log = structlog.get_logger(__name__)


class BusyError(Exception):
    """Others use the table; try again later. Nothing was changed."""


async def list_days(connection: AsyncConnection) -> Sequence[date]:
    """The days that have a partition, oldest first; none with SQLite."""
    if connection.dialect.name != "postgresql":
        return []
    names = (await connection.execute(_names_query)).scalars()
    return [date.fromisoformat(name.removeprefix(_PREFIX)) for name in names]


async def find_missing_days(connection: AsyncConnection, today: date) -> Sequence[date]:
    """The days that should get a partition now; none with SQLite.

    Days in which the default partition may get rows until the partitions exist are left out.
    """
    if connection.dialect.name != "postgresql":
        return []
    last = today + DAYS_AHEAD * _DAY
    days = [day for day in await list_days(connection) if day <= last]  # a clock that was wrong may have added others
    if days and days[-1] >= today + FEWEST_DAYS_AHEAD * _DAY:
        return []
    first = max(today, days[-1] + _DAY if days else today)
    if await connection.scalar(_has_default_rows):
        first = max(first, today + _SOONEST)
        newest = await connection.scalar(_newest_default_row, {"time": _start(first)})
        if newest is not None:
            first = date(1970, 1, 1) + (newest // _start(date(1970, 1, 2)) + 1) * _DAY
    if first > last:
        detail = "The default partition has rows of later days, perhaps of a clock that was wrong. Delete these rows."
        log.warning("history_partitions_blocked", until=str(first - _DAY), detail=detail)
    return [first + number * _DAY for number in range((last - first).days + 1)]


def steps_to_add(
    days: Sequence[date], today: date
) -> Sequence[Callable[[AsyncConnection, Sequence[date]], Awaitable[None]]]:
    """Return the statements that add these days, each for a transaction of its own.

    PostgreSQL looks at all rows of the default partition when a partition is added, while nothing can be written,
    unless a constraint proves that none belongs there. An empty one needs no proof.
    """
    return (bound_default, prove_bound, add_days) if days[0] >= today + _SOONEST else (add_days,)


async def bound_default(connection: AsyncConnection, days: Sequence[date]) -> None:
    """Let the default partition have no new rows of these days and later.

    Raises BusyError, also if others have added some of the days.
    """
    async with _locking(connection):
        if not set(days).isdisjoint(await list_days(connection)):
            raise BusyError
        await _unbound_default(connection)
        check = f"CHECK (last_time < {_start(days[0])}) NOT VALID"
        await _execute(connection, f"ALTER TABLE history.segments_default ADD CONSTRAINT {_BOUND} {check}")


async def prove_bound(connection: AsyncConnection, _days: Sequence[date]) -> None:
    """Check that it has no old ones, while others read and write; it takes a while for a large partition.

    Raises BusyError, also if others have removed the bound.
    """
    async with _locking(connection):
        driver = (await connection.get_raw_connection()).driver_connection
        assert driver is not None
        # The limit of all other statements is too short for a large partition, and the driver's method has its own.
        await driver.execute(
            f"ALTER TABLE history.segments_default VALIDATE CONSTRAINT {_BOUND}", timeout=_PROOF_SECONDS
        )


async def add_days(connection: AsyncConnection, days: Iterable[date]) -> None:
    """Add partitions. With a proven bound, PostgreSQL need not look for their rows in the default one.

    Raises BusyError, also if the default one has rows and no proven bound.
    """
    async with _locking(connection):
        if await connection.scalar(_has_default_rows) and not await connection.scalar(_bound_query):
            raise BusyError
        present = await list_days(connection)
        for day in days:
            if day not in present:
                await _add_day(connection, day)
        await _unbound_default(connection)


async def _add_day(connection: AsyncConnection, day: date) -> None:
    name = f"{_PREFIX}{day:%Y%m%d}"
    # The primary key is only of this partition: earlier releases look for rows by the id alone.
    await _execute(
        connection,
        f"CREATE TABLE history.{name} (LIKE history.segments INCLUDING DEFAULTS INCLUDING STORAGE"
        f" INCLUDING COMPRESSION, CONSTRAINT {name}_primary PRIMARY KEY (id))",
    )
    values = f"FOR VALUES FROM ({_start(day)}) TO ({_start(day + _DAY)})"
    await _execute(connection, f"ALTER TABLE history.segments ATTACH PARTITION history.{name} {values}")


async def drop_day(connection: AsyncConnection, day: date) -> int:
    """Drop a day's partition; return how many evaluations were in it. Raises BusyError."""
    name = f"history.{_PREFIX}{day:%Y%m%d}"
    async with _locking(connection):
        deleted = await connection.scalar(sa.text(f"SELECT coalesce(sum(size), 0) FROM {name}"))  # noqa: S608 - a date
        await _execute(connection, f"DROP TABLE {name}")
    return int(deleted or 0)


def days_before(days: Iterable[date], before: datetime) -> list[date]:
    """The days that ended at or before a moment."""
    return [day for day in days if _start(day + _DAY) <= microseconds(before)]


async def remove_bound(connection: AsyncConnection) -> bool:
    """Remove the bound that a process left behind; return whether there was one. Raises BusyError."""
    if connection.dialect.name != "postgresql" or await connection.scalar(_bound_query) is None:
        return False
    async with _locking(connection):
        await _unbound_default(connection)
    return True


async def _unbound_default(connection: AsyncConnection) -> None:
    await _execute(connection, f"ALTER TABLE history.segments_default DROP CONSTRAINT IF EXISTS {_BOUND}")


@contextmanager
def waiting_for_bound() -> Iterator[None]:
    """Raise Error UNAVAILABLE if the bound refuses a row, which is stored once the bound is removed."""
    try:
        yield
    except IntegrityError as error:
        if not driver_errors.is_check_violation(error, _BOUND):
            raise
        raise unavailable() from error


async def read_clock(connection: AsyncConnection) -> datetime:
    """The time of PostgreSQL's clock."""
    moment: datetime = (await connection.execute(sa.select(sa.func.clock_timestamp()))).scalar_one()
    return moment


@asynccontextmanager
async def _locking(connection: AsyncConnection) -> AsyncIterator[None]:
    """Raise BusyError if another instance changes partitions, or if a lock is not granted promptly."""
    if not await connection.scalar(sa.select(sa.func.pg_try_advisory_xact_lock(_LOCK))):
        raise BusyError
    await _execute(connection, f"SET LOCAL lock_timeout = '{_PATIENCE}'")
    try:
        yield
    except driver_errors.raw_errors(DBAPIError) as error:
        # A row that came to the default partition meanwhile is looked for again the next time.
        rejections = (driver_errors.is_lock_timeout, driver_errors.is_check_violation, driver_errors.is_missing_object)
        if not any(is_refusal(error) for is_refusal in rejections):
            raise
        raise BusyError from error


async def _execute(connection: AsyncConnection, statement: str) -> None:
    await connection.execute(sa.text(statement))


def _start(day: date) -> int:
    """Return the start of a day, in microseconds since 1970."""
    return (day - date(1970, 1, 1)) // timedelta(microseconds=1)
