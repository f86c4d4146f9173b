"""A directory with an export: files that are never changed once they have their name, and a manifest that lists them.

The manifest is replaced at once, and says both which files there are and where reading continues. A file that is
complete waits under a temporary name until the manifest lists it, so a run that was killed has left out nothing and
written nothing twice: the next one gives names to the files in the manifest, and deletes all other temporary ones.

Others may be able to write in the directory, as in /tmp: no symbolic link is followed when a file is written, and only
files with names of an export are renamed or deleted.
"""

import errno
import fcntl
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO
from uuid import UUID

import msgspec

from flagstaff.cli.history.manifest import (
    MANIFEST,
    ExportedFile,
    Manifest,
    file_name,
    find_manifest,
    is_file_name,
    new_manifest,
)
from flagstaff.database.files import sync_directory
from flagstaff.history.store.following import Position
from flagstaff.values.errors import Code, Error

_TEMPORARY = ".part"
_new_name = re.compile(rf"\.new(-[0-9]+)?{re.escape(_TEMPORARY)}")
_FULL = (errno.ENOSPC, errno.EDQUOT)


@dataclass(slots=True)
class ExportDirectory:
    """An export that is being written."""

    path: Path
    manifest: Manifest

    @contextmanager
    def new_file(self, number: int) -> Iterator[BinaryIO]:
        """A new file, open under a temporary name with this number. It is deleted if the block fails."""
        path = self._new(number)
        try:
            with _create(path) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    def keep(self, files: Mapping[int, ExportedFile], environment_id: UUID, position: Position) -> None:
        """Add new files, by their numbers, to the export, and continue at the position from now on."""
        for number, file in files.items():
            self._new(number).rename(self.path / f".{file.name}{_TEMPORARY}")
        self.manifest.files += files.values()
        self.manifest.positions[environment_id] = position
        self._write_manifest()
        for file in files.values():
            self._name(file)

    def next_name(self, day: str, environment: str, suffix: str, waiting: int) -> str:
        """The name of the next file after so many that are not kept yet.

        Names are in the order in which the files were written on each day.
        """
        return file_name(day, environment, len(self.manifest.files) + waiting + 1, suffix)

    def _new(self, number: int) -> Path:
        return self.path / f".new-{number}{_TEMPORARY}"

    def clean_up(self) -> None:
        """Finish or undo what a run that was killed had begun."""
        for file in self.manifest.files:
            if (self.path / f".{file.name}{_TEMPORARY}").exists():
                self._name(file)
        for left in self.path.iterdir():
            if _is_temporary(left.name):
                left.unlink()
        sync_directory(self.path)

    def _name(self, file: ExportedFile) -> None:
        (self.path / f".{file.name}{_TEMPORARY}").rename(self.path / file.name)
        sync_directory(self.path)

    def _write_manifest(self) -> None:
        path = self.path / f".{MANIFEST}{_TEMPORARY}"
        with _create(path) as file:
            file.write(msgspec.json.format(msgspec.json.encode(self.manifest), indent=1) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        sync_directory(self.path)  # the new file must be found under its temporary name when the manifest lists it
        path.rename(self.path / MANIFEST)
        sync_directory(self.path)


@contextmanager
def open_directory(path: Path, options: Mapping[str, Any]) -> Iterator[ExportDirectory]:
    """The export in a directory, which is created if it does not exist. No other process can write it meanwhile.

    Raises:
        Error: CONFLICT when the directory has other files or an export with other options, or another process writes
            it; UNAVAILABLE when it cannot be written, for example because the disk is full.
    """
    with translated(path):
        path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDONLY)
    try:
        with translated(path):
            _lock(descriptor, path)
            directory = ExportDirectory(path, _find_or_begin(path, dict(options)))
            directory.clean_up()
            yield directory
    finally:
        os.close(descriptor)


def _lock(descriptor: int, path: Path) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise Error(Code.CONFLICT, f"Another export is writing to {path}. Wait until it has ended.") from None


def _find_or_begin(path: Path, options: dict[str, Any]) -> Manifest:
    found = find_manifest(path, options)
    if found is None and not all(_is_temporary(each.name) for each in path.iterdir()):
        raise Error(Code.CONFLICT, f"{path} is not empty, and contains no export. Choose an empty or a new directory.")
    return found or new_manifest(options)


def _is_temporary(name: str) -> bool:
    """Return whether only an export gives this name to a file that is not finished."""
    if _new_name.fullmatch(name) or name == f".{MANIFEST}{_TEMPORARY}":
        return True
    hidden = name.startswith(".") and name.endswith(_TEMPORARY)
    return hidden and is_file_name(name[1 : -len(_TEMPORARY)])


def _create(path: Path) -> BinaryIO:
    """A new file that only its owner can read, open for writing. Replaces what has its name, also a symbolic link."""
    path.unlink(missing_ok=True)
    return open(path, "xb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW, 0o600))


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Raise Error UNAVAILABLE, in words for the operator, for what the system says about the directory."""
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            message = f"There is no space left for {path}. Free some space, and run the same command again"
            raise Error(Code.UNAVAILABLE, f"{message}: it continues after the last file that was written.") from error
        raise Error(Code.UNAVAILABLE, f"{path} cannot be written: {error.strerror}.") from error
