"""SQLite's write-ahead log is deleted or replaced: everything tells, and no confirmed change is lost unnoticed."""

import asyncio
import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from tests.support.api import Json, environment_path, flag_path
from tests.support.command import run_flagstaff
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store


@pytest.fixture
def sqlite(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


def beside(store: Store, ending: str, file: str = CONFIGURATION_FILE) -> Path:
    return store.data_directory / f"{file}{ending}"


def delete_log(store: Store, file: str = CONFIGURATION_FILE) -> None:
    beside(store, "-wal", file).unlink()
    beside(store, "-shm", file).unlink()


def delete_index(store: Store) -> None:
    beside(store, "-shm").unlink()


def replace_log(store: Store) -> None:
    log = beside(store, "-wal")
    copy = log.with_name("copy")
    copy.write_bytes(log.read_bytes())
    copy.rename(log)


@contextmanager
def earlier_state(path: Path) -> Iterator[None]:
    """Read a file as it is now, so that what is committed later stays in its log."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, isolation_level=None)) as connection:
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        yield


def examine(store: Store) -> dict[str, Any]:
    outcome = run_flagstaff("doctor", "--json", environ=store.environ)
    return {finding["check"]: finding for finding in json.loads(outcome.stdout)}


def back_up(store: Store, name: str, *options: str) -> str | None:
    """Return the last line of a backup that was refused; None if there is one."""
    path = store.data_directory.parent / name
    outcome = run_flagstaff("backup", str(path), *options, environ=store.environ)
    assert path.exists() is (outcome.returncode == 0), outcome.stderr
    return outcome.stderr.splitlines()[-1] if outcome.returncode else None


def last_line(*arguments: str, store: Store, **environ: str) -> str:
    """Return the last output line of a failing command."""
    outcome = run_flagstaff(*arguments, environ={**store.environ, "FLAGSTAFF_PORT": "0", **environ}, stdin="password\n")
    assert outcome.returncode == 1, outcome.stdout
    assert "Traceback" not in outcome.stderr
    return outcome.stderr.splitlines()[-1]


async def until(condition: Callable[[], Any]) -> None:
    async with asyncio.timeout(30):
        while not await condition():
            await asyncio.sleep(0.05)


async def until_not_ready(caller: RemoteCaller) -> Json:
    """Return the first answer of /ready that tells a problem: an answer is given again for a second."""

    async def is_told() -> bool:
        return (await caller.get("/ready")).status_code == 503

    await until(is_told)
    answer: Json = (await caller.get("/ready")).json()
    return answer


async def lose_confirmed_changes(store: Store) -> Json:
    """Confirm a flag, kill the server, and delete the log with it; return the flag."""
    async with ServerProcess(store) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        environment = await caller.get_environment(await caller.create_project())
        assert await server.stop() == 0
        await server.start()
        await caller.log_in()
        with earlier_state(beside(store, "")):
            flag = await caller.create_flag(environment)
            await server.kill()
            delete_log(store)
    return flag


async def lose_confirmed_evaluations(store: Store) -> tuple[Json, Json]:
    """Do the same with evaluations in the history; return their project and environment."""
    async with ServerProcess(store) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        project = await caller.create_project()
        environment = await caller.get_environment(project)
        with earlier_state(beside(store, "", HISTORY_FILE)):
            assert (await caller.evaluate(project["sdk_key"], context={"user_id": "lost"})).status_code == 200
            await until(lambda: are_recorded(caller, environment, {"lost"}))
            await server.kill()
            delete_log(store, HISTORY_FILE)
    return project, environment


async def are_recorded(caller: RemoteCaller, environment: Json, users: set[str]) -> bool:
    found = await caller.get(f"{environment_path(environment)}/evaluations?limit=100")
    return found.status_code == 200 and {item["user_id"] for item in found.json()["items"]} == users


@pytest.mark.parametrize("lose", [delete_log, delete_index, replace_log])
@pytest.mark.parametrize("workers", ["1", "2"])
async def test_a_log_that_is_lost_under_a_server_is_told_everywhere_and_loses_nothing(
    sqlite: Store, lose: Callable[[Store], None], workers: str
) -> None:
    name = "flagstaff.sqlite-shm" if lose is delete_index else "flagstaff.sqlite-wal"
    async with ServerProcess(sqlite, {"FLAGSTAFF_WORKERS": workers}) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        flag = await caller.create_flag()
        assert back_up(sqlite, "before.tar") is None
        lose(sqlite)

        refused = await caller.post(f"{flag_path(flag)}/toggle")
        assert (refused.status_code, f"{name} was deleted or replaced" in refused.json()["detail"]) == (503, True)
        assert refused.headers["retry-after"]
        ready = await until_not_ready(caller)
        assert f"{name} was deleted or replaced" in ready["detail"]
        assert ready["works"] == {"evaluations": True, "writes": False, "history": True}
        found = examine(sqlite)["database"]
        assert (found["status"], name in found["found"], "start it again" in found["advice"]) == ("FAIL", True, True)
        assert name in (back_up(sqlite, "during.tar") or "")
        assert name in last_line("users", "create", "eve@example.com", "--password-stdin", store=sqlite)
        if lose is not replace_log:
            assert not beside(sqlite, "-shm").exists(), "another log beside that of the server would hide the loss"

        async def is_stored() -> bool:
            """Look into a copy of the file alone, so that it gets no log here."""
            copy = sqlite.data_directory.parent / "copy.sqlite"
            copy.write_bytes(beside(sqlite, "").read_bytes())
            with closing(sqlite3.connect(copy)) as file:
                return [*file.execute("SELECT key FROM flags")] == [(flag["key"],)]

        async def is_measured() -> bool:
            return 'flagstaff_store_up{store="configuration"} 0' in (await caller.get("/metrics")).text

        await until(is_stored)
        await until(is_measured)
        if workers == "1":
            await server.kill()
        else:  # workers whose parent is killed end a moment later
            assert await server.stop() == 0
        assert '"database_file_replaced"' in server.log
        await server.start()
        await caller.log_in()
        assert (await caller.get(flag_path(flag))).status_code == 200
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        assert examine(sqlite)["database"]["status"] == "OK"
        assert back_up(sqlite, "after.tar") is None


async def test_a_lost_log_of_the_history_is_told_while_changes_go_on(sqlite: Store) -> None:
    async with ServerProcess(sqlite) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        flag = await caller.create_flag()
        delete_log(sqlite, HISTORY_FILE)
        ready = await until_not_ready(caller)
        assert "history.sqlite-wal was deleted or replaced" in ready["detail"]
        assert ready["works"] == {"evaluations": True, "writes": True, "history": False}
        assert (await caller.post(f"{flag_path(flag)}/toggle")).status_code == 200
        assert "history.sqlite-wal" in (back_up(sqlite, "during.tar") or "")


async def test_a_start_without_the_log_of_confirmed_changes_is_refused_until_their_loss_is_accepted(
    sqlite: Store,
) -> None:
    flag = await lose_confirmed_changes(sqlite)
    for arguments, environ in (
        (["serve"], {}),
        (["serve"], {"FLAGSTAFF_WORKERS": "2"}),
        (["migrate"], {}),
        (["users", "create", "eve@example.com", "--password-stdin"], {}),
    ):
        line = last_line(*arguments, store=sqlite, **environ)
        assert "flagstaff.sqlite lacks the last" in line
        assert "flagstaff serve --accept-loss" in line
    found = examine(sqlite)["database"]
    assert (found["status"], "lacks the last" in found["found"]) == ("FAIL", True)
    assert "--accept-loss" in found["advice"]
    assert "flagstaff.sqlite lacks the last" in (back_up(sqlite, "without.tar") or "")

    async with ServerProcess(sqlite, options=["--accept-loss"]) as server, RemoteCaller(server.url) as caller:
        assert '"loss_accepted"' in server.log
        await caller.log_in()
        assert (await caller.get(flag_path(flag))).status_code == 404
        assert (await caller.get("/ready")).status_code == 200
        assert await server.stop() == 0
    async with ServerProcess(sqlite) as server, RemoteCaller(server.url) as caller:
        assert '"loss_accepted"' not in server.log.rpartition('"stopped"')[2]
        assert examine(sqlite)["database"]["status"] == "OK"
        assert back_up(sqlite, "with.tar") is None


async def test_after_a_loss_a_backup_can_be_restored(sqlite: Store) -> None:
    backup = sqlite.data_directory.parent / "before.tar"
    assert back_up(sqlite, backup.name) is None
    await lose_confirmed_changes(sqlite)
    assert run_flagstaff("restore", "--replace", str(backup), environ=sqlite.environ).returncode == 0
    async with ServerProcess(sqlite) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()


async def test_a_log_that_another_program_has_moved_to_its_file_after_a_kill_is_not_missed(sqlite: Store) -> None:
    async with ServerProcess(sqlite) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        flag = await caller.create_flag()
        await server.kill()
        with closing(sqlite3.connect(beside(sqlite, ""))) as other:
            other.execute("SELECT count(*) FROM flags")
        assert not beside(sqlite, "-wal").exists()
        await server.start()
        await caller.log_in()
        assert (await caller.get(flag_path(flag))).status_code == 200


async def test_without_the_log_of_its_history_a_server_keeps_evaluations_until_the_loss_is_accepted(
    sqlite: Store,
) -> None:
    project, environment = await lose_confirmed_evaluations(sqlite)
    assert "lacks the last" in examine(sqlite)["history"]["found"]
    assert "history.sqlite lacks the last" in (back_up(sqlite, "all.tar") or "")
    assert back_up(sqlite, "configuration.tar", "--without-history") is None
    async with (
        ServerProcess(sqlite, ready="/ready?for=evaluations") as server,
        RemoteCaller(server.url) as caller,
    ):
        assert (await caller.evaluate(project["sdk_key"], context={"user_id": "kept"})).status_code == 200
        ready = await caller.get("/ready")
        assert ready.json()["works"] == {"evaluations": True, "writes": True, "history": False}
        assert "history.sqlite lacks the last" in ready.json()["detail"]
        assert await server.stop() == 0
    async with ServerProcess(sqlite, options=["--accept-loss"]) as server, RemoteCaller(server.url) as caller:
        await caller.log_in()
        await until(lambda: are_recorded(caller, environment, {"kept"}))


async def test_a_power_failure_that_takes_the_end_of_the_history_is_no_loss_that_is_told(sqlite: Store) -> None:
    await lose_confirmed_evaluations(sqlite)
    noted = sqlite.data_directory / "commits" / HISTORY_FILE
    number, boot_id = noted.read_text().split()
    noted.write_text(f"{number} {boot_id[::-1]}\n")
    async with ServerProcess(sqlite) as server, RemoteCaller(server.url) as caller:
        assert (await caller.get("/ready")).status_code == 200


async def test_changes_leave_the_log_within_seconds(sqlite: Store) -> None:
    async with ServerProcess(sqlite) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        with earlier_state(beside(sqlite, "")):
            await caller.create_flag()

            async def is_waiting() -> bool:
                return await waiting_bytes(caller) > 0

            await until(is_waiting)

        async def is_empty() -> bool:
            return await waiting_bytes(caller) == 0

        await until(is_empty)


async def waiting_bytes(caller: RemoteCaller) -> float:
    lines = (await caller.get("/metrics")).text.splitlines()
    (line,) = (each for each in lines if each.startswith('flagstaff_log_bytes{store="configuration"}'))
    return float(line.rpartition(" ")[2])
