"""The free space of the data directory, which may go away under a running server."""

from pathlib import Path

import pytest

from flagstaff.machine.disk import DiskWatch
from flagstaff.values.errors import Code, Error


async def test_a_data_directory_that_is_gone_is_an_outage_in_one_line(tmp_path: Path) -> None:
    directory = tmp_path / "data"

    async def fill() -> None:
        (directory / "full").touch()

    watch = DiskWatch(directory, is_refusing_writes=lambda: True, try_to_write=fill)
    said = r"The data directory .*/data cannot be used: No such file or directory\."
    with pytest.raises(Error, match=said) as raised:
        await watch.look()
    assert raised.value.code is Code.UNAVAILABLE
    directory.mkdir()
    await watch.look()
    assert watch.free_bytes > 0
    assert (directory / "full").exists()
