"""What the server does to the database before it starts workers."""

from pathlib import Path

from flagstaff.assembly.migrating import prepare
from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from flagstaff.settings import Settings


async def test_workers_need_not_change_the_journal_of_sqlite(tmp_path: Path) -> None:
    await prepare(Settings.load({"FLAGSTAFF_DATA_DIR": str(tmp_path)}), workers=2)
    for name in (CONFIGURATION_FILE, HISTORY_FILE):
        assert (tmp_path / name).read_bytes()[18:20] == b"\2\2", "its journal is not a write-ahead log"
