"""Adds and drops the days of the history, each step in a transaction of its own. Does nothing with SQLite."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import date, datetime, timedelta

import structlog

from flagstaff.database.database import Connection, Database
from flagstaff.history.store import partitions
from flagstaff.values.errors import Error

ReadClock = Callable[[Connection], Awaitable[datetime]]

_LARGEST_DIFFERENCE = timedelta(hours=1)  # between the clocks of this process and of the database

log = structlog.get_logger(__name__)


async def add_missing_days(database: Database, today: date) -> None:
    """Add partitions for the next days, if there are few. Raises Error UNAVAILABLE."""
    async with database.read_history() as connection:
        days = await partitions.find_missing_days(connection, today)
    if not days:
        return
    try:
        await _add_days(database, days, today)
    except partitions.BusyError:
        log.info("history_partitions_wait", days=len(days))
    else:
        log.info("history_partitions_added", first=str(days[0]), last=str(days[-1]))


async def _add_days(database: Database, days: Sequence[date], today: date) -> None:
    """Take all steps, and remove the bound if one after the first fails, is busy or is cancelled."""
    is_bound = is_added = False
    try:
        for step in partitions.steps_to_add(days, today):
            async with database.write_history() as connection:
                await step(connection, days)
            is_bound = True
        is_added = True
    finally:
        if is_bound and not is_added:
            await remove_bound(database)


async def remove_bound(database: Database) -> None:
    """Remove the bound that a process left behind, if there is one. Logs a failure: the next sweep tries again."""
    if not database.is_postgresql:
        return
    try:
        async with database.write_history() as connection:
            if await partitions.remove_bound(connection):
                log.info("history_partitions_unbound")
    except partitions.BusyError:
        log.info("history_partitions_wait", remove="bound")
    except Error as error:
        log.warning("history_partitions_failed", remove="bound", detail=error.message)


async def drop_days(database: Database, before: datetime, now: Callable[[], datetime], read_clock: ReadClock) -> int:
    """Drop the partitions of the days that ended before a moment; return how many evaluations were in them.

    Drops none while the clock of this process or of the database is wrong. Raises Error UNAVAILABLE.
    """
    async with database.read_history() as connection:
        old = partitions.days_before(await partitions.list_days(connection), before)
        if old and not _is_close(await read_clock(connection), now()):
            return 0
    deleted = 0
    for day in old:
        try:
            async with database.write_history() as connection:
                deleted += await partitions.drop_day(connection, day)
        except partitions.BusyError:
            log.info("history_partitions_wait", drop=str(day))
            break
    return deleted


def _is_close(in_database: datetime, here: datetime) -> bool:
    """Return whether two clocks agree well enough to delete whole days. Logs an error if they do not."""
    if abs(in_database - here) <= _LARGEST_DIFFERENCE:
        return True
    detail = "No whole day is dropped until the clocks agree. Set the clock that is wrong."
    log.error("history_clocks_differ", here=here.isoformat(), database=in_database.isoformat(), detail=detail)
    return False
