"""A full disk: writes are refused as in an outage, none is half done, and everything recovers when there is space."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, created, environment_path

_LONG = "x" * 10_000


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: a test cannot fill a PostgreSQL server's disk."""
    return sqlite_template


@asynccontextmanager
async def full_disk(flagstaff: Flagstaff) -> AsyncIterator[None]:
    """Limit the file to its current size with SQLite's own bound, so that writes fail as on a full disk."""
    async with flagstaff.database.transaction() as transaction:
        pages = await transaction.connection.scalar(sa.text("PRAGMA page_count"))
        await transaction.connection.execute(sa.text(f"PRAGMA max_page_count = {pages}"))
    yield
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(sa.text("PRAGMA max_page_count = 1073741823"))


async def test_a_write_that_has_no_room_is_503_and_changes_nothing(flagstaff: Flagstaff, ada: Caller) -> None:
    environment = await ada.get_environment(await ada.create_project())
    flags = f"{environment_path(environment)}/flags"
    async with full_disk(flagstaff):
        refused = [
            await ada.post(flags, json={"name": "Big", "key": f"big-{number}", "description": _LONG})
            for number in range(10)
        ]
        assert refused[-1].status_code == 503
        stored = [response.json()["key"] for response in refused if response.status_code == 201]
        assert sorted(flag["key"] for flag in (await ada.get(flags)).json()) == stored


async def test_when_there_is_room_again_writes_go_on(flagstaff: Flagstaff, ada: Caller) -> None:
    environment = await ada.get_environment(await ada.create_project())
    flags = f"{environment_path(environment)}/flags"
    async with full_disk(flagstaff):
        for number in range(10):
            await ada.post(flags, json={"name": "Big", "key": f"big-{number}", "description": _LONG})
    created(await ada.post(flags, json={"name": "After", "key": "after", "description": _LONG}))


async def test_evaluations_go_on_while_the_disk_is_full(flagstaff: Flagstaff, ada: Caller) -> None:
    project = await ada.create_project()
    await ada.create_flag(await ada.get_environment(project))
    async with full_disk(flagstaff):
        answer = await ada.evaluate(project["sdk_key"])
    assert answer.json()["flags"]["new-checkout"]["enabled"]
