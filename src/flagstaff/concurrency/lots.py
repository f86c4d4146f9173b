"""Batches of rows that are bounded in bytes as well as in rows."""

from dataclasses import dataclass

LOT_BYTES = 256 * 1024
_LEAST = 5


@dataclass(slots=True)
class Lot:
    """How many rows the next batch has: as many as have some 256 kB, going by the last one, and at most `most`."""

    most: int
    rows: int = 100

    def adapt(self, size: int) -> None:
        """Choose the rows of the next batch by the bytes of the last one."""
        self.rows = max(_LEAST, min(self.most, self.rows * LOT_BYTES // max(size, 1)))
