"""`flagstaff backup`, `restore` and `copy` as processes: with a server under load, killed, and on a full disk."""

import asyncio
import os
import resource
import signal
import tarfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import asyncpg
import pytest

from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from tests.support.builders import store_environment
from tests.support.command import run_flagstaff
from tests.support.contents import contents, fill_every_table
from tests.support.forks import ForkedProcess
from tests.support.history import make_batch, make_layout, make_record, write
from tests.support.postgres import PostgresServer
from tests.support.remote import Load, RemoteCaller, under_load
from tests.support.server import ServerProcess
from tests.support.stores import Store, postgresql_store

UNLIMITED = {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}
UNSAVED_SECONDS = 1.0  # how long an evaluation may take to reach the history


@pytest.fixture
async def target(store: Store, postgres: PostgresServer, tmp_path: Path) -> AsyncIterator[Store]:
    """An empty database of the other kind than `store`."""
    folder = tmp_path / "restored" / "data"
    folder.mkdir(mode=0o700, parents=True)
    if store.database_url is not None:
        yield Store(None, folder)
        return
    async with postgresql_store(postgres, folder, template="template1") as made:
        yield made


async def fill_history(store: Store) -> None:
    """Enough history that reading or writing it takes a while."""
    layout = make_layout()
    database = Database(store.database_url, store.data_directory)
    environment = await store_environment(database)
    for start in range(0, 20_000, 2_000):
        records = [make_record(second, os.urandom(100).hex()) for second in range(start, start + 2_000)]
        await write(database, make_batch(environment.id, layout, *records))
    await database.close()


@contextmanager
def launched(*arguments: str, store: Store) -> Iterator[ForkedProcess]:
    """A command to interrupt."""
    environ = {"PATH": os.environ["PATH"], **store.environ}
    with Path(os.devnull).open("wb") as output:
        process = ForkedProcess(arguments, environ=environ, output=output, errors=output)
    try:
        yield process
    finally:
        process.kill()


async def until(condition: Callable[[], Awaitable[bool]], process: ForkedProcess) -> None:
    """Wait until the output of a process meets a condition."""
    async with asyncio.timeout(120):
        while not await condition():
            assert process.returncode is None, "it ended too soon"
            await asyncio.sleep(0.001)


def has_content(folder: Path, pattern: str) -> bool:
    """Return whether a file has content."""
    return any(path.stat().st_size for path in folder.glob(pattern))


async def serve_and_check(store: Store, load: Load, token: str, began: float) -> None:
    """Assert that the API and evaluate of a server on a store return everything acknowledged before `began`."""
    async with ServerProcess(store, UNLIMITED) as server, RemoteCaller(server.url) as caller:
        caller.headers["authorization"] = token  # the store is signed with the secret key of the backup
        await load.assert_writes_are_there(caller)
        safe = {user for user, answered in load.evaluated.items() if answered < began - UNSAVED_SECONDS}
        assert safe
        assert not safe - await load.recorded_users(caller)
        assert (await caller.evaluate(load.project["sdk_key"])).status_code == 200
        await caller.create_flag(load.environment, key="after-all")


async def test_a_backup_beside_a_server_under_load_holds_what_was_answered_before_it(
    store: Store, target: Store, tmp_path: Path
) -> None:
    path = tmp_path / "backup.tar"
    async with ServerProcess(store, UNLIMITED) as server, RemoteCaller(server.url) as caller:
        await caller.sign_up()
        async with under_load(caller) as load:
            start = time.monotonic()
            await load.until_well_under_way()
            await load.until(lambda: time.monotonic() - start > 2 * UNSAVED_SECONDS)
            began, created, toggles = time.monotonic(), list(load.created_keys), list(load.toggles)
            made = await asyncio.to_thread(run_flagstaff, "backup", str(path), environ=store.environ)
            assert made.returncode == 0, made.stderr
            await load.until_well_under_way()
        assert set(load.statuses["manage"]) <= {200, 201}
        assert set(load.statuses["evaluate"]) == {200}
        token = caller.headers["authorization"]
    assert made.stdout.startswith(f"Wrote {path}: ")
    assert path.stat().st_mode & 0o777 == 0o600
    restored = run_flagstaff("restore", str(path), environ=target.environ)
    assert restored.returncode == 0, restored.stderr
    assert (target.data_directory / "secret-key").stat().st_mode & 0o777 == 0o600
    load.created_keys, load.toggles = created, toggles
    await serve_and_check(target, load, token, began)


