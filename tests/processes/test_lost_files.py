"""SQLite's files are missing, empty or damaged: evaluations continue, nothing is lost, and a line says what to do."""

import asyncio
import json
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from tests.support.api import Json, environment_path, flag_path
from tests.support.command import run_flagstaff
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

PAGE = 4096
ROLL_UP_RESTARTS = 'flagstaff_task_restarts_total{task="history-roll-up"}'
UNLIMITED = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off"}


@pytest.fixture(scope="module")
def used(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Json, Json]:
    """The folder that a server has left, with a project, a flag and recorded evaluations."""
    folder = tmp_path_factory.mktemp("used") / "data"
    return folder, *asyncio.run(set_up(sqlite_store(sqlite_template, folder)))


@pytest.fixture
def sqlite(used: tuple[Path, Json, Json], data_directory: Path) -> Store:
    return sqlite_store(used[0], data_directory)


@pytest.fixture
def project(used: tuple[Path, Json, Json]) -> Json:
    return used[1]


@pytest.fixture
def flag(used: tuple[Path, Json, Json]) -> Json:
    return used[2]


def remove(path: Path) -> None:
    for companion in path.parent.glob(f"{path.name}*"):
        companion.unlink()


def empty(path: Path) -> None:
    remove(path)
    path.touch()


def overwrite_header(path: Path) -> None:
    with path.open("r+b") as file:
        file.write(os.urandom(PAGE))


def overwrite_pages(path: Path) -> None:
    """Overwrite all pages except the first one, which has the header and the names of the tables."""
    with path.open("r+b") as file:
        file.seek(PAGE)
        file.write(os.urandom(path.stat().st_size - PAGE))


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix == ".sqlite"}


def last_line(*arguments: str, store: Store, **environ: str) -> str:
    """Return the last output line of a failing command."""
    outcome = run_flagstaff(
        *arguments, environ={**store.environ, "FLAGSTAFF_PORT": "0", **environ}, stdin="a long password\n"
    )
    assert outcome.returncode == 1, outcome.stdout
    assert "Traceback" not in outcome.stderr
    *logged, line = outcome.stderr.splitlines()
    assert all(entry.startswith("{") for entry in logged), outcome.stderr
    return line


def examine(store: Store) -> dict[str, Any]:
    """Return the findings of `flagstaff doctor`, which must fail."""
    outcome = run_flagstaff("doctor", "--json", environ=store.environ)
    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    return {finding["check"]: finding for finding in json.loads(outcome.stdout)}


@asynccontextmanager
async def serving(store: Store, **environ: str) -> AsyncIterator[tuple[ServerProcess, RemoteCaller]]:
    server = ServerProcess(store, {**UNLIMITED, **environ}, ready="/ready?for=evaluations")
    async with server, RemoteCaller(server.url) as caller:
        yield server, caller


async def set_up(store: Store) -> tuple[Json, Json]:
    """Create a project with a flag and recorded evaluations on a server, and stop it."""
    async with serving(store) as (server, caller):
        await caller.sign_up()
        project = await caller.create_project()
        flag = await caller.create_flag(await caller.get_environment(project))
        for number in range(300):
            await evaluate(caller, project, f"before-{number}")
        assert await server.stop() == 0
    return project, flag


async def evaluate(caller: RemoteCaller, project: Json, user: str) -> None:
    answer = await caller.evaluate(project["sdk_key"], context={"user_id": user})
    assert answer.status_code == 200, answer.text


async def recorded(caller: RemoteCaller, flag: Json) -> set[str]:
    environment = {"project_id": flag["project_id"], "id": flag["environment_id"]}
    found = await caller.get(f"{environment_path(environment)}/evaluations?limit=100")
    assert found.status_code == 200, found.text
    return {item["user_id"] for item in found.json()["items"]}


async def metrics(caller: RemoteCaller) -> dict[str, float]:
    lines = (await caller.get("/metrics")).text.splitlines()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if line.startswith("flagstaff_")}


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(30):
        while not await condition():
            await asyncio.sleep(0.05)


async def assert_nothing_is_dropped(caller: RemoteCaller, project: Json, *, users: int) -> None:
    """Assert that nothing is dropped while the history is unusable for longer than a refused batch is retried."""
    for number in range(users):
        await evaluate(caller, project, f"during-{number}")
    async with asyncio.timeout(30):  # the roll-up begins after five seconds
        while (found := await metrics(caller)).get(ROLL_UP_RESTARTS, 0) < 2:
            await asyncio.sleep(0.25)
    assert found["flagstaff_history_waiting"] == users
    assert found["flagstaff_history_dropped_total"] == 0
    assert found['flagstaff_store_up{store="history"}'] == 0
    assert found['flagstaff_store_up{store="configuration"}'] == 1


async def assert_a_new_history_takes_what_has_waited(store: Store, flag: Json, *, users: int) -> None:
    made = run_flagstaff("history", "new", environ=store.environ)
    assert made.returncode == 0, made.stderr
    async with serving(store) as (server, caller):
        await caller.log_in()

        async def is_recorded() -> bool:
            return await recorded(caller, flag) == {f"during-{number}" for number in range(users)}

        await until(is_recorded)
        assert (await caller.get("/ready")).status_code == 200
        assert await server.stop() == 0
    assert "is not damaged" in last_line("history", "new", store=store)


