"""Databases of development builds before 1.0: the last of their revisions is taken over, the others are refused."""

from pathlib import Path

import pytest

from flagstaff.database.backup.dump import open_dump
from flagstaff.database.backup.forms import Row
from flagstaff.database.database import Database
from flagstaff.database.development_builds import LAST_REVISION, UNREAD
from flagstaff.database.migrate import migrate
from flagstaff.database.new_history import begin_new_history
from flagstaff.database.schema_state import FIRST, current_revision, is_supported, known_revisions
from flagstaff.database.sqlite.files import HISTORY_FILE, State, inspect_files
from flagstaff.values.errors import Code, Error
from tests.support.builders import AT
from tests.support.contents import contents, fill_every_table
from tests.support.development_builds import forget_later_revisions, make_earlier, version_of
from tests.support.next_revision import next_revision
from tests.support.schemas import read_schema, run_on
from tests.support.stores import Store, sqlite_store

OLDER = ["0001", "0022", "0055"]
SENTENCE = (
    r"^The data are at revision {}, which only development builds before 1\.0 had: migrate them to revision "
    rf"{LAST_REVISION} with the last of these builds first\. Nothing was changed\.$"
)


NOTHING_UNREAD: dict[str, list[Row]] = {table: [] for table in UNREAD}


async def migrate_store(store: Store, revision: str = "head") -> list[str]:
    return await migrate(store.database_url, store.data_directory, revision)


@pytest.mark.parametrize("revision", OLDER)
async def test_a_database_of_an_older_revision_is_refused_and_left_alone(
    database: Database, store: Store, revision: str
) -> None:
    await fill_every_table(store)
    await forget_later_revisions(store)
    before = await contents(store)
    await make_earlier(store, revision)
    assert not await is_supported(database)
    for wanted in ("head", "base", FIRST):
        with pytest.raises(Error, match=SENTENCE.format(revision)) as refusal:
            await migrate_store(store, wanted)
        assert refusal.value.code is Code.CONFLICT
    with pytest.raises(Error, match=SENTENCE.format(revision)):
        async with open_dump(store.database_url, store.data_directory):
            pass
    assert (await version_of(store))[0] == revision
    await make_earlier(store)
    await migrate_store(store)
    assert await contents(store) == before | NOTHING_UNREAD


async def test_a_database_of_the_last_revision_keeps_its_rows_and_is_then_as_a_new_one(
    database: Database, store: Store
) -> None:
    await fill_every_table(store)
    await forget_later_revisions(store)
    before, schema = await contents(store), await run_on(store, read_schema)
    await make_earlier(store)
    assert not await is_supported(database)
    with pytest.raises(Error, match=rf"at revision {LAST_REVISION}, but .* run `flagstaff migrate` first"):
        await contents(store)
    assert await migrate_store(store) == known_revisions()
    assert await is_supported(database)
    assert await version_of(store) == (known_revisions()[-1], FIRST)
    assert await contents(store) == before | NOTHING_UNREAD
    assert await run_on(store, read_schema) == schema
    assert await migrate_store(store) == []


async def test_a_later_version_takes_it_over_as_well(database: Database, store: Store, tmp_path: Path) -> None:
    await make_earlier(store)
    with next_revision(tmp_path) as revision:
        assert await migrate_store(store) == [*known_revisions()[:-1], revision]
        assert await current_revision(database) == revision


async def test_a_history_of_the_last_revision_that_was_lost_is_made_anew(
    sqlite_template: Path, data_directory: Path
) -> None:
    store = sqlite_store(sqlite_template, data_directory)
    await make_earlier(store)
    (data_directory / HISTORY_FILE).unlink()
    assert await begin_new_history(data_directory, AT) is None
    assert inspect_files(data_directory).history is State.FILLED
    assert await migrate_store(store) == known_revisions()
