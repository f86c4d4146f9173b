"""With PostgreSQL, who waits for another write to the same project keeps no connection from other projects."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.database import project_turns
from flagstaff.database.database import Database
from flagstaff.projects.projects import Environment
from flagstaff.projects.projects_store import open_project_for_update
from flagstaff.values.errors import Code, Error
from tests.support.builders import store_environment
from tests.support.postgres import PostgresServer
from tests.support.stores import postgresql_store


@pytest.fixture
async def instances(
    postgres_template: PostgresServer, data_directory: Path
) -> AsyncIterator[tuple[Database, Database]]:
    """Two instances on one database."""
    async with postgresql_store(postgres_template, data_directory) as store, AsyncExitStack() as opened:
        both = Database(store.database_url, data_directory), Database(store.database_url, data_directory)
        for each in both:
            opened.push_async_callback(each.close)
        yield both


async def test_a_write_that_waits_too_long_for_its_project_is_refused(
    instances: tuple[Database, Database], monkeypatch: pytest.MonkeyPatch
) -> None:
    here, other = instances
    place = await store_environment(here)
    monkeypatch.setattr(project_turns, "WAIT_SECONDS", 0.05)
    done: list[str] = []
    for database in (here, other):  # waiting in this process, and for another instance
        hold, held = asyncio.Event(), list[str]()
        writing = asyncio.create_task(_write(database, "eve", Priority.LONG, place, held, hold))
        company = asyncio.create_task(_write(here, "bob", Priority.KILL, await store_environment(here), held, hold))
        while len(held) < 2:
            await asyncio.sleep(0.001)
        with pytest.raises(Error) as refused:
            await _write(here, "ada", Priority.KILL, place, done)
        assert (refused.value.code, bool(refused.value.retry_after_seconds)) == (Code.UNAVAILABLE, True)
        hold.set()
        await asyncio.gather(writing, company)
    assert done == []


async def test_kills_that_wait_for_their_own_projects_leave_connections_to_other_kills(
    instances: tuple[Database, Database],
) -> None:
    here, other = instances
    places = [await store_environment(here) for _ in range(9)]
    calm = await store_environment(here)
    hold, held, done = asyncio.Event(), list[str](), list[str]()
    long = [asyncio.create_task(_write(other, "eve", Priority.KILL, place, held, hold)) for place in places]
    while len(held) < len(places):
        await asyncio.sleep(0.001)
    waiting = [
        asyncio.create_task(_write(here, f"eve{at % 9}", Priority.KILL, places[at % 9], done)) for at in range(27)
    ]
    for _ in range(20):
        await asyncio.wait_for(_write(here, "ada", Priority.KILL, calm, done), 30)
    assert done == ["ada"] * 20
    hold.set()
    await asyncio.gather(*long, *waiting)
    assert len(done) == 20 + 27


async def test_a_kill_does_not_wait_for_a_copy_in_its_project_that_waits_for_a_connection(
    instances: tuple[Database, Database],
) -> None:
    here, _ = instances
    places = [await store_environment(here) for _ in range(6)]
    hold, held, done = asyncio.Event(), list[str](), list[str]()
    long = [asyncio.create_task(_write(here, "eve", Priority.LONG, place, held, hold)) for place in places[1:]]
    while len(held) < 5:
        await asyncio.sleep(0.001)
    copy = asyncio.create_task(_write(here, "ada", Priority.LONG, places[0], done))
    await asyncio.sleep(0)
    await asyncio.wait_for(_write(here, "ada", Priority.KILL, places[0], done), 30)
    assert not copy.done()
    hold.set()
    await asyncio.gather(*long, copy)


async def test_a_project_that_does_not_exist_is_not_waited_for(instances: tuple[Database, Database]) -> None:
    here, _ = instances
    place = await store_environment(here)
    hold, done = asyncio.Event(), list[str]()
    company = asyncio.create_task(_write(here, "eve", Priority.KILL, place, done, hold))
    while not done:
        await asyncio.sleep(0.001)
    with claiming("ada", Priority.KILL, place.id):  # the id of an environment
        async with here.transaction() as transaction:
            assert await open_project_for_update(transaction.connection, place.id) is None
    hold.set()
    await company


async def _write(
    database: Database,
    who: str,
    priority: Priority,
    place: Environment,
    done: list[str],
    hold: asyncio.Event | None = None,
) -> None:
    with claiming(who, priority, place.project_id):
        async with database.transaction() as transaction:
            await open_project_for_update(transaction.connection, place.project_id)
            done.append(who)
            if hold is not None:
                await hold.wait()
