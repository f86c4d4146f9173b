"""Sends the history onwards in blocks: exactly once, if the receiver recognises a block that is repeated."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from flagstaff.database.database import Connection, Database
from flagstaff.history.exported_rows import ExportedPlace
from flagstaff.history.history_exports import find_places
from flagstaff.history.store import export_batches, sent_events
from flagstaff.history.store.batches import list_recorded_environments
from flagstaff.history.store.export_batches import Block, Room
from flagstaff.history.store.following import Position

TURN_SECONDS = 20.0  # after its last attempt, another instance may go on
BLOCK_EVALUATIONS = 10_000
BLOCK_RESULTS = 500_000  # of flags in these evaluations, some 30 MB as JSON


@dataclass(frozen=True, slots=True)
class Part:
    """Records of one environment."""

    place: ExportedPlace
    segments: Sequence[Any]


@dataclass(frozen=True, slots=True)
class ExportBatch:
    """A block with its records. Evaluations of deleted environments are left out."""

    block: Block
    parts: Sequence[Part]

    @property
    def size(self) -> int:
        """The number of records."""
        return sum(segment.size for part in self.parts for segment in part.segments)

    @property
    def oldest(self) -> int | None:
        """The time of the oldest record, in nanoseconds since 1970."""
        return min((segment.oldest for part in self.parts for segment in part.segments), default=None)


class Records(NamedTuple):
    """The content of blocks: where one ends, and the segments up to there. `sink` names them in the database."""

    sink: str
    find_end: Callable[[Connection, int, Position, Room], Awaitable[Position]]
    read_between: Callable[[Connection, int, Position, Position], AsyncIterator[Any]]


EVALUATIONS = Records(export_batches.EVALUATIONS, export_batches.find_end, export_batches.read_between)
EVENTS = Records(export_batches.EVENTS, sent_events.find_end, sent_events.read_between)


@dataclass(frozen=True, slots=True)
class ExportBatches:
    """The blocks to send, by one holder at a time. All methods raise Error UNAVAILABLE without the database."""

    database: Database
    now: Callable[[], datetime]
    holder: str
    evaluations: int = BLOCK_EVALUATIONS
    results: int = BLOCK_RESULTS
    records: Records = EVALUATIONS

    async def next(self) -> ExportBatch | None:
        """The block to send, the same one until `record_sent`; None if there is none, or it is another one's turn."""
        now = self.now()
        async with self.database.write_history() as connection:
            has_turn, block = await export_batches.take_turn(
                connection, self.records.sink, self.holder, now, now + timedelta(seconds=TURN_SECONDS)
            )
        if not has_turn:
            return None
        async with self.database.read_history() as connection:
            recorded = await list_recorded_environments(connection)
            positions = await export_batches.read_positions(connection, self.records.sink)
        if block is None:
            ends = await self._find_ends(recorded, positions)
            if not ends:
                return None
            block = Block(str(uuid4()), ends)
            async with self.database.write_history() as connection:
                if not await export_batches.begin_block(connection, self.records.sink, self.holder, block):
                    return None
        return await self._read(block, recorded, positions)

    async def record_sent(self, delivery: ExportBatch) -> None:
        """Note that a block has arrived."""
        async with self.database.write_history() as connection:
            await export_batches.end_block(connection, self.records.sink, delivery.block)

    async def _find_ends(self, recorded: dict[UUID, int], positions: dict[UUID, Position]) -> dict[UUID, Position]:
        room = Room(self.evaluations, self.results)
        ends = {}
        async with self.database.read_history() as connection:
            for environment_id, number in recorded.items():
                position = positions.get(environment_id, Position())
                end = await self.records.find_end(connection, number, position, room)
                if end != position:
                    ends[environment_id] = end
                if room.evaluations <= 0 or room.results <= 0:
                    break
        return ends

    async def _read(self, block: Block, recorded: dict[UUID, int], positions: dict[UUID, Position]) -> ExportBatch:
        async with self.database.read() as connection:
            places = await find_places(connection, block.ends.keys())
        parts = []
        async with self.database.read_history() as connection:
            for environment_id, end in sorted(block.ends.items()):
                if environment_id not in places or environment_id not in recorded:
                    continue
                number, position = recorded[environment_id], positions.get(environment_id, Position())
                found = [each async for each in self.records.read_between(connection, number, position, end)]
                parts.append(Part(places[environment_id], found))
        return ExportBatch(block, parts)
