"""Batches of evaluations, or events, on disk, one file each, while the store is unavailable or slow. Bounded in bytes.

A file is created whole or not at all, so a kill leaves no partial file; after a power failure a file may be unreadable.
Its first byte is the version of its format.
"""

import asyncio
import re
import zlib
from bisect import bisect_right
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, count, islice
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import msgspec
import structlog

from flagstaff.evaluation.history.records import RecordBatch

log = structlog.get_logger(__name__)

MAX_BYTES = 512 * 1024 * 1024
RECORDS_AT_ONCE, BYTES_AT_ONCE = 5_000, 4 * 1024 * 1024
"""The records and bytes of the batches that are read at once, unless one batch has more."""

_VERSION = b"\x01"  # a batch as msgpack; its layouts say what the recorded bytes mean
_WITH_NEWER_LAYOUTS = b"\x02"  # the same, which earlier releases would misread
# The same with single flags, compressed, because most of a small batch is the layout of all flags.
_WITH_SINGLE_FLAGS = b"\x03"
_NEWEST_OF_VERSION_1 = 2  # of a layout
_SUFFIX = ".batch"
_UNFINISHED = ".unfinished"
_WORKER = "worker-"
_name = re.compile(r"(\d{12,})-(\d+)\.batch")


class Batch(Protocol):
    """Records that were collected at once. The id recognises a batch that is sent twice."""

    @property
    def id(self) -> int:
        """The id."""

    @property
    def size(self) -> int:
        """The number of records."""

    @property
    def groups(self) -> Sequence[object]:
        """The records by environment, and by what else divides them."""


B = TypeVar("B", bound=Batch)


class Form(Protocol[B]):
    """The form in which batches of a kind are written to files, beginning with a version."""

    def encode(self, batch: B) -> bytes:
        """A file's content."""

    def decode(self, content: bytes) -> B:
        """The batch in a file; raises ValueError when it cannot be understood."""


class EvaluationForm:
    """The files of batches of evaluations."""

    def encode(self, batch: RecordBatch) -> bytes:
        """A file's content."""
        content = msgspec.msgpack.encode(batch)
        if any(group.flags is not None for group in batch.groups):
            return _WITH_SINGLE_FLAGS + zlib.compress(content, 1)
        is_newer = any(group.layout.version > _NEWEST_OF_VERSION_1 for group in batch.groups)
        return (_WITH_NEWER_LAYOUTS if is_newer else _VERSION) + content

    def decode(self, content: bytes) -> RecordBatch:
        """The batch in a file; raises ValueError when it cannot be understood."""
        version = content[:1]
        if version == _WITH_SINGLE_FLAGS:
            try:
                content = zlib.decompress(content[1:])
            except zlib.error as error:
                raise ValueError("it is damaged") from error
            return msgspec.msgpack.decode(content, type=RecordBatch)
        if version not in (_VERSION, _WITH_NEWER_LAYOUTS):
            raise unknown_version(version)
        return msgspec.msgpack.decode(content[1:], type=RecordBatch)


def unknown_version(version: bytes) -> ValueError:
    """The error for a file that begins with a version that is not known."""
    return ValueError(f"its format version {version.hex() or '(none)'} is unknown")


@dataclass(frozen=True, slots=True)
class SpooledBatch:
    """A batch on disk: its file, its number of records and its size in bytes."""

    path: Path
    records: int
    bytes: int


def spool_folder(folder: Path, slot: int) -> Path:
    """The folder of a worker. The first worker, and a server without workers, use the folder itself."""
    return folder / f"{_WORKER}{slot}" if slot else folder


def gather_spools(folder: Path, workers: int) -> None:
    """Create the folders of workers, and give the first one the batches of those that do not exist any more.

    No process may be using them. Raises OSError when the disk fails; then some batches stay for the next start.
    """
    folder.mkdir(mode=0o700, exist_ok=True)
    for slot in range(1, workers):
        spool_folder(folder, slot).mkdir(mode=0o700, exist_ok=True)
    kept = {spool_folder(folder, slot) for slot in range(workers)}
    numbers = count(max((int(name[1]) for name in _names(folder)), default=-1) + 1)
    for former in sorted(each for each in folder.glob(f"{_WORKER}*") if each.is_dir() and each not in kept):
        for name in _names(former):
            (former / name[0]).rename(folder / f"{next(numbers):012}-{name[2]}{_SUFFIX}")
        for unfinished in former.glob(f"*{_UNFINISHED}"):
            unfinished.unlink()
        former.rmdir()


def _names(folder: Path) -> list[re.Match[str]]:
    found = (_name.fullmatch(path.name) for path in sorted(folder.iterdir()))
    return [name for name in found if name]


