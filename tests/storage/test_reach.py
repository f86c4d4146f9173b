"""Detecting that PostgreSQL cannot be reached, from the answers to the session that holds the lease."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest
import sqlalchemy as sa

from flagstaff.database import postgresql
from flagstaff.database.reach import LOST_SECONDS, Reach
from flagstaff.values.errors import Error
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store


@pytest.fixture
async def store(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """A database on PostgreSQL: SQLite is always reachable."""
    async with postgresql_store(postgres_template, data_directory) as made:
        yield made


async def test_an_answer_that_comes_after_postgresql_was_lost_finds_it_again(store: Store) -> None:
    assert store.database_url is not None
    now = 1000.0
    engine = postgresql.make_engine(store.database_url)
    reach = Reach(engine, clock=lambda: now)

    async def ask() -> None:
        async with reach.begin(engine) as connection:
            await connection.execute(sa.text("SELECT 1"))

    async def ask_again_and_again() -> None:
        while True:
            with suppress(sa.exc.DBAPIError):  # a connection ends while it waits
                await ask()

    try:
        reach.record_session(is_late=False)
        await ask()
        reach.record_answer(now - LOST_SECONDS)  # the next answer does not come in time
        with pytest.raises(Error, match="cannot be reached"):
            await asyncio.wait_for(ask_again_and_again(), 5)
        reach.record_answer(now)  # the process was paused, and its session is still open
        await ask()
    finally:
        reach.stop()
        await engine.dispose()


async def test_a_wait_that_begins_while_postgresql_is_lost_ends_at_once(store: Store) -> None:
    assert store.database_url is not None
    now = 1000.0
    engine = postgresql.make_engine(store.database_url)
    reach = Reach(engine, clock=lambda: now)

    async def wait() -> None:
        async with asyncio.timeout(None) as timeout:
            with reach.ending(timeout):
                await asyncio.Event().wait()

    try:
        async with asyncio.timeout(5):
            reach.record_answer(now - LOST_SECONDS)  # the next answer does not come in time
            for _ in ("until it is lost", "while it is lost"):
                with pytest.raises(TimeoutError):
                    await wait()
    finally:
        reach.stop()
        await engine.dispose()


async def test_a_check_whose_connection_ends_says_that_postgresql_cannot_be_reached(store: Store) -> None:
    assert store.database_url is not None
    engine = postgresql.make_engine(store.database_url)
    reach = Reach(engine)
    check = asyncio.ensure_future(reach.check())
    try:
        while not check.done():
            reach.record_session(is_late=True)  # ends all connections
            await asyncio.sleep(0)
        with pytest.raises(Error, match="cannot be reached"):
            await check
    finally:
        reach.stop()
        await engine.dispose()
