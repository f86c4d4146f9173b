"""SQLite's logs are lost under load, once. `make test-faults` draws more rounds."""

from pathlib import Path

import pytest

from flagstaff.database.sqlite.files import CONFIGURATION_FILE, HISTORY_FILE
from tests.faults.lost_logs import LostLog, play


@pytest.mark.parametrize("is_after", [False, True])
async def test_no_acknowledged_change_is_lost_in_silence(tmp_path: Path, is_after: bool) -> None:
    files = (CONFIGURATION_FILE, HISTORY_FILE)
    lost = LostLog(files, "-wal and -shm deleted", 1.5, 0.5, is_killed=True, is_after=is_after)
    played = await play(tmp_path, lost, sure_seconds=10.0)  # a server beside many other tests is slow
    assert played.changes
    assert not played.problems, played
