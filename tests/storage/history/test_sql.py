"""`history.evaluations` on PostgreSQL returns the same as the API, and the queries in the documentation run."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.database.database import Database
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.deletions import hide_evaluations
from tests.support.builders import store_environment
from tests.support.history import START, make_batch, make_layout, make_record, read, write
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

DOCUMENT = Path(__file__).parents[3] / "docs" / "history.md"
LAYOUT = make_layout()
CALL = sa.text("SELECT * FROM history.evaluations(:environment, :since, :until)")


@pytest.fixture
async def store(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """SQLite has no functions."""
    async with postgresql_store(postgres_template, data_directory) as made:
        yield made


async def select(database: Database, environment_id: UUID, *, since: float = 0, until: float = 3600) -> list[sa.Row]:
    times = {"since": START + timedelta(seconds=since), "until": START + timedelta(seconds=until)}
    async with database.read_history() as connection:
        return [*await connection.execute(CALL, {"environment": environment_id, **times})]


async def test_of_an_unknown_environment_it_returns_nothing(database: Database) -> None:
    assert await select(database, uuid4()) == []


@pytest.mark.parametrize("size", [1, 15, 16, 400])  # msgpack writes arrays of up to 15 items differently
async def test_it_returns_what_the_api_does(database: Database, size: int) -> None:
    environment_id = uuid4()
    emails = (None, "ü@example.com", "a" * 40 + "@example.com", "b" * 300)
    users = ("ada", None, "", "c" * 31, "größe" * 50)
    records = [
        make_record(place / 1000, users[place % 5], bytes((place % 100, 100)), user_email=emails[place % 4])
        for place in range(size)
    ]
    wide = make_layout(recorded=LAYOUT.recorded * 150)
    await write(
        database,
        make_batch(environment_id, LAYOUT, *records),
        make_batch(environment_id, make_layout(recorded=()), make_record(2, recorded=b"")),
        make_batch(environment_id, wide, *(make_record(3, recorded=bytes(range(100)) * 3) for _ in range(size))),
        make_batch(environment_id, make_layout(attributes=("plan",)), make_record(4), attributes=[b'{"plan":1}']),
    )
    expected = [
        (each.id, each.evaluated_at, each.user_id, each.user_email, each.recorded)
        for each in reversed(await read(database, environment_id))
    ]
    found = await select(database, environment_id)
    assert sorted((row.id, row.evaluated_at, row.user_id, row.user_email, row.recorded) for row in found) == expected


@pytest.mark.parametrize("size", [1, 15, 16, 400])
async def test_it_returns_evaluations_of_single_flags_between_those_of_all(database: Database, size: int) -> None:
    environment_id = uuid4()
    wide = make_layout(recorded=LAYOUT.recorded * 150)
    # Times of all lengths in msgpack, and some that go back.
    seconds = [0, 0.0001, 0.0003, 0.03, 0.1, 0.05, 40, 39, 3500, 3499.99995]
    flags = [None, 0, 302 - 2, 299]
    rows = [bytes(range(100)) * 3, b"\5", b"", b"\x64"]
    records = [
        make_record(seconds[place % 10], ("ada", None, "größe" * 50)[place % 3], rows[place % 4], user_email=None)
        for place in range(size)
    ]
    asked = [flags[place % 4] for place in range(size)]
    await write(
        database,
        make_batch(environment_id, wide, *records, flags=asked),
        make_batch(environment_id, wide, make_record(3590, recorded=b"\7"), flags=[1]),
        make_batch(
            environment_id,
            make_layout(attributes=("plan",)),
            *(make_record(3599, recorded=row) for row in (b"\5", b"\5\5")),
            attributes=[b'{"plan":1}'] * 2,
            flags=[0, None],
        ),
    )
    expected = [
        (each.id, each.evaluated_at, each.user_id, each.user_email, each.recorded)
        for each in await read(database, environment_id)
    ]
    found = await select(database, environment_id)
    assert sorted((row.id, row.evaluated_at, row.user_id, row.user_email, row.recorded) for row in found) == sorted(
        expected
    )
    assert len(found) == size + 3
    assert [row.recorded for row in await select(database, environment_id, since=3590, until=3591)] == [b"\7"]


async def test_it_returns_a_period_without_what_the_retention_hides(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *map(make_record, range(10))))
    async with database.write_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None
        await hide_evaluations(connection, number, START + timedelta(seconds=3))
    found = await select(database, environment_id, since=1, until=6)
    assert [row.evaluated_at for row in found] == [START + timedelta(seconds=each) for each in (3, 4, 5)]


async def test_the_queries_in_the_documentation_run(database: Database) -> None:
    environment = await store_environment(database)
    times = (0, 1, 3600)
    await write(database, make_batch(environment.id, LAYOUT, *map(make_record, times), make_record(3601, "bob")))
    by_hour, of_user = re.findall(r"```sql\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    async with database.read_history() as connection:
        hours = [tuple(row) for row in await connection.execute(sa.text(by_hour))]
        found = [tuple(row) for row in await connection.execute(sa.text(of_user))]
    assert hours == [(START, 2, 1), (START + timedelta(hours=1), 2, 2)]
    ada = [each for each in await read(database, environment.id) if each.user_id == "ada"]
    assert found == [("production", each.evaluated_at, each.id) for each in ada]
