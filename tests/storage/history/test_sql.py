"""`history.evaluations` on PostgreSQL returns the same as the API, and the queries in the documentation run."""

import re
from collections.abc import AsyncIterator
from datetime import timedelta
from operator import itemgetter
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.database.database import Database
from flagstaff.history.exported_columns import EVALUATIONS, sql_type
from flagstaff.history.exported_rows import ExportedPlace, evaluation_values
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.deletions import hide_evaluations
from flagstaff.projects import sdk_keys_store
from flagstaff.projects.record_origins import Origin, Origins
from tests.support.builders import make_sdk_key, store_environment
from tests.support.history import START, make_batch, make_layout, make_record, read, write
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

DOCUMENT = Path(__file__).parents[3] / "docs" / "history.md"
LAYOUT = make_layout()
ROWS = sa.text("SELECT * FROM history.evaluation_rows(:environment, :since, :until)")
CALL = sa.text("SELECT * FROM history.evaluations(:environment, :since, :until)")


@pytest.fixture
async def store(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """SQLite has no functions."""
    async with postgresql_store(postgres_template, data_directory) as made:
        yield made


async def select(
    database: Database, environment_id: UUID, *, since: float = 0, until: float = 3600
) -> list[sa.Row[Any]]:
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


@pytest.mark.parametrize("size", [1, 15, 16, 400])
@pytest.mark.parametrize("with_all", [True, False])
async def test_rows_have_the_origins_of_their_evaluations(database: Database, size: int, *, with_all: bool) -> None:
    environment = await store_environment(database)
    key = make_sdk_key(environment, name="Checkout")
    async with database.transaction() as transaction:
        await sdk_keys_store.create_key(transaction.connection, key, b"hash")
    known = [None, Origin(7, key.id, "ofrep", "first"), Origin(2**40, None, "evaluate", "größe")]
    known.append(Origin(8, uuid4(), "revoked", ""))
    layout = make_layout(attributes=("plan",) if with_all else ())
    attributes = {"attributes": [b'{"plan":"%d"}' % place for place in range(size)]} if with_all else {}
    for start, origins in (
        (0, None),
        (1000, Origins(known[1:2])),
        (2000, Origins(known, [place % 4 for place in range(size)])),
    ):
        records = [make_record(start + place / 1000, "größe" * 50) for place in range(size)]
        await write(database, make_batch(environment.id, layout, *records, origins=origins, **attributes))
        alone = [make_record(start + 1 + place / 1000, recorded=b"\5") for place in range(size)]
        values = {"flags": [0] * size, "origins": origins, **attributes}
        await write(database, make_batch(environment.id, layout, *alone, **values))
    names = {key.id: key.name}
    place = ExportedPlace(environment.project_id, environment.id, environment.key, names)
    expected = [evaluation_values(place, each) for each in await read(database, environment.id)]
    at = [column.name for column in EVALUATIONS].index("attributes")
    without_attributes = [(*each[:at], *each[at + 1 :]) for each in expected]
    times = {"since": START, "until": START + timedelta(hours=1)}
    async with database.read_history() as connection:
        found = await connection.execute(ROWS, {"environment": environment.id, **times})
        rows = [tuple(row[:-2]) for row in found]
    assert sorted(rows, key=itemgetter(3)) == sorted(without_attributes, key=itemgetter(3))
    assert len(rows) == 6 * size


async def test_the_columns_of_rows_are_those_of_the_schema(database: Database) -> None:
    async with database.read_history() as connection:
        found = await connection.execute(ROWS, {"environment": uuid4(), "since": START, "until": START})
        kinds = "SELECT unnest(proargnames), unnest(proallargtypes)::regtype::text FROM pg_proc WHERE proname = :name"
        types = dict(map(tuple, await connection.execute(sa.text(kinds), {"name": "evaluation_rows"})))
    columns = [column for column in EVALUATIONS if sql_type(column)]
    assert [*found.keys()] == [*(column.name for column in columns), "layout_id", "recorded"]
    assert {column.name: types[column.name] for column in columns} == {
        column.name: sql_type(column).replace("timestamptz", "timestamp with time zone") for column in columns
    }


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
    of_view = DOCUMENT.read_text().partition("## SQL on PostgreSQL")[2]  # the join before it is ClickHouse's
    of_keys, by_hour, of_user = re.findall(r"```sql\n(.*?)```", of_view, re.DOTALL)
    async with database.read_history() as connection:
        keys = [tuple(row) for row in await connection.execute(sa.text(of_keys))]
        hours = [tuple(row) for row in await connection.execute(sa.text(by_hour))]
        found = [tuple(row) for row in await connection.execute(sa.text(of_user))]
    assert keys == [(None, None, None, 4, 2)]
    assert hours == [(START, 2, 1), (START + timedelta(hours=1), 2, 2)]
    ada = [each for each in await read(database, environment.id) if each.user_id == "ada"]
    assert found == [("production", each.evaluated_at, each.id) for each in ada]
