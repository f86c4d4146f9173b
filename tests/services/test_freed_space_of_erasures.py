"""Free pages are overwritten once for all erasures that wait, and never while a reader keeps SQLite's log."""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import freed_pages
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.sqlite.files import HISTORY_FILE
from flagstaff.history.erased_users import Subject
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.people import erasures_store
from flagstaff.people.copies import Copies
from flagstaff.people.eraser import RETRY, Eraser
from flagstaff.people.erasures import Erasure, Stage
from tests.services.test_free_space import fill

LITTLE_BYTES = 500_000


@dataclass
class Place:
    """A history with megabytes of free pages, and what erases users from it."""

    database: Database
    eraser: Eraser
    file: Path
    now: datetime
    fills: int = 0

    @property
    def log_bytes(self) -> int:
        return Path(f"{self.file}-wal").stat().st_size

    async def request(self, count: int) -> None:
        for _ in range(count):
            made = Erasure(uuid4(), uuid4(), {}, self.now, self.now)
            sealed = self.eraser.sealer.seal(Subject(user_id="ada").encode(), made.id.bytes)
            async with self.database.write_history() as connection:
                await erasures_store.create_erasure(connection, made, sealed)

    async def count_waiting(self) -> int:
        async with self.database.read_history() as connection:
            return len(await erasures_store.find_in_stages(connection, [Stage.FREED_SPACE]))

    async def run_later(self) -> None:
        self.now += RETRY
        await self.eraser.run_due()


@pytest.fixture
async def place(data_directory: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Place]:
    await migrate(None, data_directory)
    database = Database(None, data_directory)
    await database.open_files()
    await fill(database)
    copies = Copies(database, {})
    eraser = Eraser(database, lambda: made.now, Sealer("k" * 40), timedelta(days=1), lambda: made.now, copies)
    made = Place(database, eraser, data_directory / HISTORY_FILE, datetime.now(UTC))
    fill_pages = freed_pages.fill

    async def count(connection: AsyncConnection) -> bool:
        more = await fill_pages(connection)
        made.fills += not more
        return more

    monkeypatch.setattr(freed_pages, "fill", count)
    yield made
    await database.close()


async def test_erasures_that_wait_overwrite_free_pages_once_for_all(place: Place) -> None:
    await place.request(5)
    await place.eraser.run_due()
    assert await place.count_waiting() == 0
    assert place.fills == 1


async def test_while_a_reader_keeps_the_log_nothing_is_overwritten_whatever_waits(place: Place) -> None:
    assert await place.database.empty_history_log()
    with closing(sqlite3.connect(f"file:{place.file}?mode=ro", uri=True, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM segments").fetchone()
        for waiting in (3, 6):
            await place.request(3)
            await place.run_later()
            assert await place.count_waiting() == waiting
        assert (place.fills, place.log_bytes < LITTLE_BYTES) == (0, True)
    await place.run_later()
    assert await place.count_waiting() == 0
    assert place.fills == 1


async def test_a_reader_that_comes_during_an_overwriting_makes_nothing_be_overwritten_again(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_back = freed_pages.give_back
    with closing(sqlite3.connect(f"file:{place.file}?mode=ro", uri=True, isolation_level=None)) as reader:

        async def read_first(connection: AsyncConnection) -> bool:
            if not reader.in_transaction:
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM segments").fetchone()
            return await give_back(connection)

        monkeypatch.setattr(freed_pages, "give_back", read_first)
        await place.request(2)
        await place.run_later()
        after_one = place.log_bytes
        await place.request(2)
        await place.run_later()
        assert await place.count_waiting() == 4
        assert place.log_bytes < after_one + LITTLE_BYTES
        assert place.fills == 1
        monkeypatch.setattr(freed_pages, "give_back", give_back)
    await place.run_later()
    assert await place.count_waiting() == 0
    assert place.fills == 2


async def test_free_pages_are_overwritten_once_for_erasures_that_clickhouse_keeps_back(place: Place) -> None:
    is_broken = True

    async def erase(project_id: UUID, subject: Subject, until: datetime) -> None:
        if is_broken:
            raise OSError("no answer")

    place.eraser = replace(place.eraser, copies=Copies(place.database, {"clickhouse": erase}))
    await place.request(2)
    await place.eraser.run_due()
    await place.run_later()
    async with place.database.read_history() as connection:
        assert len(await erasures_store.find_in_stages(connection, [Stage.CLICKHOUSE])) == 2
    assert (place.fills, place.log_bytes < LITTLE_BYTES) == (1, True)
    is_broken = False
    await place.run_later()
    async with place.database.read_history() as connection:
        assert len(await erasures_store.find_in_stages(connection, [Stage.DONE])) == 2
    assert place.fills == 1
