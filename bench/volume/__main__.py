"""Measure the evaluation history at volume, on PostgreSQL and in ClickHouse's engine.

python -m bench.volume serve /srv/volume                        # a PostgreSQL of the tests, with its data there
python -m bench.volume write postgresql://… --evaluations 100   # in millions; goes on where it has ended
python -m bench.volume read postgresql://…
python -m bench.volume copy postgresql://…                      # to ClickHouse's engine: make test-clickhouse first
python -m bench.volume delete postgresql://…                    # the oldest day, and half of the next
"""

import argparse
import asyncio
import signal
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from bench.volume import copying
from bench.volume.costs import ask
from bench.volume.deleting import delete_oldest
from bench.volume.reading import read_all
from bench.volume.traffic import Traffic
from bench.volume.writing import NEWEST, open_fill
from flagstaff.database.database import Database
from flagstaff.database.tables import moment
from tests.support.clickhouse import ClickHouseEngine
from tests.support.postgres import PostgresServer

MILLION = 1_000_000
SIZES = (1, 3, 10, 30, 100, 200, 300, 500, 1000)  # millions after which everything is measured
# PostgreSQL's defaults but for memory and checkpoints. Nothing is lost in a power failure.
SETTINGS = {
    "fsync": "on",
    "full_page_writes": "on",
    "shared_buffers": "1GB",
    "max_wal_size": "4GB",
    "checkpoint_timeout": "15min",
}


def serve(asked: argparse.Namespace) -> None:
    """Run PostgreSQL until a signal; then delete its data."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    asked.folder.mkdir(mode=0o755, parents=True, exist_ok=True)
    with PostgresServer(asked.folder, SETTINGS) as server:
        print(server.url(), flush=True)
        signal.pause()


async def write(asked: argparse.Namespace) -> None:
    """Fill the history, and measure it at several sizes."""
    traffic = Traffic(int(asked.evaluations * MILLION), asked.days, long_ids=asked.long_ids)
    ends_at = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        fill = await open_fill(asked.url, Path(folder), traffic, asked.batch)
        try:
            for size in (*(each for each in SIZES if each < asked.evaluations), asked.evaluations):
                if fill.written < int(size * MILLION) and time.monotonic() < ends_at:
                    print(f"{datetime.now(UTC):%H:%M:%S}", end=" ")
                    await fill.write(int(size * MILLION), lambda: time.monotonic() > ends_at)
                    await fill.count_users()
                    await read_all(fill.database, fill.now())
        finally:
            await fill.database.close()


async def copy(asked: argparse.Namespace) -> None:
    """Copy a history that was filled to ClickHouse's engine, and measure it there."""
    database = Database(asked.url, Path())
    try:
        with ClickHouseEngine() as engine:
            copying.prepare(engine)
            await copying.copy(database, engine, asked.minutes)
            copying.double(engine, asked.doublings)
            copying.measure(engine)
            copying.delete_oldest(engine)
    finally:
        await database.close()


async def delete(asked: argparse.Namespace) -> None:
    """Measure what deletes the oldest evaluations."""
    traffic = Traffic(int(asked.evaluations * MILLION), asked.days)
    with tempfile.TemporaryDirectory() as folder:
        fill = await open_fill(asked.url, Path(folder), traffic, 1)
        try:
            await delete_oldest(fill)
        finally:
            await fill.database.close()


async def read(asked: argparse.Namespace) -> None:
    """Measure what reads a history that was filled."""
    database = Database(asked.url, Path())
    try:
        (newest,) = await ask(database, NEWEST)
        await read_all(database, moment(newest))
    finally:
        await database.close()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.volume", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    of_server = commands.add_parser("serve")
    of_server.add_argument("folder", type=Path)
    of_server.set_defaults(run=serve)
    filled = argparse.ArgumentParser(add_help=False)
    filled.add_argument("url")
    filled.add_argument("--evaluations", type=float, default=100, help="in millions (default: 100)")
    filled.add_argument("--days", type=int, default=30, help="over which they are spread (default: 30)")
    limited = argparse.ArgumentParser(add_help=False)
    limited.add_argument("--minutes", type=float, default=600, help="after which it ends in any case")
    of_write = commands.add_parser("write", parents=[filled, limited])
    of_write.add_argument("--batch", type=int, default=5000, help="evaluations in a batch (default: 5,000)")
    of_write.add_argument("--long-ids", action="store_true", help="user ids of 36 random characters")
    of_write.set_defaults(run=lambda given: asyncio.run(write(given)))
    of_read = commands.add_parser("read")
    of_read.add_argument("url")
    of_read.set_defaults(run=lambda given: asyncio.run(read(given)))
    of_copy = commands.add_parser("copy", parents=[limited])
    of_copy.add_argument("url")
    of_copy.add_argument("--doublings", type=int, default=0, help="how often to double the rows in ClickHouse")
    of_copy.set_defaults(run=lambda given: asyncio.run(copy(given)))
    of_delete = commands.add_parser("delete", parents=[filled])
    of_delete.set_defaults(run=lambda given: asyncio.run(delete(given)))
    return parser.parse_args()


if __name__ == "__main__":
    given = _parse()
    given.run(given)