@pytest.mark.parametrize("lose", [remove, empty])
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_without_its_history_a_server_answers_evaluations_keeps_them_and_says_what_to_do(
    sqlite: Store, project: Json, flag: Json, lose: Callable[[Path], None], workers: str
) -> None:
    history = sqlite.data_directory / HISTORY_FILE
    lose(history)
    state = "missing" if lose is remove else "empty"

    assert examine(sqlite)["history"]["found"] == f"history.sqlite is {state}"
    async with serving(sqlite, FLAGSTAFF_WORKERS=workers) as (server, caller):
        await caller.log_in()
        await assert_nothing_is_dropped(caller, project, users=20)
        ready = await caller.get("/ready")
        assert ready.status_code == 503
        assert f"history.sqlite is {state}" in ready.json()["detail"]
        assert "flagstaff history new" in ready.json()["detail"]
        assert ready.json()["works"] == {"evaluations": True, "writes": True, "history": False}
        assert (await caller.get("/ready?for=writes")).status_code == 200
        assert (await caller.get("/ready?for=history")).status_code == 503
        page = await caller.get(f"{environment_path({**flag, 'id': flag['environment_id']})}/evaluations")
        assert (page.status_code, "flagstaff history new" in page.json()["detail"]) == (503, True)
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        assert "already serves" in last_line("history", "new", store=sqlite)
        assert examine(sqlite)["history"]["status"] == "FAIL"
        assert history.exists() is (lose is empty), "a new file hides that the history is gone"
        assert await server.stop() == 0
        assert '"history_unusable"' in server.log
        assert "Traceback" not in server.log
    await assert_a_new_history_takes_what_has_waited(sqlite, flag, users=20)


@pytest.mark.parametrize("lose", [remove, empty])
async def test_a_configuration_that_is_gone_beside_a_history_is_never_made_anew(
    sqlite: Store, lose: Callable[[Path], None]
) -> None:
    backup = sqlite.data_directory.parent / "backup.tar"
    assert run_flagstaff("backup", str(backup), environ=sqlite.environ).returncode == 0
    lose(sqlite.data_directory / CONFIGURATION_FILE)
    before = contents(sqlite.data_directory)
    state = "missing" if lose is remove else "empty"

    for arguments, environ in (
        (["serve"], {}),
        (["serve"], {"FLAGSTAFF_WORKERS": "2"}),
        (["migrate"], {}),
        (["users", "create", "eve@example.com", "--password-stdin"], {}),
        (["history", "new"], {}),
    ):
        line = last_line(*arguments, store=sqlite, **environ)
        assert f"flagstaff.sqlite is {state}, but there is a history" in line
        assert "flagstaff restore FILE" in line
    found = examine(sqlite)["database"]
    assert (found["status"], f"is {state}, but there is a history" in found["found"]) == ("FAIL", True)
    assert contents(sqlite.data_directory) == before

    for path in sqlite.data_directory.glob(f"{HISTORY_FILE}*"):  # the action that the line recommends
        path.rename(sqlite.data_directory.parent / path.name)
    assert run_flagstaff("restore", str(backup), environ=sqlite.environ).returncode == 0
    async with serving(sqlite) as (_, caller):
        await caller.log_in()
        assert (await caller.get("/ready")).status_code == 200


@pytest.mark.parametrize("has_history", [True, False])
@pytest.mark.parametrize("revision", [None, "4f2a"])
async def test_another_programs_file_is_never_taken_for_the_configuration(
    sqlite: Store, has_history: bool, revision: str | None
) -> None:
    remove(sqlite.data_directory / CONFIGURATION_FILE)
    if not has_history:
        remove(sqlite.data_directory / HISTORY_FILE)
    with closing(sqlite3.connect(sqlite.data_directory / CONFIGURATION_FILE)) as other, other:
        other.execute("CREATE TABLE songs (title TEXT)")
        if revision is not None:
            other.execute("CREATE TABLE alembic_version (version_num TEXT)")
            other.execute("INSERT INTO alembic_version VALUES (?)", (revision,))
    before = contents(sqlite.data_directory)
    for command in (["serve"], ["migrate"], ["history", "new"]):
        line = last_line(*command, store=sqlite)
        assert "flagstaff.sqlite is not a database of Flagstaff" in line
        assert "flagstaff restore FILE" in line
    assert "is not a database of Flagstaff" in examine(sqlite)["database"]["found"]
    assert contents(sqlite.data_directory) == before


