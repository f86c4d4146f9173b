"""Sends evaluations to the table, which is checked first, and again after each failure."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from flagstaff.concurrency.pacing import in_pieces
from flagstaff.history.clickhouse.rows import Rows
from flagstaff.history.store.following import FollowedSegment

if TYPE_CHECKING:  # loaded only if the settings ask for copies
    from flagstaff.history.clickhouse.client import ClickHouse

Part = tuple[UUID, UUID, str, Sequence[FollowedSegment]]
"""Evaluations of one environment: its project's id, its id and its key, and the evaluations."""


class Sender:
    """Sends blocks to ClickHouse."""

    def __init__(self, clickhouse: "ClickHouse") -> None:
        self._clickhouse = clickhouse
        self._rows = Rows()
        self._is_checked = False

    async def send(self, token: str, parts: Iterable[Part]) -> None:
        """Store a block unless it is stored already; raises ClickHouseError, also when it may have been stored."""
        if not self._is_checked:
            await self._clickhouse.check()
        self._is_checked = False
        rows: list[bytes] = []
        for part in parts:
            rows += await in_pieces(self._rows.encode(*part))
        await self._clickhouse.insert(token, rows)
        self._is_checked = True

    async def close(self) -> None:
        """Close the connections."""
        await self._clickhouse.close()
