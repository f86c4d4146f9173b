"""`flagstaff trust-clock`: says that this machine's clock is right after it has leapt or the server was off."""

import asyncio
import os
from datetime import UTC, datetime

import typer

from flagstaff.assembly.bootstrap import open_database
from flagstaff.identity.administration.instance_store import read_time_seen, write_time_seen
from flagstaff.settings import Settings
from flagstaff.values.moments import format_moment


def trust_clock() -> None:
    """Let what is too old by this machine's clock be deleted within minutes, without waiting until it has stayed.

    Run it beside the server or while it is stopped, after you have checked the clock.
    """
    now = datetime.now(UTC)

    async def trust() -> datetime | None:
        async with open_database(Settings.load(os.environ)) as database:
            before = await read_time_seen(database)
            await write_time_seen(database, now)
            return before

    before = asyncio.run(trust())
    seen = "" if before is None else f" Before, data was deleted by the time {format_moment(before)}."
    typer.echo(f"It is {format_moment(now)}.{seen}")
