"""A process that observes releases. It imports little, so that many can be started and killed."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

from flagstaff.database.database import Database
from flagstaff.releases.observer import LOOK_SECONDS, Observer
from flagstaff.releases.watching import Watching


def observe(url: str | None, directory: Path, name: str) -> None:
    """Observe until this process is killed."""

    async def look_again_and_again() -> None:
        async def act(*_given: object) -> None:
            """No guard acts here."""

        database = Database(url, directory)
        observer = Observer(database, name, act, Watching(database, lambda: datetime.now(UTC), monotonic))
        while True:
            await observer.look()
            await asyncio.sleep(LOOK_SECONDS)

    asyncio.run(look_again_and_again())
