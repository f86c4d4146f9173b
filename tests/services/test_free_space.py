"""The free space in SQLite's file of the history: it is given back in turns, or said to wait and given back at once."""

import asyncio
import os
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.database import freed_pages, tables
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.sqlite import free_pages
from flagstaff.database.sqlite.files import HISTORY_FILE
from flagstaff.history.free_space import FreeSpace
from flagstaff.values.errors import Error

ROWS = 300
BYTES = 20_000
PAGE = 4096


@pytest.fixture
def file(data_directory: Path) -> Path:
    data_directory.mkdir(exist_ok=True)
    return data_directory / HISTORY_FILE


def size_of(file: Path) -> int:
    return file.stat().st_size


def logs_of(file: Path) -> list[Path]:
    return list(file.parent.glob("*sqlite-*"))


@pytest.fixture
async def database(data_directory: Path, file: Path) -> AsyncIterator[Database]:
    """A database of SQLite with a large history, most of which was deleted."""
    await migrate(None, data_directory)
    made = Database(None, data_directory)
    await made.open_files()
    await fill(made)
    yield made
    await made.close()


async def fill(database: Database) -> None:
    rows = [
        {
            "environment": 1,
            "layout_id": 1,
            "first_time": number,
            "last_time": number,
            "size": 1,
            "user_hashes": b"",
            "email_hashes": b"",
            "content": os.urandom(BYTES),
        }
        for number in range(ROWS)
    ]
    async with database.write_history() as connection:
        await connection.execute(tables.segments.insert(), rows)
    async with database.write_history() as connection:
        await connection.execute(tables.segments.delete().where(tables.segments.c.last_time < ROWS * 3 // 4))
    await database.checkpoint()


async def read_contents(database: Database) -> list[bytes]:
    async with database.read_history() as connection:
        query = sa.select(tables.segments.c.content).order_by(tables.segments.c.id)
        return list((await connection.execute(query)).scalars())


async def test_a_new_file_gives_free_space_back_but_for_what_is_kept(database: Database, file: Path) -> None:
    before, contents = size_of(file), await read_contents(database)
    space = FreeSpace(database, kept_bytes=1_000_000)
    while (free := await database.find_free_history_pages()) and free.bytes > 1_000_000 + PAGE:
        returned = space.returned
        await space.give_back()
        assert space.returned > returned
    await database.checkpoint()
    assert 0 < space.bytes <= 1_000_000 + PAGE
    assert space.returned <= before - size_of(file) <= space.returned + 2 * PAGE  # with pages that SQLite itself needs
    assert await read_contents(database) == contents
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    returned = space.returned
    await space.give_back()
    assert space.returned == returned


async def test_batches_wait_for_a_turn_only(database: Database) -> None:
    waits: list[float] = []

    async def write() -> None:
        while not giving.done():
            began = time.perf_counter()
            async with database.write_history() as connection:
                await connection.execute(tables.segments.delete().where(tables.segments.c.id == 0))
            waits.append(time.perf_counter() - began)
            await asyncio.sleep(0.002)

    giving = asyncio.create_task(FreeSpace(database, kept_bytes=0).give_back())
    await write()
    await giving
    assert sorted(waits)[len(waits) // 2] < 0.05, waits


def forget_mode(file: Path) -> None:
    """Make a file as earlier versions have made it."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("PRAGMA auto_vacuum = NONE")
        connection.execute("VACUUM")


async def test_a_file_that_an_earlier_version_has_made_keeps_its_space_until_it_is_written_anew(
    data_directory: Path, file: Path
) -> None:
    await migrate(None, data_directory)
    forget_mode(file)
    database = Database(None, data_directory)
    await database.open_files()
    await fill(database)
    space, contents = FreeSpace(database, kept_bytes=0), await read_contents(database)
    await space.give_back()
    assert (space.returned, space.bytes > 4_000_000) == (0, True)
    await database.close()
    before = size_of(file)
    saved = free_pages.rewrite(file)
    assert size_of(file) == before - saved < before // 2
    assert logs_of(file) == []
    database = Database(None, data_directory)
    await database.open_files()
    assert await read_contents(database) == contents
    assert await database.find_free_history_pages() == (0, True)
    await database.close()


async def test_pages_that_are_overwritten_at_the_moment_are_free_soon_and_not_given_back(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    space = FreeSpace(database, kept_bytes=0)
    before = await database.find_unused_history_bytes()
    give_back, found = freed_pages.give_back, list[int | None]()

    async def look_first(connection: AsyncConnection) -> bool:
        found.append(await database.find_unused_history_bytes())
        if len(found) == 1:  # no page is free
            await space.give_back()
            assert space.returned <= PAGE
        return await give_back(connection)

    monkeypatch.setattr(freed_pages, "give_back", look_first)
    assert await database.overwrite_free_pages()
    assert before is not None
    assert all(each is not None and each >= 0.9 * before for each in found)


async def test_zeros_are_given_back_when_the_overwriting_fails(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill, turns = freed_pages.fill, 0

    async def fail_later(connection: AsyncConnection) -> bool:
        nonlocal turns
        turns += 1
        if turns == 3:
            raise OSError("No space left on device")
        return await fill(connection)

    monkeypatch.setattr(freed_pages, "fill", fail_later)
    with pytest.raises((OSError, Error)):
        await database.overwrite_free_pages()
    async with database.read_history() as connection:
        assert await freed_pages.stored_bytes(connection) == 0
