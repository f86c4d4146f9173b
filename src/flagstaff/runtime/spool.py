"""Batches of evaluations that wait on disk, one file each, while the store is away or slow. Bounded in bytes.

A file appears whole or not at all, so a kill leaves nothing torn; after a power failure a file may be unreadable. Its
first byte is the version of its form; those of an older Flagstaff had none and begin with the batch, a map of two.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path

import msgspec

from flagstaff.evaluation.history.records import RecordBatch

MAX_BYTES = 512 * 1024 * 1024

_VERSION = b"\x01"  # a batch as msgpack; its layouts say what the recorded bytes mean
_MAP_OF_TWO = b"\x82"
_SUFFIX = ".batch"
_UNFINISHED = ".unfinished"


@dataclass(frozen=True, slots=True)
class SpooledBatch:
    """A batch on disk: its file, how many records it holds and how long it is."""

    path: Path
    records: int
    bytes: int


class Spool:
    """The batches in a directory, oldest first. One process at a time may use it."""

    def __init__(self, directory: Path, *, max_bytes: int = MAX_BYTES) -> None:
        self.records = 0
        self._directory = directory
        self._max_bytes = max_bytes
        self._bytes = 0
        self._waiting: dict[Path, SpooledBatch] = {}
        self._next = 0

    async def open(self) -> None:
        """Make the directory, or take up what an earlier process left in it."""
        for path, size in await asyncio.to_thread(self._scan):
            number, records = path.stem.split("-")
            self._next = int(number) + 1
            self._waiting[path] = SpooledBatch(path, int(records), size)
            self._count(self._waiting[path], 1)

    @property
    def first(self) -> SpooledBatch | None:
        """The oldest batch."""
        return next(iter(self._waiting.values()), None)

    async def append(self, batch: RecordBatch) -> SpooledBatch | None:
        """Add a batch; None if there is no room for it. Raises OSError when the disk fails."""
        content = _VERSION + msgspec.msgpack.encode(batch)
        if self._bytes + len(content) > self._max_bytes:
            return None
        path = self._directory / f"{self._next:012}-{batch.size}{_SUFFIX}"
        self._next += 1
        spooled = SpooledBatch(path, batch.size, len(content))
        self._count(spooled, 1)  # at once, so that others who append meanwhile find the room taken
        try:
            await asyncio.to_thread(_write, path, content)
        except OSError:
            self._count(spooled, -1)
            raise
        self._waiting[path] = spooled
        return spooled

    async def read(self, spooled: SpooledBatch) -> RecordBatch:
        """A batch's content; raises OSError, or ValueError when it cannot be understood."""
        content = await asyncio.to_thread(spooled.path.read_bytes)
        version = content[:1]
        if version not in (_VERSION, _MAP_OF_TWO):
            raise ValueError(f"its form {version.hex() or '(none)'} is not known")
        return msgspec.msgpack.decode(content.removeprefix(_VERSION), type=RecordBatch)

    async def remove(self, spooled: SpooledBatch) -> None:
        """Forget a batch."""
        if self._waiting.pop(spooled.path, None):
            self._count(spooled, -1)
            await asyncio.to_thread(spooled.path.unlink, missing_ok=True)

    def _count(self, spooled: SpooledBatch, sign: int) -> None:
        self.records += sign * spooled.records
        self._bytes += sign * spooled.bytes

    def _scan(self) -> list[tuple[Path, int]]:
        self._directory.mkdir(mode=0o700, exist_ok=True)
        for unfinished in self._directory.glob(f"*{_UNFINISHED}"):
            unfinished.unlink()
        return [(path, path.stat().st_size) for path in sorted(self._directory.glob(f"*-*{_SUFFIX}"))]


def _write(path: Path, content: bytes) -> None:
    unfinished = path.with_suffix(_UNFINISHED)
    try:
        unfinished.write_bytes(content)
        unfinished.rename(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
