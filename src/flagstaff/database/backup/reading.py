"""Reads a backup. Nothing is used before everything has been checked."""

import gzip
import hashlib
import tarfile
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from flagstaff.database.backup.forms import BATCH_ROWS, Row, TableForm
from flagstaff.database.backup.manifest import CHECKSUMS, MANIFEST, SECRET_KEY, Manifest
from flagstaff.values.errors import Code, Error

_DAMAGES = (tarfile.TarError, EOFError, OSError, KeyError, zlib.error, msgspec.MsgspecError, ValueError)


class Backup:
    """A complete backup: a `forms.Source`. `open_backup` opens it."""

    def __init__(self, path: Path, tar: tarfile.TarFile) -> None:
        self.path = path
        self._tar = tar
        self._members = {member.name: member for member in tar.getmembers()}
        self._checksums = self._read_checksums()
        self.manifest = Manifest.decode(self._part(MANIFEST))
        self.revision = self.manifest.revision
        self.forms = [entry.table for entry in self.manifest.tables]
        self.rows = {entry.table.full_name: entry.rows for entry in self.manifest.tables}
        self.counters = {
            entry.table.full_name: entry.counter for entry in self.manifest.tables if entry.counter is not None
        }
        self._parts = {entry.table.full_name: entry.parts for entry in self.manifest.tables}

    @property
    def size(self) -> int:
        """The number of bytes to check."""
        return sum(member.size for member in self._members.values())

    def check(self, progress: Callable[[int], None]) -> None:
        """Compare every part with its checksum; `progress` is called with the number of further bytes checked."""
        named = {part for parts in self._parts.values() for part in parts}
        if not named <= self._checksums.keys():
            raise damaged(self.path, "a part that the manifest names is missing")
        for name in self._checksums:
            with reporting_damage(self.path):
                progress(len(self._part(name)))

    def secret_key(self) -> str | None:
        """The secret key, unless it was stored elsewhere."""
        with reporting_damage(self.path):
            return self._part(SECRET_KEY).decode() if SECRET_KEY in self._checksums else None

    async def batches(self, form: TableForm) -> AsyncIterator[list[Row]]:
        """A table's rows, some at a time."""
        decode = form.decoder()
        for part in self._parts[form.full_name]:
            with reporting_damage(self.path):
                rows = [decode(line) for line in gzip.decompress(self._part(part)).splitlines()]
            for start in range(0, len(rows), BATCH_ROWS):
                yield rows[start : start + BATCH_ROWS]

    def _read_checksums(self) -> dict[str, str]:
        if CHECKSUMS not in self._members:
            raise damaged(self.path, "its end is missing")
        lines = self._content(CHECKSUMS).decode().splitlines()
        checksums = {name: digest for digest, _, name in (line.partition("  ") for line in lines)}
        if checksums.keys() ^ self._members.keys() != {CHECKSUMS}:
            raise damaged(self.path, "its parts differ from its manifest")
        return checksums

    def _part(self, name: str) -> bytes:
        content = self._content(name)
        if hashlib.sha256(content).hexdigest() != self._checksums.get(name):
            raise damaged(self.path, f"the checksum of {name} is wrong")
        return content

    def _content(self, name: str) -> bytes:
        member = self._members.get(name)
        file = self._tar.extractfile(member) if member else None
        if file is None:
            raise damaged(self.path, f"{name} is missing")
        return file.read()


@contextmanager
def open_backup(path: Path) -> Iterator[Backup]:
    """Open a backup.

    Raises:
        Error: NOT_FOUND when the file cannot be read, INVALID when it is damaged, truncated or not a backup, CONFLICT
            when a newer version made it.
    """
    try:
        file = path.open("rb")
    except OSError as error:
        raise Error(Code.NOT_FOUND, f"The backup {path} cannot be read: {error.strerror}.") from error
    with file:
        with reporting_damage(path):
            backup = Backup(path, tarfile.open(fileobj=file, mode="r:"))  # noqa: SIM115 - `file` is what is to be closed
        yield backup


@contextmanager
def reporting_damage(path: Path) -> Iterator[None]:
    """Convert what libraries raise for unreadable content to the error for damaged backups."""
    try:
        yield
    except _DAMAGES as error:
        raise damaged(path, "it cannot be read to its end") from error


def damaged(path: Path, reason: str) -> Error:
    """The error for a damaged backup."""
    return Error(Code.INVALID, f"{path} is not a backup, or it is damaged or truncated: {reason}. Nothing was changed.")
