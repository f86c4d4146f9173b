"""Gives the space of deleted evaluations back to the disk, with SQLite, in small turns beside traffic."""

import asyncio
from dataclasses import dataclass

import structlog

from flagstaff.database.database import Database
from flagstaff.telemetry.metrics import Metrics

log = structlog.get_logger(__name__)

EVERY_SECONDS = 5.0
KEPT_BYTES = 64 * 1024**2
"""So much stays free in the file, for what is recorded next."""
TURN_SECONDS = 0.01  # for which batches wait: with the commit, some tens of milliseconds on a busy machine
PAUSE_SECONDS = 0.025
_TURNS = 40  # in a run, so that a stop does not wait for it


@dataclass(slots=True)
class FreeSpace:
    """The free space in the history's file. `bytes` is how much there is, and `returned` how much was given back.

    Both are 0 with PostgreSQL, which uses the space again by itself.
    """

    database: Database
    kept_bytes: int = KEPT_BYTES
    bytes: int = 0
    returned: int = 0

    def export_metrics(self, metrics: Metrics) -> None:
        """Export both."""
        metrics.add_gauge("history_free_bytes", "Free space in SQLite's file of the history.", lambda: self.bytes, max)
        metrics.add_counter(
            "history_returned_bytes", "Free space of that file that was given back to the disk.", lambda: self.returned
        )

    async def give_back(self) -> None:
        """Give back some of what is free beyond what is kept. Raises Error UNAVAILABLE if the history is."""
        for _ in range(_TURNS):
            free = await self.database.find_free_history_pages()
            if free is None:
                return
            self.bytes = free.bytes
            too_much = free.bytes - self.kept_bytes
            if not free.can_be_returned or too_much <= 0:
                return
            returned = await self.database.return_history_pages(too_much, TURN_SECONDS)
            if returned == 0:
                return
            self.returned += returned
            self.bytes -= returned
            await asyncio.sleep(PAUSE_SECONDS)
