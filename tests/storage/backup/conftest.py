"""The sources and targets of backups: a full and an empty database of each kind."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from flagstaff.database.backup.dump import open_dump
from flagstaff.database.backup.writing import open_writer, write_backup
from tests.conftest import KINDS
from tests.support.contents import fill_every_table
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, postgresql_store

BackUp = Callable[[Store], Awaitable[Path]]


def nobody(what: str, steps: int) -> None:
    """Ignores progress reports."""


@pytest.fixture
async def full(store: Store) -> Store:
    """A database with rows in every table."""
    await fill_every_table(store)
    return store


@pytest.fixture(params=[None, "postgres"], ids=[f"to_{kind}" for kind in KINDS])
def target_server(request: pytest.FixtureRequest) -> PostgresServer | None:
    """The server of each kind of target."""
    return request.getfixturevalue(request.param) if request.param else None


@pytest.fixture
async def target(target_server: PostgresServer | None, tmp_path: Path) -> AsyncIterator[Store]:
    """A database of each kind without a table."""
    folder = tmp_path / "target"
    folder.mkdir(mode=0o700)
    if target_server is None:
        yield Store(None, folder)
        return
    async with postgresql_store(target_server, folder, template="template1") as made:
        yield made


@pytest.fixture
def back_up(tmp_path: Path) -> BackUp:
    """Write a backup of a store and return its path."""

    async def back_up(store: Store) -> Path:
        path = tmp_path / "backup.tar"
        with open_writer(path) as writer:
            async with open_dump(store.database_url, store.data_directory) as dump:
                await write_backup(dump, writer, database="any", history=True, secret_key="k" * 40, progress=nobody)
        return path

    return back_up
