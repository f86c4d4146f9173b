"""What a backup says of itself, in `manifest.json`."""

from collections.abc import Sequence

import msgspec

from flagstaff.domain.errors import Code, Error
from flagstaff.storage.backup.forms import TableForm

FORMAT = 1

MANIFEST = "manifest.json"
CHECKSUMS = "SHA256SUMS"
SECRET_KEY = "secret-key"  # noqa: S105 - a name, not a secret


class TableEntry(msgspec.Struct):
    """A table, how many rows it has, the last number it gave out, and the parts that hold the rows, in order."""

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
    history: bool  # whether the evaluation history was to be in it
    tables: Sequence[TableEntry]
    format: int = FORMAT

    def encode(self) -> bytes:
        """As a JSON document for people, too."""
        return msgspec.json.format(msgspec.json.encode(self), indent=1) + b"\n"

    @classmethod
    def decode(cls, content: bytes) -> "Manifest":
        """Read a document; raises Error CONFLICT for one of a newer format, msgspec.MsgspecError for anything else."""
        found = msgspec.json.decode(content, type=_Version)
        if found.format > FORMAT:
            raise Error(
                Code.CONFLICT,
                f"The backup was made by Flagstaff {found.flagstaff}; this version is too old to read it.",
            )
        return msgspec.json.decode(content, type=cls)


class _Version(msgspec.Struct):
    format: int
    flagstaff: str
