"""Deletes the oldest evaluations as the retention does: a whole day at once, and a part of a day row by row."""

from datetime import timedelta
from typing import Any

from bench.volume.costs import read_meters, read_sizes
from bench.volume.traffic import START
from bench.volume.writing import Fill
from flagstaff.history.retention import HistoryRetention

_STEPS = (("a day at once", timedelta(days=1)), ("half a day row by row", timedelta(hours=36)))


async def delete_oldest(fill: Fill) -> None:
    """Print what the sweep costs in which the retention passes a day as a whole, and half of the next one."""
    for name, kept_from in _STEPS:
        sizes, before = await read_sizes(fill.database), await read_meters(fill.database, fill.postmaster)
        await _retention(fill, fill.now() - START - kept_from).purge()
        used = await read_meters(fill.database, fill.postmaster) - before
        freed = sizes.total - (await read_sizes(fill.database)).total
        print(f"  {name}: {used.elapsed:.2f} s, processor {used.own:.2f} s here", end=" ")
        print(f"and {used.server:.2f} s in PostgreSQL, {used.log / 1e6:.1f} MB of log, {freed / 1e6:,.0f} MB freed")


def _retention(fill: Fill, kept: timedelta) -> HistoryRetention:
    async def read_clock(_: Any) -> Any:
        return fill.now()

    return HistoryRetention(fill.database, fill.now, kept, read_clock=read_clock)
