"""Situations in which PostgreSQL cannot be used: a start, /ready, requests and doctor say the same cause and step."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit
from uuid import uuid4

import pytest

from tests.support.api import Json
from tests.support.command import run_flagstaff
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, execute, postgresql_store


@dataclass(frozen=True)
class Case:
    """A situation: the statements that make it, and what is said. `check` is the finding of doctor that says it."""

    statements: tuple[str, ...]
    cause: str
    step: str
    check: str = "database"


CASES = {
    "password": Case(
        ("ALTER ROLE {role} PASSWORD 'another'",), "refuses the role or its password", "ALTER ROLE … PASSWORD"
    ),
    "login": Case(("ALTER ROLE {role} NOLOGIN",), "refuses the login of the role", "ALTER ROLE … LOGIN"),
    "database": Case(("ALTER DATABASE {database} RENAME TO {database}_gone",), "does not exist", "CREATE DATABASE …"),
    "rights": Case(("ALTER ROLE {role} NOSUPERUSER",), "belong to another role", "ALTER TABLE … OWNER TO …"),
    "read-only": Case(
        ("ALTER DATABASE {database} SET default_transaction_read_only = on",),
        "cannot be written: it is a standby, or default_transaction_read_only is on",
        "Use the address of the primary",
        check="writes",
    ),
}


@dataclass(frozen=True)
class Place:
    """A store whose URL has a role of its own, which needs its password."""

    store: Store
    role: str
    database: str


@pytest.fixture
async def place(postgres_template: PostgresServer, data_directory: Path) -> AsyncIterator[Place]:
    role = f"password_{uuid4().hex[:12]}"  # such roles need a password: see tests/support/postgres.py
    await execute(postgres_template, f"CREATE ROLE {role} SUPERUSER LOGIN PASSWORD 'secret'")
    async with postgresql_store(postgres_template, data_directory) as store:
        assert store.database_url is not None
        url = urlsplit(store.database_url)
        own = url._replace(netloc=f"{role}:secret@{url.netloc.rpartition('@')[2]}").geturl()
        database = url.path.strip("/")
        yield Place(replace(store, database_url=own), role, database)
        if await exists(postgres_template, f"{database}_gone"):
            await execute(postgres_template, f"ALTER DATABASE {database}_gone RENAME TO {database}")
    await execute(postgres_template, f"DROP ROLE {role}")


async def exists(server: PostgresServer, database: str) -> bool:
    query = "SELECT count(*) FROM pg_database WHERE datname = $1"
    return bool(await server.administrator.do(lambda connection: connection.fetchval(query, database)))


def examine(store: Store) -> Json:
    outcome = run_flagstaff("doctor", "--json", environ=store.environ)
    assert "Traceback" not in outcome.stderr
    assert outcome.returncode == 1, outcome.stdout
    return {finding["check"]: finding for finding in json.loads(outcome.stdout)}


async def start_and_fail(store: Store) -> str:
    """Return the last line of a start that fails."""
    environ = {**store.environ, "FLAGSTAFF_PORT": "0", "FLAGSTAFF_DATA_DIR": f"{store.data_directory}-2"}
    outcome = await asyncio.to_thread(run_flagstaff, "serve", environ=environ)
    assert outcome.returncode == 1, outcome.stdout
    assert "Traceback" not in outcome.stderr
    return outcome.stderr.splitlines()[-1]


async def make(postgres: PostgresServer, place: Place, case: Case) -> None:
    """Make a situation, and end the sessions from before it."""
    end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{database}'"
    renames = "RENAME" in case.statements[0]
    if renames:  # which needs a database without sessions
        await execute(postgres, f"ALTER DATABASE {place.database} ALLOW_CONNECTIONS false")
        await execute(postgres, end.format(database=place.database))
    for statement in case.statements:
        await execute(postgres, statement.format(role=place.role, database=place.database))
    if renames:
        await execute(postgres, f"ALTER DATABASE {place.database}_gone ALLOW_CONNECTIONS true")
    else:
        await execute(postgres, end.format(database=place.database))


@pytest.mark.parametrize("name", CASES)
async def test_a_start_ready_requests_and_doctor_say_the_same(
    postgres_template: PostgresServer, place: Place, name: str
) -> None:
    case = CASES[name]
    async with ServerProcess(place.store) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        await caller.create_project()
        await make(postgres_template, place, case)

        async def is_told() -> bool:
            write = await caller.post("/api/projects", json={"name": "Another"})
            ready = await caller.get("/ready")
            details = [answer.json().get("detail", "") for answer in (write, ready) if answer.status_code == 503]
            return sum(case.cause in detail and case.step in detail for detail in details) == 2

        async with asyncio.timeout(30):
            while not await is_told():
                await asyncio.sleep(0.1)
        finding = (await asyncio.to_thread(examine, place.store))[case.check]
        assert (finding["status"], case.cause in finding["found"], case.step in finding["advice"]) == (
            "FAIL",
            True,
            True,
        )
        line = await start_and_fail(place.store)
        assert case.cause in line
        assert case.step in line


async def test_a_start_and_doctor_say_that_postgresql_does_not_offer_tls(place: Place) -> None:
    store = replace(place.store, database_url=f"{place.store.database_url}?sslmode=require")
    line = await start_and_fail(store)
    assert "does not offer TLS" in line
    assert "choose another sslmode" in line
    finding = (await asyncio.to_thread(examine, store))["database"]
    assert ("does not offer TLS" in finding["found"], "choose another sslmode" in finding["advice"]) == (True, True)
