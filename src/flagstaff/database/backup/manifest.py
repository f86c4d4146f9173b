"""The description of a backup, in `manifest.json`."""

from collections.abc import Sequence

import msgspec

from flagstaff.database.backup.forms import TableForm
from flagstaff.values.errors import Code, Error

FORMAT = 1

MANIFEST = "manifest.json"
CHECKSUMS = "SHA256SUMS"
SECRET_KEY = "secret-key"  # noqa: S105 - a name, not a secret


class TableEntry(msgspec.Struct):
    """A table, its number of rows, the last number it assigned, and the parts with the rows, in order."""

    table: TableForm
    rows: int
    counter: int | None
    parts: list[str]


class Manifest(msgspec.Struct):
    """The whole backup."""

    flagstaff: str  # the version that made it
    revision: str
    made_at: str
    database: str
    history: bool  # whether it includes the evaluation history
    tables: Sequence[TableEntry]
    format: int = FORMAT

    def encode(self) -> bytes:
        """The manifest as readable JSON."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @classmethod
    def decode(cls, content: bytes) -> "Manifest":
        """Read a document; raises Error CONFLICT for one of a newer format, msgspec.MsgspecError for anything else."""
        found = msgspec.json.decode(content, type=_Version)
        if found.format > FORMAT:
            raise Error(
                Code.CONFLICT,
                f"This version is too old to read the backup, which was made by Flagstaff {found.flagstaff}.",
            )
        return msgspec.json.decode(content, type=cls)


class _Version(msgspec.Struct):
    format: int
    flagstaff: str