async def test_nothing_is_restored_while_a_server_runs(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "backup.tar"
    async with ServerProcess(store):
        assert run_flagstaff("backup", str(path), environ=store.environ).returncode == 0
        refused = run_flagstaff("restore", str(path), "--replace", environ=store.environ)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert len(refused.stderr.splitlines()) == 1
    assert "already serves" in refused.stderr or "Flagstaff is running on this database" in refused.stderr


async def test_a_copy_goes_to_a_new_database_and_refuses_the_next_time(store: Store, target: Store) -> None:
    await fill_every_table(store)
    to = target.database_url or str(target.data_directory)
    copied = run_flagstaff("copy", "--to", to, environ=store.environ)
    assert copied.returncode == 0, copied.stderr
    assert copied.stdout.startswith("Copied ")
    assert await contents(target) == await contents(store)
    refused = run_flagstaff("copy", "--to", to, environ=store.environ)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.startswith("flagstaff: The database is not empty")
    assert await contents(target) == await contents(store)


@pytest.mark.parametrize(
    ("to", "reason"),
    [
        ("mysql://host/name", "must be a valid URL"),
        ("sqlite:///file", "for a data directory, give its path"),
        ("postgresql://nobody@127.0.0.1:1/none", "cannot be reached"),
    ],
)
def test_a_copy_to_an_invalid_target_is_refused(store: Store, to: str, reason: str) -> None:
    refused = run_flagstaff("copy", "--to", to, environ=store.environ)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert reason in refused.stderr.splitlines()[-1]


def test_a_copy_onto_itself_is_refused(store: Store) -> None:
    refused = run_flagstaff("copy", "--to", store.database_url or str(store.data_directory), environ=store.environ)
    assert refused.returncode == 1
    assert "to copy from" in refused.stderr


async def test_a_postgresql_database_that_does_not_exist_is_one_clear_line(
    store: Store, postgres: PostgresServer
) -> None:
    refused = run_flagstaff("copy", "--to", postgres.url("not_there"), environ=store.environ)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert 'database \\"not_there\\" does not exist' in refused.stderr
    assert "Traceback" not in refused.stderr


def test_a_file_that_exists_is_not_overwritten(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "backup.tar"
    path.write_text("precious")
    refused = run_flagstaff("backup", str(path), environ=store.environ)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "exists already" in refused.stderr
    assert path.read_text() == "precious"


def test_a_folder_that_does_not_exist_is_refused(store: Store, tmp_path: Path) -> None:
    refused = run_flagstaff("backup", str(tmp_path / "nowhere" / "backup.tar"), environ=store.environ)
    assert refused.returncode == 1
    assert refused.stderr.endswith("backup.tar cannot be written: No such file or directory.\n")


async def test_without_room_no_backup_is_left(store: Store, tmp_path: Path) -> None:
    await fill_history(store)
    folder = tmp_path / "full"
    folder.mkdir()
    # Beyond this size the kernel refuses writes, as it does on a full disk.
    bounds = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024 * 1024, bounds[1]))
    try:
        refused = run_flagstaff("backup", str(folder / "backup.tar"), environ=store.environ)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, bounds)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr == f"flagstaff: The backup {folder / 'backup.tar'} cannot be written: File too large.\n"
    assert not list(folder.iterdir())


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
async def test_a_backup_that_is_ended_leaves_no_half_of_one(
    store: Store, tmp_path: Path, number: signal.Signals
) -> None:
    await fill_history(store)
    folder = tmp_path / "backups"
    folder.mkdir()

    async def has_begun() -> bool:
        return has_content(folder, "*.unfinished")

    with launched("backup", str(folder / "backup.tar"), store=store) as process:
        await until(has_begun, process)
        process.send_signal(number)
        assert process.wait_blocking(60) != 0
    left = [path.name for path in folder.iterdir()]
    assert "backup.tar" not in left
    assert not left or number is signal.SIGKILL


async def test_a_restore_that_is_killed_has_changed_nothing_and_can_be_repeated(
    store: Store, target: Store, tmp_path: Path
) -> None:
    path = tmp_path / "backup.tar"
    await fill_history(store)
    assert run_flagstaff("backup", str(path), environ=store.environ).returncode == 0
    await migrate(target.database_url, target.data_directory)
    await fill_every_table(target)
    before = await contents(target)
    async with watching_writes(target) as is_being_written:
        with launched("restore", str(path), "--replace", store=target) as process:
            await until(is_being_written, process)
            process.kill()
            assert process.wait_blocking(60) != 0
    assert await contents(target) == before
    again = run_flagstaff("restore", str(path), "--replace", environ=target.environ)
    assert again.returncode == 0, again.stderr
    assert await contents(target) == await contents(store)


@asynccontextmanager
async def watching_writes(store: Store) -> AsyncIterator[Callable[[], Awaitable[bool]]]:
    """A function that returns whether a transaction has reached the history."""

    async def has_journal() -> bool:
        return has_content(store.data_directory, "history.sqlite-journal")

    if store.database_url is None:
        yield has_journal
        return
    connection = await asyncpg.connect(store.database_url)  # a restore refuses only connections with our name

    async def has_inserts() -> bool:
        query = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'INSERT INTO history.segments%'"
        return bool(await connection.fetchval(query))

    try:
        yield has_inserts
    finally:
        await connection.close()


def test_the_history_can_be_left_out(store: Store, target: Store, tmp_path: Path) -> None:
    asyncio.run(fill_every_table(store))
    path = tmp_path / "backup.tar"
    assert run_flagstaff("backup", str(path), "--without-history", environ=store.environ).returncode == 0
    with tarfile.open(path) as tar:
        assert not [name for name in tar.getnames() if name.startswith("history.")]
    restored = run_flagstaff("restore", str(path), environ=target.environ)
    assert restored.returncode == 0, restored.stderr
    assert "without the evaluation history" in restored.stdout
    found = asyncio.run(contents(target))
    assert found["accounts"]
    assert not found["history.segments"]
