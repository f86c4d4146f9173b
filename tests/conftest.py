"""Fixtures for every test. All of them are real: databases, servers, processes."""

import asyncio
import gc
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import fastapi  # noqa: F401 -- all of it: tests in one process serve the API as well as describe it
import pytest

from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from tests.support.clock import Clock
from tests.support.examples import register_profiles
from tests.support.memory import roomy_memory
from tests.support.postgres import PostgresServer
from tests.support.server import ServerProcess
from tests.support.statements import share_statements
from tests.support.stores import Store, make_postgresql_template, postgresql_store, sqlite_store

KINDS = ("sqlite", "postgresql")
HERE = Path(__file__).parent
# Folders of tests that start servers and wait for them, the longest waits first.
WAITING = (
    "processes",
    "cli",
    "upgrade",
    "sdks",
    "generated_clients",
    "faults",
    "exchange",
    "test_bench_smoke.py",
    "test_snippets.py",
)
BROWSERS = "e2e"
WEB = "web"
STORAGE = "storage"

# Imported and collected objects are never freed. Scanning them repeatedly takes a tenth of the processor time.
gc.disable()
_COLLECT_AFTER_ALLOCATIONS = 20_000

# HTTPX looks for this package, which nothing here uses, at every request to an application. Searching all package
# folders takes a tenth of such a request's processor time.
sys.modules.setdefault("sniffio", None)  # type: ignore[arg-type]

share_statements()

# SQLite waits for the disk at each commit, which takes longer than the commit.
if memory := roomy_memory():
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))

# The driver asks a server for TLS first, unless told otherwise: one more connection for each that a test opens.
os.environ.setdefault("PGSSLMODE", "disable")

register_profiles()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The choice to run every test on each database that it can have."""
    parser.addoption(
        "--both-databases", action="store_true", help="run all tests and all their cases on PostgreSQL too"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the second database where a test does not need it, and order the remaining tests.

    A test runs on both databases, but a test of the web only if it is marked `both_databases`. Most of these execute
    the same few statements again, for a check that is made before or after them and fails on SQLite as well. For the
    same reason, a test with several cases runs with the first of them on PostgreSQL, unless it is in `storage`, or
    marked `each_case_on_both_databases`. CONTRIBUTING.md says which ones need which mark.

    Tests that wait come first, so that other processes of the run can use the cores meanwhile.

    Each process of the run begins with its share of the tests, and takes over tests of others when it has none left.
    The tests with a browser take longest. They begin the second share, so that usually only one process runs them.
    """

    def room(item: pytest.Item) -> str:
        return item.path.relative_to(HERE).parts[0]

    def is_needless(item: pytest.Item) -> bool:
        if room(item) == WEB and item.get_closest_marker("both_databases") is None:
            return True
        if room(item) == STORAGE or item.get_closest_marker("each_case_on_both_databases") is not None:
            return False
        function = item.nodeid.partition("[")[0]
        is_later_case = function in on_postgresql
        on_postgresql.add(function)
        return is_later_case

    on_postgresql: set[str] = set()
    if not config.getoption("both_databases"):
        needless = {item for item in items if _is_on_postgresql(item) and is_needless(item)}
        config.hook.pytest_deselected(items=list(needless))
        items[:] = [item for item in items if item not in needless]

    def place(item: pytest.Item) -> int:
        return WAITING.index(room(item)) if room(item) in WAITING else len(WAITING)

    with_browser = [item for item in items if room(item) == BROWSERS]
    others = sorted((item for item in items if room(item) != BROWSERS), key=place)
    share = len(items) // int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    items[:] = [*others[:share], *with_browser, *others[share:]]


def _is_on_postgresql(item: pytest.Item) -> bool:
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    return parameters.get("template") == "postgres_template" or parameters.get("bare_server") == "postgres"


def pytest_collection_finish() -> None:
    """Exclude all objects that exist before the first test from garbage collection.

    They are not collected first: this takes more than half a second in each process of the run, and frees little.
    """
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER_ALLOCATIONS)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Exclude what is left after a module as well: libraries keep half a million objects after some modules.

    Tests that look for what blocks the event loop collect garbage first, which took ten times as long as the test.
    """
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    """The PostgreSQL server that the tests of this session share. Do not stop it; use `outage_postgres` for that."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def outage_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresServer]:
    """Another server with a migrated template, which tests may stop and start. Its databases are `outage_store`s."""
    with PostgresServer() as server:
        asyncio.run(make_postgresql_template(server, tmp_path_factory.mktemp("outage-template")))
        yield server


@pytest.fixture(scope="session")
def postgres_template(postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> PostgresServer:
    """The server with the migrated database that tests clone."""
    asyncio.run(make_postgresql_template(postgres, tmp_path_factory.mktemp("postgresql-template")))
    return postgres


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with migrated SQLite files that tests copy."""
    folder = tmp_path_factory.mktemp("sqlite-template")
    asyncio.run(migrate(None, folder))
    return folder


@pytest.fixture
def data_directory(tmp_path: Path) -> Path:
    """An empty data directory."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(params=["sqlite_template", "postgres_template"], ids=KINDS)
def template(request: pytest.FixtureRequest) -> Path | PostgresServer:
    """The template from which a store of each kind is cloned."""
    return request.getfixturevalue(request.param)


@pytest.fixture
async def store(template: Path | PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """A migrated, empty database of each kind."""
    if isinstance(template, Path):
        yield sqlite_store(template, data_directory)
        return
    async with postgresql_store(template, data_directory) as made:
        yield made


@pytest.fixture
async def outage_store(outage_postgres: PostgresServer, data_directory: Path) -> AsyncIterator[Store]:
    """A migrated, empty database on the server that may be stopped. The server is running when each test starts."""
    async with postgresql_store(outage_postgres, data_directory) as made:
        yield made
        outage_postgres.start()


@pytest.fixture(params=[None, "postgres"], ids=KINDS)
def bare_server(request: pytest.FixtureRequest) -> PostgresServer | None:
    """The server of each kind, if it has one."""
    return request.getfixturevalue(request.param) if request.param else None


@pytest.fixture
async def bare_store(bare_server: PostgresServer | None, data_directory: Path) -> AsyncIterator[Store]:
    """A database of each kind without tables."""
    if bare_server is None:
        yield Store(None, data_directory)
        return
    async with postgresql_store(bare_server, data_directory, template="template1") as made:
        yield made


@pytest.fixture
async def database(store: Store) -> AsyncIterator[Database]:
    """An open database of each kind, migrated and empty. Tasks and connections left over fail the test."""
    opened = Database(store.database_url, store.data_directory)
    yield opened
    busy = [engine for engine in set(opened._engines) if engine.pool.checkedout()]  # type: ignore[attr-defined]
    await opened.close()
    assert not busy, "a connection was not given back"
    left_over = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left_over, f"tasks were left over: {left_over}"


@pytest.fixture
def clock() -> Clock:
    """A clock that shows 2026-11-20T10:00:00Z until it is moved."""
    return Clock()


@pytest.fixture
async def server(store: Store) -> AsyncIterator[ServerProcess]:
    """A running `flagstaff serve` on a database of each kind."""
    async with ServerProcess(store) as process:
        yield process
