"""The manifest of an export: the options that chose it, its files, and where reading continues.

Others may be able to change it, so one that names any other file is refused.
"""

import re
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec

from flagstaff.history.store.following import Position
from flagstaff.values.errors import Code, Error
from flagstaff.values.keys import ENVIRONMENT_KEY_PATTERN

MANIFEST = "manifest.json"
_VERSION = 2  # of the form of files: the earlier one had fewer columns
_file_name = re.compile(rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}-{ENVIRONMENT_KEY_PATTERN[1:-1]}-[0-9]{{6,}}(\.[a-z]+)+")


class ExportedFile(msgspec.Struct, frozen=True):
    """A file of the export: evaluations of one environment on one day.

    The id of the environment is None if an earlier release has written the file.
    """

    name: str
    environment: str
    day: str
    records: int
    bytes: int
    environment_id: UUID | None = None


class Manifest(msgspec.Struct):
    """The contents of an export: the options, the position reached in each environment, and the files.

    If the options have the key of a flag, `flags` has the flag that this is in each environment, in all runs.
    """

    version: int
    options: dict[str, Any]
    positions: dict[UUID, Position]
    files: list[ExportedFile]
    flags: dict[UUID, UUID] = {}

    def position(self, environment_id: UUID) -> Position:
        """Return the position up to which an environment was read."""
        return self.positions.get(environment_id, Position())


def new_manifest(options: dict[str, Any]) -> Manifest:
    """The manifest of an export that has no files yet."""
    return Manifest(_VERSION, options, {}, [])


def file_name(day: str, environment: str, number: int, suffix: str) -> str:
    """The name of an export's file."""
    return f"{day}-{environment}-{number:06}.{suffix}"


def is_file_name(name: str) -> bool:
    """Return whether `file_name` could have made this."""
    return _file_name.fullmatch(name) is not None


def find_manifest(path: Path, options: dict[str, Any]) -> Manifest | None:
    """The manifest in a directory, if there is one.

    Raises:
        Error: CONFLICT when it is not an export's, has other options, or lists a file that no export writes.
    """
    try:
        found = msgspec.json.decode((path / MANIFEST).read_bytes(), type=Manifest)
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise Error(Code.CONFLICT, f"{path / MANIFEST} is not the manifest of an export: {error}.") from error
    if found.version != _VERSION:
        raise Error(
            Code.CONFLICT,
            f"{path} contains an export of version {found.version}, whose files have other columns than those of this "
            "release. Choose a new directory.",
        )
    strange = [file.name for file in found.files if not is_file_name(file.name)]
    if strange:
        raise Error(
            Code.CONFLICT, f"{path / MANIFEST} lists {strange[0]!r}, which is not the name of an exported file."
        )
    others = [name for name in sorted({*options, *found.options}) if options.get(name) != found.options.get(name)]
    if others:
        differences = "; ".join(f"{name} was {_spell(found.options.get(name))}" for name in others)
        raise Error(
            Code.CONFLICT,
            f"{path} contains an export with other options: {differences}. Choose another directory.",
        )
    return found


def _spell(value: object) -> str:
    return "not given" if value is None else str(value)
