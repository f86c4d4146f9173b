"""PostgreSQL behind pgbouncer, with parameters that it refuses, and with roles whose defaults differ."""

import asyncio
import json
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from uuid import uuid4

import pytest

from tests.support.command import run_flagstaff
from tests.support.pgbouncer import PgBouncer
from tests.support.postgres import PostgresServer
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, execute

POOLED = "FLAGSTAFF_DATABASE_URL leads to a pooler that lends connections for single transactions"


@pytest.fixture
async def url(postgres: PostgresServer) -> AsyncIterator[str]:
    """The URL of a database without tables."""
    name = f"pooled_{uuid4().hex}"
    await execute(postgres, f"CREATE DATABASE {name}")
    yield postgres.url(name)
    await execute(postgres, f"DROP DATABASE {name} WITH (FORCE)")


def environ_of(url: str, folder: Path) -> dict[str, str]:
    return {"FLAGSTAFF_DATABASE_URL": url, "FLAGSTAFF_DATA_DIR": str(folder / "data"), "FLAGSTAFF_PORT": "0"}


def check_refused(environ: dict[str, str], said: str, step: str) -> None:
    """Check that a start and `doctor` refuse in one line what is said, and name the step."""
    start = run_flagstaff("serve", environ=environ)
    assert start.returncode == 1
    line = start.stderr.splitlines()[-1]
    assert line.startswith(f"flagstaff: {said}"), start.stderr
    assert step in line
    doctor = run_flagstaff("doctor", "--json", environ=environ)
    found = {each["check"]: each for each in json.loads(doctor.stdout)}["database"]
    assert found["status"] == "FAIL"
    assert (found["found"].startswith(said), step in found["advice"]) == (True, True), found
    assert "Traceback" not in start.stderr + doctor.stderr


@pytest.mark.parametrize("pool_mode", ["transaction", "statement"])
async def test_a_pooler_of_transactions_or_statements_is_refused_at_the_start_and_by_doctor(
    url: str, tmp_path: Path, pool_mode: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with PgBouncer(Path(folder), url, pool_mode) as pooler:
            environ = environ_of(pooler.url, tmp_path)
            await asyncio.to_thread(check_refused, environ, POOLED, "use the address of PostgreSQL itself")


async def test_a_pooler_of_sessions_serves(url: str, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with PgBouncer(Path(folder), url, "session") as pooler:
            server = ServerProcess(Store(pooler.url, tmp_path / "data"), {})
            async with server, RemoteCaller(server.url) as caller:
                await caller.sign_up()
                await caller.create_project()


@pytest.mark.parametrize("parameter", ["schema=public", "statement_timeout=soon"])
async def test_a_parameter_that_postgresql_refuses_ends_the_start_in_one_line(
    url: str, tmp_path: Path, parameter: str
) -> None:
    environ = environ_of(f"{url}?{parameter}", tmp_path)
    name = parameter.partition("=")[0]
    await asyncio.to_thread(check_refused, environ, "PostgreSQL refuses connections: ", "Check FLAGSTAFF_DATABASE_URL")
    assert name in run_flagstaff("serve", environ=environ).stderr


async def test_parameters_of_hosted_databases_and_several_hosts_serve(url: str, tmp_path: Path) -> None:
    address = url.partition("@")[2].partition("/")[0]
    for given in (f"{url}?connect_timeout=10&pgbouncer=true&ssl=false", url.replace(address, f"127.0.0.1:1,{address}")):
        server = ServerProcess(Store(given, tmp_path / uuid4().hex), {})
        async with server, RemoteCaller(server.url) as caller:
            assert (await caller.get("/ready")).status_code == 200


async def test_writes_at_once_succeed_whatever_isolation_the_database_has_by_default(
    postgres: PostgresServer, url: str, tmp_path: Path
) -> None:
    name = url.rpartition("/")[2]
    await execute(postgres, f"ALTER DATABASE {name} SET default_transaction_isolation = serializable")
    server = ServerProcess(Store(url, tmp_path / "data"), {})
    async with server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        environment = await caller.get_environment(await caller.create_project())
        path = f"/api/projects/{environment['project_id']}/environments/{environment['id']}/flags"
        bodies = [{"name": f"flag {number}", "key": f"flag-{number}"} for number in range(24)]
        answers = await asyncio.gather(*(caller.post(path, json=body) for body in bodies))
        assert [each.status_code for each in answers] == [201] * 24