class Spool(Generic[B]):
    """The batches in a directory, oldest first. One process at a time may use it."""

    def __init__(self, directory: Path, form: Form[B], *, max_bytes: int = MAX_BYTES) -> None:
        self.records = 0
        self._form = form
        self._directory = directory
        self._max_bytes = max_bytes
        self._bytes = 0
        self._waiting: dict[Path, SpooledBatch] = {}
        self._next = 0
        self._undeleted: set[SpooledBatch] = set()  # no longer needed, but still using disk space
        self._opening = asyncio.Lock()
        self._is_open = False

    async def open(self) -> None:
        """Create the directory, or read what an earlier process left in it; raises OSError when the disk fails."""
        async with self._opening:
            if self._is_open:
                return
            for number, spooled in await asyncio.to_thread(self._scan):
                self._next = number + 1
                self._waiting[spooled.path] = spooled
                self._count(spooled, 1)
            self._is_open = True

    @property
    def first(self) -> SpooledBatch | None:
        """The oldest batch."""
        return next(iter(self._waiting.values()), None)

    async def append(self, batch: B) -> SpooledBatch | None:
        """Add a batch; None if there is no room for it. Raises OSError when the disk fails."""
        await self.open()  # if the start could not: until then a file's name may be in use
        content = await asyncio.to_thread(self._form.encode, batch)  # which may compress a megabyte
        if self._bytes + len(content) > self._max_bytes:
            return None
        path = self._directory / f"{self._next:012}-{batch.size}{_SUFFIX}"
        self._next += 1
        spooled = SpooledBatch(path, batch.size, len(content))
        self._count(spooled, 1)  # immediately, so that concurrent calls see the space as used
        try:
            await asyncio.to_thread(_write, path, content)
        except BaseException:
            self._count(spooled, -1)
            raise
        self._waiting[path] = spooled
        return spooled

    def oldest(self, most: int) -> list[SpooledBatch]:
        """The oldest batches that may be read at once: one, or so many as are within the limits of a read."""
        found = list(islice(self._waiting.values(), most))
        records = list(accumulate(each.records for each in found))
        sizes = list(accumulate(each.bytes for each in found))
        within = bisect_right(records, RECORDS_AT_ONCE), bisect_right(sizes, BYTES_AT_ONCE)
        return found[: max(1, min(within))]

    async def read(self, *several: SpooledBatch) -> list[B]:
        """The contents of batches, up to the first that cannot be read.

        If that is the first of all, raises OSError, or ValueError when it cannot be understood.
        """
        found: list[B] = []
        for content in await asyncio.to_thread(_read, [each.path for each in several]):
            try:
                found.append(self._form.decode(content))
            except ValueError:
                if not found:
                    raise
                break
            await asyncio.sleep(0)  # lets evaluate calls run
        return found

    async def remove(self, *several: SpooledBatch) -> None:
        """Remove batches. If a file cannot be deleted now, the next removal tries again."""
        for each in several:
            if self._waiting.pop(each.path, None):
                self.records -= each.records
                self._undeleted.add(each)
        left = [*several, *self._undeleted.difference(several)]
        deleted, error = await asyncio.to_thread(_delete, [each.path for each in left])
        for each in left[:deleted]:
            if each in self._undeleted:
                self._undeleted.discard(each)
                self._bytes -= each.bytes
        if error is not None and deleted < len(several):
            log.warning("spool_file_not_deleted", file=left[deleted].path.name, error=str(error))

    def _count(self, spooled: SpooledBatch, sign: int) -> None:
        self.records += sign * spooled.records
        self._bytes += sign * spooled.bytes

    def _scan(self) -> list[tuple[int, SpooledBatch]]:
        self._directory.mkdir(mode=0o700, exist_ok=True)
        for unfinished in self._directory.glob(f"*{_UNFINISHED}"):
            with suppress(OSError):  # it only uses space
                unfinished.unlink()
        found = []
        for path in sorted(self._directory.iterdir()):
            name = _name.fullmatch(path.name)
            if name:
                with suppress(FileNotFoundError):  # a link to nothing
                    found.append((int(name[1]), SpooledBatch(path, int(name[2]), path.stat().st_size)))
        return found


def _read(paths: Sequence[Path]) -> list[bytes]:
    """The contents of files, up to the first that cannot be read; raises OSError if that is the first of all."""
    contents: list[bytes] = []
    for path in paths:
        try:
            contents.append(path.read_bytes())
        except OSError:
            if not contents:
                raise
            break
    return contents


def _delete(paths: Sequence[Path]) -> tuple[int, OSError | None]:
    """Delete files; return how many, and why the next one could not be."""
    for place, path in enumerate(paths):
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            return place, error
    return len(paths), None


def _write(path: Path, content: bytes) -> None:
    unfinished = path.with_suffix(_UNFINISHED)
    path.parent.mkdir(mode=0o700, exist_ok=True)
    try:
        unfinished.write_bytes(content)
        unfinished.rename(path)
    except OSError:
        unfinished.unlink(missing_ok=True)
        raise
