"""PostgreSQL databases in which Flagstaff cannot work: one line says what is wrong and what to do."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.support.command import run_flagstaff
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, execute


@pytest.fixture
async def latin(postgres: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """A database whose encoding cannot hold every text."""
    name = f"latin_{uuid4().hex}"
    await execute(postgres, f"CREATE DATABASE {name} ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    yield Store(postgres.url(name), data_directory)
    await execute(postgres, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
async def without_rights(postgres: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """An empty database in which the role may connect, and nothing else."""
    name = f"poor_{uuid4().hex}"
    await execute(postgres, f"CREATE ROLE {name} LOGIN PASSWORD 'poor'")
    await execute(postgres, f"CREATE DATABASE {name}")
    own = postgres.url(name)
    yield Store(f"postgresql://{name}:poor@{own.rpartition('@')[2]}", data_directory)
    await execute(postgres, f"DROP DATABASE {name} WITH (FORCE)")
    await execute(postgres, f"DROP ROLE {name}")


def last_line(command: str, store: Store) -> str:
    outcome = run_flagstaff(command, environ={**store.environ, "FLAGSTAFF_PORT": "0"})
    assert outcome.returncode == 1, outcome.stdout
    assert "Traceback" not in outcome.stderr
    return outcome.stderr.splitlines()[-1]


def examine(store: Store) -> dict[str, Any]:
    outcome = run_flagstaff("doctor", "--json", environ=store.environ)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    return {finding["check"]: finding for finding in json.loads(outcome.stdout)}


@pytest.mark.parametrize("command", ["migrate", "serve"])
async def test_a_database_with_another_encoding_is_refused(latin: Store, command: str) -> None:
    line = await asyncio.to_thread(last_line, command, latin)
    assert "has the encoding LATIN1" in line
    assert "ENCODING 'UTF8'" in line


async def test_doctor_says_what_to_do_about_another_encoding(latin: Store) -> None:
    found = (await asyncio.to_thread(examine, latin))["database"]
    assert "LATIN1" in found["found"]
    assert "UTF8" in found["advice"]


@pytest.mark.parametrize("command", ["migrate", "serve"])
async def test_a_role_that_may_not_create_tables_is_told_which_rights_it_lacks(
    without_rights: Store, command: str
) -> None:
    line = await asyncio.to_thread(last_line, command, without_rights)
    assert "GRANT CREATE ON SCHEMA public TO" in line
    assert "Nothing was changed." in line


async def test_doctor_does_not_advise_a_role_to_do_what_it_may_not(without_rights: Store) -> None:
    advice = (await asyncio.to_thread(examine, without_rights))["revision"]["advice"]
    assert "flagstaff migrate" not in advice
    assert advice.count("GRANT CREATE ON") == 2
