"""`flagstaff history export-events`: the files contain each event once, even after kills."""

# ruff: noqa: ASYNC230, ASYNC240 - nothing else runs on the loop of these tests

import gzip
import json
import os
import random
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.exported_columns import EVENTS
from flagstaff.history.store.events import write_events
from flagstaff.metrics.event_buffer import EventBuffer
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow, unit_of
from flagstaff.projects import sdk_keys_store
from flagstaff.projects.projects import Environment
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.values.moments import format_moment
from tests.support.builders import make_sdk_key, store_environment
from tests.support.command import run_flagstaff
from tests.support.forks import ForkedProcess
from tests.support.history import START
from tests.support.stores import Store

AT = tables.microseconds(START)
HOUR = 3600 * 10**6


@pytest.fixture
async def environment(database: Database) -> Environment:
    return await store_environment(database)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "export"


def export(store: Store, environment: Environment, target: Path, *options: str) -> subprocess.CompletedProcess[str]:
    arguments = ("--project", str(environment.project_id), "--directory", str(target), *options)
    return run_flagstaff("history", "export-events", *arguments, environ=store.environ)


def lines(target: Path) -> list[dict[str, Any]]:
    found = []
    for path in sorted(target.glob("*.jsonl.gz"), key=lambda path: path.name.rsplit("-", 1)[1]):
        of_file = [json.loads(line) for line in gzip.decompress(path.read_bytes()).decode().splitlines()]
        assert {each["occurred_at"][:10] for each in of_file} == {path.name[:10]}
        found += of_file
    return found


async def write(database: Database, environment: Environment, *rows: EventRow) -> None:
    batch = EventBatch(random.randrange(2**61), AT, [EventGroup(environment.id, rows, {})])
    async with database.write_history() as connection:
        await write_events(connection, batch)


def event(user: str, at: int = AT, value: float | None = None, metric: str = "errors") -> EventRow:
    return EventRow(metric, user, at, value, None)


