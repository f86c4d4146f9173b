"""Measure the evaluation history at volume, on PostgreSQL and in ClickHouse's engine.

python -m bench.volume serve /srv/volume                        # a PostgreSQL of the tests, with its data there
python -m bench.volume write postgresql://… --evaluations 100   # in millions; goes on where it has ended
"""

import argparse
import asyncio
import signal
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from bench.volume.traffic import Traffic
from bench.volume.writing import open_fill
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
    signal.signal(signal.SIGTERM, lambda *_: exit())
    with PostgresServer(asked.folder, SETTINGS) as server:
        print(server.url(), flush=True)
        signal.pause()


async def write(asked: argparse.Namespace) -> None:
    """Fill the history, and measure it at several sizes."""
    traffic = Traffic(asked.evaluations * MILLION, asked.days, long_ids=asked.long_ids)
    ends_at = time.monotonic() + 60 * asked.minutes
    with tempfile.TemporaryDirectory() as folder:
        fill = await open_fill(asked.url, Path(folder), traffic, asked.batch)
        try:
            for size in (*(each for each in SIZES if each < asked.evaluations), asked.evaluations):
                if fill.written < size * MILLION and time.monotonic() < ends_at:
                    print(f"{datetime.now(UTC):%H:%M:%S}", end=" ")
                    await fill.write(size * MILLION, lambda: time.monotonic() > ends_at)
                    await fill.count_users()
        finally:
            await fill.database.close()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench.volume", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True)
    of_server = commands.add_parser("serve")
    of_server.add_argument("folder", type=Path)
    of_server.set_defaults(run=serve)
    of_write = commands.add_parser("write")
    of_write.add_argument("url")
    of_write.add_argument("--evaluations", type=int, default=100, help="in millions (default: 100)")
    of_write.add_argument("--days", type=int, default=30, help="over which they are spread (default: 30)")
    of_write.add_argument("--batch", type=int, default=5000, help="evaluations in a batch (default: 5,000)")
    of_write.add_argument("--minutes", type=float, default=600, help="after which it ends in any case")
    of_write.add_argument("--long-ids", action="store_true", help="user ids of 36 random characters")
    of_write.set_defaults(run=lambda given: asyncio.run(write(given)))
    return parser.parse_args()


if __name__ == "__main__":
    given = _parse()
    given.run(given)
