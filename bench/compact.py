"""Measures `flagstaff history compact`: `python -m bench.compact [MEGABYTES]`, a thousand by default.

A history of this size is made, a tenth of it is deleted, and the command is run. The disk needs twice the size.
"""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.database.migrate import migrate
from flagstaff.database.sqlite.files import HISTORY_FILE

_ROW_BYTES = 20_000  # of a segment with a few hundred evaluations
_ROWS_AT_ONCE = 500


def main() -> None:
    """Measure, and print a line for each part."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    with tempfile.TemporaryDirectory(prefix="flagstaff-bench-") as folder:
        asyncio.run(_fill(Path(folder), megabytes * 10**6 // _ROW_BYTES))
        file = Path(folder) / HISTORY_FILE
        before = file.stat().st_size
        began, cpu = time.perf_counter(), os.times()
        command = [sys.executable, "-m", "flagstaff", "history", "compact"]
        subprocess.run(command, env={**os.environ, "FLAGSTAFF_DATA_DIR": folder}, check=True)
        spent = os.times()
        took = time.perf_counter() - began
        seconds = spent.children_user + spent.children_system - cpu.children_user - cpu.children_system
        sys.stdout.write(
            f"{before / 1e6:.0f} MB, of which a tenth is free: {took:.1f} s, {seconds:.1f} s of processor time, "
            f"{file.stat().st_size / 1e6:.0f} MB afterwards; {took * 1e9 / before:.1f} s per gigabyte\n"
        )


async def _fill(folder: Path, rows: int) -> None:
    await migrate(None, folder)
    database = Database(None, folder)
    await database.open_files()
    try:
        for start in range(0, rows, _ROWS_AT_ONCE):
            async with database.write_history() as connection:
                numbers = range(start, min(start + _ROWS_AT_ONCE, rows))
                await connection.execute(tables.segments.insert(), [_make_row(number) for number in numbers])
            await database.checkpoint()
        async with database.write_history() as connection:
            await connection.execute(tables.segments.delete().where(tables.segments.c.last_time < rows // 10))
        await database.checkpoint()
    finally:
        await database.close()


def _make_row(number: int) -> dict[str, object]:
    hashes = os.urandom(_ROW_BYTES // 10)
    return {
        "environment": 1,
        "layout_id": 1,
        "first_time": number,
        "last_time": number,
        "size": 300,
        "user_hashes": hashes,
        "email_hashes": b"",
        "content": os.urandom(_ROW_BYTES - len(hashes)),
    }


if __name__ == "__main__":
    main()
