"""`flagstaff history erase` and `flagstaff history user`, also after a kill in the middle."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.database import Database
from flagstaff.projects.projects import Environment
from tests.support.builders import store_environment
from tests.support.command import run_flagstaff
from tests.support.forks import ForkedProcess
from tests.support.history import make_batch, make_layout, make_record, read, write
from tests.support.stores import Store

LAYOUT = make_layout()
USER = "grace-hopper-1906"


@pytest.fixture
async def environment(database: Database, store: Store) -> Environment:
    """The environment `production` of a project, beside the secret key of the instance."""
    directory = DataDirectory(store.data_directory)
    directory.prepare()
    directory.secret_key()
    return await store_environment(database)


def history(store: Store, *arguments: object) -> subprocess.CompletedProcess[str]:
    return run_flagstaff("history", *map(str, arguments), environ=store.environ)


def confirm(store: Store, *arguments: object) -> str:
    done = history(store, "erase", *arguments)
    assert done.returncode == 0, done.stderr
    found = re.search(r"--confirm (\S+)", done.stdout)
    assert found is not None
    return found[1]


def test_a_user_must_be_named_and_a_confirmation_fit(store: Store) -> None:
    done = history(store, "erase")
    assert (done.returncode, "is required, unless --user-email is given" in done.stderr) == (1, True)
    done = history(store, "erase", "--user-id", USER, "--confirm", "x")
    assert (done.returncode, "Ask for a preview again" in done.stderr) == (1, True)
    other = "019a21f4-e430-731a-8000-000000010000"
    done = history(store, "erase", "--user-id", USER, "--project", other)
    assert (done.returncode, f"There is no project {other}" in done.stderr) == (1, True)


async def test_a_user_is_handed_out_and_erased(
    database: Database, store: Store, environment: Environment, tmp_path: Path
) -> None:
    await write(database, make_batch(environment.id, LAYOUT, make_record(0, USER), make_record(1, "ada")))
    file = tmp_path / "user.json"
    options = ("--project", environment.project_id, "--user-id", USER)
    done = history(store, "user", *options, "--file", file)
    assert done.returncode == 0, done.stderr
    (found,) = json.loads(file.read_text())["environments"]
    assert [each["user_id"] for each in found["evaluations"]] == [USER]
    assert file.stat().st_mode & 0o777 == 0o600
    done = history(store, "user", *options, "--file", file)
    assert (done.returncode, "cannot be created" in done.stderr) == (1, True)

    confirmation = confirm(store, "--user-id", USER)
    done = history(store, "erase", "--user-id", USER, "--confirm", confirmation)
    assert done.returncode == 0, done.stderr
    assert "erased 1 evaluations, 0 events" in done.stdout
    assert "backups: until you delete them" in done.stdout
    assert [each.user_id for each in await read(database, environment.id)] == ["ada", None]


async def test_after_a_kill_in_the_middle_an_erasure_is_done_from_where_it_was(
    database: Database, store: Store, environment: Environment, tmp_path: Path
) -> None:
    for start in range(60):
        records = [make_record(start * 100 + place, USER) for place in range(100)]
        await write(database, make_batch(environment.id, LAYOUT, *records))
    confirmation = confirm(store, "--user-id", USER)
    arguments = ["history", "erase", "--user-id", USER, "--confirm", confirmation]
    with (tmp_path / "output").open("wb") as output:
        process = ForkedProcess(arguments, environ=store.environ, output=output, errors=output)
        try:
            while process.returncode is None and all(
                each.user_id for each in await read(database, environment.id, limit=100)
            ):
                pass
        finally:
            process.kill()
            await process.wait()
    done = history(store, "erase", "--user-id", USER, "--confirm", confirmation)
    assert done.returncode == 0, done.stderr
    assert {each.user_id for each in await read(database, environment.id, limit=100)} == {None}
