"""How often an instance looks for releases to observe."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import sqlalchemy as sa

from flagstaff.database.database import Database
from flagstaff.releases.judging import Verdict
from flagstaff.releases.observer import Observer
from flagstaff.releases.releases import Release
from flagstaff.releases.watching import Watching


@contextmanager
def statements() -> Iterator[list[str]]:
    seen: list[str] = []

    def note(*given: Any) -> None:
        seen.append(given[2])

    sa.event.listen(sa.Engine, "before_cursor_execute", note)
    try:
        yield seen
    finally:
        sa.event.remove(sa.Engine, "before_cursor_execute", note)


async def ignore(release: Release, verdict: Verdict, metrics: object) -> None:
    """No guard of these tests acts."""


async def test_without_a_release_to_observe_it_asks_the_database_no_more_than_once_a_second(
    database: Database,
) -> None:
    watching = Watching(database, lambda: datetime.now(UTC), monotonic)
    observer = Observer(database, "observer", ignore, watching)
    with statements() as first:
        await observer.look_if_due()
    with statements() as then:
        for _ in range(4):
            await observer.look_if_due()
    assert any("FROM releases" in each for each in first)
    assert then == []