@pytest.mark.parametrize("damage", [overwrite_header, overwrite_pages])
async def test_a_damaged_history_is_told_and_evaluations_wait_until_it_is_set_aside(
    sqlite: Store, project: Json, flag: Json, damage: Callable[[Path], None]
) -> None:
    damage(sqlite.data_directory / HISTORY_FILE)
    assert examine(sqlite)["history"]["status"] == "FAIL"

    async with serving(sqlite) as (server, caller):
        await caller.log_in()
        await assert_nothing_is_dropped(caller, project, users=20)
        ready = await caller.get("/ready")
        assert ready.status_code == 503
        assert "history.sqlite is damaged" in ready.json()["detail"]
        assert "flagstaff history new" in ready.json()["detail"]
        assert ready.json()["works"] == {"evaluations": True, "writes": True, "history": False}
        assert await server.stop() == 0
        assert "history_unusable" in server.log or "database_damaged" in server.log
    await assert_a_new_history_takes_what_has_waited(sqlite, flag, users=20)
    assert [*sqlite.data_directory.glob("history-2*.sqlite")], "the damaged file is kept"


async def test_a_page_of_the_history_that_is_damaged_while_the_server_runs_is_told(
    sqlite: Store, project: Json, flag: Json
) -> None:
    async with serving(sqlite) as (server, caller):
        await caller.log_in()
        assert (await caller.get("/ready")).status_code == 200
        overwrite_pages(sqlite.data_directory / HISTORY_FILE)
        await assert_nothing_is_dropped(caller, project, users=20)

        async def is_told() -> bool:
            return (await caller.get("/ready?for=history")).status_code == 503

        await until(is_told)
        assert await server.stop() == 0
        assert server.log.count('"database_damaged"') == 1
    await assert_a_new_history_takes_what_has_waited(sqlite, flag, users=20)


async def test_a_damaged_configuration_stops_a_start_with_one_line(sqlite: Store) -> None:
    overwrite_header(sqlite.data_directory / CONFIGURATION_FILE)
    for environ in ({}, {"FLAGSTAFF_WORKERS": "2"}):
        line = last_line("serve", store=sqlite, **environ)
        assert "flagstaff.sqlite is damaged" in line
        assert "flagstaff restore FILE" in line
    assert examine(sqlite)["database"]["status"] == "FAIL"


async def test_a_configuration_that_is_damaged_while_the_server_runs_refuses_changes_and_is_told(
    sqlite: Store, project: Json, flag: Json
) -> None:
    async with serving(sqlite) as (server, caller):
        await caller.log_in()
        await evaluate(caller, project, "ada")
        overwrite_pages(sqlite.data_directory / CONFIGURATION_FILE)

        async def is_refused() -> bool:
            return (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 503

        await until(is_refused)
        await evaluate(caller, project, "ada")

        async def is_told() -> bool:
            return (await caller.get("/ready")).status_code == 503

        await until(is_told)
        ready = (await caller.get("/ready")).json()
        assert "flagstaff.sqlite is damaged" in ready["detail"]
        assert ready["works"]["evaluations"]
        assert not ready["works"]["writes"]
        assert (await metrics(caller))['flagstaff_store_up{store="configuration"}'] == 0
        assert await server.stop() == 0
        assert "Traceback" not in server.log


def rename_table(path: Path, name: str, other: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(f"ALTER TABLE {name} RENAME TO {other}")


async def test_a_start_without_a_table_of_the_configuration_is_not_ready_and_says_which_is_missing(
    sqlite: Store, project: Json, flag: Json
) -> None:
    configuration = sqlite.data_directory / CONFIGURATION_FILE
    rename_table(configuration, "rules", "rules_gone")
    async with serving(sqlite) as (server, caller):
        await caller.log_in()
        refused = await caller.evaluate(project["sdk_key"], context={"user_id": "ada"})
        assert (refused.status_code, "lacks tables of the configuration" in refused.text) == (503, True)
        assert (await caller.get(f"{flag_path(flag)}/rules")).status_code == 503
        ready = await caller.get("/ready")
        assert ready.status_code == 503
        assert "rules does not exist" in ready.json()["detail"]
        assert "Restore a backup" in ready.json()["detail"]
        assert not ready.json()["works"]["writes"]
        assert (await metrics(caller))['flagstaff_store_up{store="configuration"}'] == 0

        rename_table(configuration, "rules_gone", "rules")

        async def is_ready() -> bool:
            return (await caller.get("/ready")).status_code == 200

        await until(is_ready)
        await evaluate(caller, project, "ada")
        assert await server.stop() == 0
    assert '"database_incomplete"' in server.log
    assert "Traceback" not in server.log


async def test_without_a_table_of_the_history_evaluations_wait_until_it_is_back(
    sqlite: Store, project: Json, flag: Json
) -> None:
    history = sqlite.data_directory / HISTORY_FILE
    rename_table(history, "segments", "segments_gone")
    async with serving(sqlite) as (server, caller):
        await caller.log_in()
        await assert_nothing_is_dropped(caller, project, users=20)
        ready = await caller.get("/ready")
        assert "lacks tables of the history" in ready.json()["detail"]
        assert ready.json()["works"] == {"evaluations": True, "writes": True, "history": False}

        rename_table(history, "segments_gone", "segments")

        async def is_recorded() -> bool:
            return {f"during-{number}" for number in range(20)} <= await recorded(caller, flag)

        async def is_ready() -> bool:
            return (await caller.get("/ready")).status_code == 200

        await until(is_ready)
        await until(is_recorded)
        assert await server.stop() == 0
    assert "Traceback" not in server.log
