"""Sends evaluations or events to a table, which is checked first, and again after each failure."""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from flagstaff.concurrency.worker import in_worker
from flagstaff.history.clickhouse.rows import Rows
from flagstaff.history.exported_rows import ExportedPlace

if TYPE_CHECKING:  # loaded only if the settings ask for copies
    from flagstaff.history.clickhouse.client import ClickHouse

Part = tuple[ExportedPlace, Sequence[Any]]
"""Segments of one environment."""
Encode = Callable[[ExportedPlace, Sequence[Any]], list[bytes]]
"""Makes rows of segments."""


class Sender:
    """Sends blocks to ClickHouse."""

    def __init__(self, clickhouse: "ClickHouse", encode: Encode | None = None) -> None:
        """`encode` makes the rows; without it, the metrics are about evaluations."""
        self._clickhouse = clickhouse
        self._encode: Encode = encode or Rows().encode
        self._is_checked = False

    async def send(self, token: str, parts: Iterable[Part]) -> None:
        """Store a block unless it is stored already; raises ClickHouseError, also when it may have been stored."""
        if not self._is_checked:
            await self._clickhouse.check()
        self._is_checked = False
        rows: list[bytes] = []
        for place, segments in parts:
            rows += await in_worker(self._encode, place, segments)
        await self._clickhouse.insert(token, rows)
        self._is_checked = True

    async def close(self) -> None:
        """Close the connections."""
        await self._clickhouse.close()
