"""Writes a backup: one tar file, which gets its name only when it is complete."""

import gzip
import hashlib
import io
import os
import tarfile
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from flagstaff import __version__
from flagstaff.database.backup.dump import Dump
from flagstaff.database.backup.forms import Progress, TableForm
from flagstaff.database.backup.manifest import CHECKSUMS, MANIFEST, SECRET_KEY, Manifest, TableEntry
from flagstaff.database.files import sync_directory
from flagstaff.values.errors import Code, Error
from flagstaff.values.moments import format_moment

# A part is built in memory, because a tar file has a file's length before its content.
_PART_BYTES = 4 * 1024 * 1024
_COMPRESSION = 3  # most of a history is already compressed
_UNFINISHED = ".unfinished"
_encoder = msgspec.json.Encoder()


class BackupWriter:
    """A backup being written; `open_writer` opens it."""

    def __init__(self, path: Path, tar: tarfile.TarFile) -> None:
        self._path = path
        self._tar = tar
        self._checksums: list[str] = []

    def add(self, name: str, content: bytes) -> None:
        """Add a part; raises Error UNAVAILABLE when there is no room for it."""
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        entry.mode = 0o600
        entry.mtime = int(time.time())
        # Not around the whole backup, because an OSError while reading the database has another cause.
        with _reporting_failure(self._path):
            self._tar.addfile(entry, io.BytesIO(content))
        self._checksums.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")

    def finish(self, manifest: Manifest) -> None:
        """Add the mark that shows that the backup is complete."""
        self.add(MANIFEST, manifest.encode())
        self.add(CHECKSUMS, "".join(self._checksums).encode())


@contextmanager
def open_writer(path: Path) -> Iterator[BackupWriter]:
    """Write a backup next to its path, readable only by its owner, and rename it when the block succeeds.

    Raises:
        Error: CONFLICT when the path exists; UNAVAILABLE when the disk is full or the folder cannot be written.
    """
    if path.exists():
        raise Error(Code.CONFLICT, f"{path} exists already. Choose another name, or delete it first.")
    folder = path.absolute().parent
    with _reporting_failure(path):
        descriptor, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=_UNFINISHED, dir=folder)
    unfinished = Path(name)
    file = os.fdopen(descriptor, "wb")
    try:
        tar = tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115 - unclosed after failures
        yield BackupWriter(path, tar)
        with _reporting_failure(path):
            tar.close()
            file.flush()
            os.fsync(file.fileno())
            unfinished.rename(path)
            sync_directory(folder)
    finally:
        with suppress(OSError):  # on a full disk the last bytes fail again, which was already reported
            file.close()
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


@contextmanager
def _reporting_failure(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Error(Code.UNAVAILABLE, f"The backup {path} cannot be written: {error.strerror}.") from error


async def write_backup(
    dump: Dump, writer: BackupWriter, *, database: str, history: bool, secret_key: str | None, progress: Progress
) -> Manifest:
    """Write everything in a dump, and the secret key; return the manifest."""
    if secret_key is not None:
        writer.add(SECRET_KEY, secret_key.encode())
    entries = [await _write_table(dump, writer, form, progress) for form in dump.forms]
    manifest = Manifest(
        flagstaff=__version__,
        revision=dump.revision,
        made_at=format_moment(datetime.now(UTC)),
        database=database,
        history=history,
        tables=entries,
    )
    writer.finish(manifest)
    return manifest


async def _write_table(dump: Dump, writer: BackupWriter, form: TableForm, progress: Progress) -> TableEntry:
    entry = TableEntry(form, 0, dump.counters.get(form.full_name), [])
    lines = bytearray()
    async for rows in dump.batches(form):
        for row in rows:
            lines += _encoder.encode(row) + b"\n"
            if len(lines) >= _PART_BYTES:
                _write_part(writer, entry, lines)
                lines = bytearray()
        entry.rows += len(rows)
        progress(form.full_name, len(rows))
    if lines:
        _write_part(writer, entry, lines)
    return entry


def _write_part(writer: BackupWriter, entry: TableEntry, lines: bytearray) -> None:
    name = f"{entry.table.full_name}/{len(entry.parts) + 1:06}.jsonl.gz"
    writer.add(name, gzip.compress(lines, _COMPRESSION, mtime=0))
    entry.parts.append(name)
