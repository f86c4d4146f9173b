"""With SQLite, accounts take turns with the one writer."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import sqlalchemy as sa

from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.sqlite.turns import Turns, writing_as
from flagstaff.values.errors import Code, Error


@pytest.fixture
async def on_sqlite(tmp_path: Path) -> AsyncIterator[Database]:
    await migrate(None, tmp_path)
    database = Database(None, tmp_path)
    yield database
    await database.close()


async def test_who_gets_no_turn_in_time_is_refused() -> None:
    turns = Turns(wait_seconds=0.01)
    async with turns.take():
        with pytest.raises(Error) as refused:
            async with turns.take():
                pass
    assert refused.value.code is Code.UNAVAILABLE
    assert refused.value.retry_after_seconds
    async with turns.take():
        pass


async def test_an_account_waits_for_one_transaction_of_each_other(on_sqlite: Database) -> None:
    done: list[str] = []
    async with on_sqlite.transaction():
        tasks = [asyncio.create_task(_write(on_sqlite, who, done)) for who in (*["ada"] * 3, *["eve"] * 3, "bob")]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert done.index("bob") == 2
    assert sorted(done) == ["ada"] * 3 + ["bob"] + ["eve"] * 3


async def test_a_transaction_that_fails_passes_its_turn_on(on_sqlite: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        async with on_sqlite.transaction():
            1 / 0  # noqa: B018
    await asyncio.wait_for(_write(on_sqlite, "ada", []), 5)


async def _write(database: Database, who: str, done: list[str]) -> None:
    with writing_as(who):
        async with database.transaction() as transaction:
            await transaction.connection.execute(sa.text("SELECT 1"))
            done.append(who)