async def test_events_are_exported_with_all_columns_in_both_formats(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    values = [None, 1.0, 0.5, 1e15, 1e-7, -0.0]
    await write(database, environment, *(event("=ada\u2028", AT + n, value) for n, value in enumerate(values)))
    await write(database, environment, event(unit_of("acme", "company"), metric="orders"))
    assert export(store, environment, target).stdout.startswith("Wrote 7 events in 1 files")
    found = lines(target)
    assert [list(each) for each in found] == [[column.name for column in EVENTS]] * 7
    place = (str(environment.project_id), str(environment.id), environment.key)
    assert {(each["project_id"], each["environment_id"], each["environment"]) for each in found} == {place}
    assert [each["value"] for each in found] == [*values, None]
    (path,) = target.glob("*.gz")
    text = gzip.decompress(path.read_bytes()).decode()
    written = [line.rpartition('"value":')[2] for line in text.splitlines()]
    assert written == ["null}", "1}", "0.5}", "1000000000000000}", "0.0000001}", "0}", "null}"]
    assert [(each["identifier"], each["attribute"], each["metric"]) for each in found[5:]] == [
        ("=ada\u2028", None, "errors"),
        ("acme", "company", "orders"),
    ]
    assert found[0]["occurred_at"] == format_moment(START)
    assert len({each["id"] for each in found}) == 7
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(store, environment, target.parent / "parquet", "--format", "parquet").returncode == 0
    assert rows_of_parquet(parquet, target.parent / "parquet") == found


async def test_each_row_has_the_key_the_protocol_and_the_instance_by_which_the_event_came(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    key = make_sdk_key(environment, name="Shop")
    async with database.transaction() as transaction:
        await sdk_keys_store.create_key(transaction.connection, key, b"hash")
    buffer = EventBuffer(instance="first")
    for key_id in (key.id, None, UUID(int=7)):
        buffer.record(environment.id, [event("ada")], {}, KeyKind.SERVER, key_id)
    async with database.write_history() as connection:
        await write_events(connection, *buffer.take())
    await write(database, environment, event("ada"))
    export(store, environment, target)
    names = ("key_kind", "key_id", "key_name", "protocol", "instance")
    found = lines(target)
    assert [tuple(each[name] for name in names) for each in found] == [
        ("server", str(key.id), "Shop", "events", "first"),
        ("server", None, None, "events", "first"),
        ("server", str(UUID(int=7)), None, "events", "first"),
        (None, None, None, None, None),
    ]
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(store, environment, target.parent / "parquet", "--format", "parquet").returncode == 0
    assert rows_of_parquet(parquet, target.parent / "parquet") == found


def rows_of_parquet(parquet: Any, target: Path) -> list[dict[str, Any]]:
    (file,) = target.glob("*.parquet")
    rows = parquet.read_table(file).to_pylist()
    return [{**row, "occurred_at": format_moment(row["occurred_at"])} for row in rows]


async def test_the_options_choose_events(
    store: Store, database: Database, environment: Environment, tmp_path: Path
) -> None:
    await write(database, environment, event("ada"), event("bob@example.com", AT + HOUR), event("ada", metric="orders"))
    for number, (options, expected) in enumerate(
        (
            (["--user-id", "ada"], [0, 2]),
            (["--user-email", "Bob@Example.com"], [1]),
            (["--metric", "orders"], [2]),
            (["--from", "2026-11-20T10:30:00Z"], [1]),
            (["--to", "2026-11-20T10:30:00Z", "--metric", "errors"], [0]),
        )
    ):
        target = tmp_path / str(number)
        assert export(store, environment, target, *options).returncode == 0
        everything = [("ada", "errors"), ("bob@example.com", "errors"), ("ada", "orders")]
        found = [(each["identifier"], each["metric"]) for each in lines(target)]
        assert found == [everything[place] for place in expected], options
    refused = export(store, environment, tmp_path / "refused", "--from", "2026-11-20", "--to", "2026-11-20")
    assert (refused.returncode, "--from must be before --to" in refused.stderr) == (1, True)


async def test_a_run_that_is_killed_loses_and_doubles_nothing(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    expected = []
    for hour in range(24 * 40):  # events are up to a day late, so segments have those of two days
        rows = [event(f"{hour}-{late}", AT + hour * HOUR - late * 7 * HOUR) for late in range(4)]
        expected += [row.unit for row in rows]
        await write(database, environment, *rows)
    arguments = ("history", "export-events", "--project", str(environment.project_id), "--directory", str(target))
    for files in (3, 20, 40):
        with (target.parent / "output").open("wb") as output, Path(os.devnull).open("rb") as given:
            environ = {"PATH": os.environ["PATH"], **store.environ}
            process = ForkedProcess(arguments, environ=environ, given=given, output=output, errors=output)
            try:
                while len([*target.glob("*.gz")]) < files and process.returncode is None:
                    pass
            finally:
                process.kill()
                process.wait_blocking(20)
    done = export(store, environment, target)
    assert done.returncode == 0, done.stderr
    found = lines(target)
    assert sorted(each["identifier"] for each in found) == sorted(expected)
    assert len({each["id"] for each in found}) == len(expected)
    assert "Wrote 0 events" in export(store, environment, target).stdout
    await write(database, environment, event("late", AT - timedelta(days=1) // timedelta(microseconds=1)))
    assert "Wrote 1 events" in export(store, environment, target).stdout


async def test_a_damaged_segment_is_left_out_and_counted_and_a_newer_one_is_not_passed(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    for user in ("ada", "bob", "eve", "new"):
        await write(database, environment, event(user))
    columns = tables.event_segments.c
    async with database.write_history() as connection:
        ids = (await connection.execute(sa.select(columns.id).order_by(columns.id))).scalars().all()
        update = tables.event_segments.update()
        await connection.execute(update.where(columns.id == ids[1]).values(content=b"damaged"))
        await connection.execute(update.where(columns.id == ids[3]).values(version=99))
    refused = export(store, environment, target)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "segments of events of version 99 are unknown to this version of Flagstaff" in refused.stderr
    async with database.write_history() as connection:
        await connection.execute(update.where(columns.id == ids[3]).values(version=1))
    ended = export(store, environment, target)
    assert "1 damaged segment(s) of the history could not be read, and the events in them" in ended.stderr
    assert [each["identifier"] for each in lines(target)] == ["ada", "eve", "new"]


async def test_evaluations_are_not_exported_between_events(
    store: Store, database: Database, environment: Environment, target: Path
) -> None:
    await write(database, environment, event("ada"))
    arguments = ("--project", str(environment.project_id), "--directory", str(target))
    assert export(store, environment, target).returncode == 0
    refused = run_flagstaff("history", "export", *arguments, environ=store.environ)
    assert "contains an export with other options: records was events" in refused.stderr
