"""Watches the free space of the data directory, and finds out by itself when a full database takes writes again."""

import asyncio
import shutil
from collections.abc import Awaitable, Callable
from math import nan
from pathlib import Path

import structlog

from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import unavailable

log = structlog.get_logger(__name__)

LOOK_SECONDS = 5.0
LOW_BYTES = 1024**3  # or a tenth of a small disk
_LITTLE_BYTES = 16 * 1024**2


class DiskWatch:
    """`free_bytes` is the space that was free at the last look, and `total_bytes` what the disk has.

    Neither is a number before the first look.
    """

    def __init__(
        self, directory: Path, *, is_refusing_writes: Callable[[], bool], try_to_write: Callable[[], Awaitable[None]]
    ) -> None:
        """`try_to_write` writes what changes nothing; whether that succeeds shows in `is_refusing_writes`."""
        self.free_bytes = self.total_bytes = nan
        self._directory = directory
        self._is_refusing_writes = is_refusing_writes
        self._try_to_write = try_to_write
        self._is_low = False

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the free space."""
        metrics.add_gauge("disk_free_bytes", "Free space for the data directory.", lambda: self.free_bytes, min)

    async def look(self) -> None:
        """Measure, and write if the database refuses writes or is about to.

        Raises:
            Error: UNAVAILABLE if it cannot measure, such as when the directory was deleted.
        """
        try:
            disk = await asyncio.to_thread(shutil.disk_usage, self._directory)
        except OSError as error:
            raise unavailable(f"The data directory {self._directory} cannot be used: {error.strerror}.") from error
        self.free_bytes, self.total_bytes = disk.free, disk.total
        is_low = disk.free < min(LOW_BYTES, disk.total // 10)
        if is_low and not self._is_low:
            log.warning("disk_nearly_full", path=str(self._directory), free_bytes=disk.free, total_bytes=disk.total)
        elif self._is_low and not is_low:
            log.info("disk_has_room", path=str(self._directory), free_bytes=disk.free)
        self._is_low = is_low
        if self._is_refusing_writes() or disk.free < _LITTLE_BYTES:
            await self._try_to_write()
