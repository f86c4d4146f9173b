"""Sends the history onwards in blocks: exactly once, if the receiver recognises a block that is repeated."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from flagstaff.database.database import Database
from flagstaff.history.store import export_batches
from flagstaff.history.store.batches import list_recorded_environments
from flagstaff.history.store.export_batches import Block, Room
from flagstaff.history.store.following import FollowedSegment, Position
from flagstaff.projects import environments_store

TURN_SECONDS = 20.0  # after its last attempt, another instance may go on
BLOCK_EVALUATIONS = 10_000
BLOCK_RESULTS = 500_000  # of flags in these evaluations, some 30 MB as JSON


@dataclass(frozen=True, slots=True)
class Part:
    """Evaluations of one environment, with its project's id and its key."""

    project_id: UUID
    environment_id: UUID
    environment: str
    segments: Sequence[FollowedSegment]


@dataclass(frozen=True, slots=True)
class ExportBatch:
    """A block with its evaluations. Those of environments that were deleted are left out."""

    block: Block
    parts: Sequence[Part]

    @property
    def size(self) -> int:
        """The number of evaluations."""
        return sum(len(segment.offsets) for part in self.parts for segment in part.segments)

    @property
    def oldest(self) -> int | None:
        """The time of the oldest evaluation, in nanoseconds since 1970."""
        segments = [segment for part in self.parts for segment in part.segments]
        return min((segment.columns.times[segment.offsets[0]] for segment in segments), default=None)


@dataclass(frozen=True, slots=True)
class ExportBatches:
    """The blocks to send, by one holder at a time. All methods raise Error UNAVAILABLE without the database."""

    database: Database
    now: Callable[[], datetime]
    holder: str
    evaluations: int = BLOCK_EVALUATIONS
    results: int = BLOCK_RESULTS

    async def next(self) -> ExportBatch | None:
        """The block to send, the same one until `record_sent`; None if there is none, or it is another one's turn."""
        now = self.now()
        async with self.database.write_history() as connection:
            has_turn, block = await export_batches.take_turn(
                connection, self.holder, now, now + timedelta(seconds=TURN_SECONDS)
            )
        if not has_turn:
            return None
        async with self.database.read_history() as connection:
            recorded = await list_recorded_environments(connection)
            positions = await export_batches.read_positions(connection)
        if block is None:
            ends = await self._find_ends(recorded, positions)
            if not ends:
                return None
            block = Block(str(uuid4()), ends)
            async with self.database.write_history() as connection:
                if not await export_batches.begin_block(connection, self.holder, block):
                    return None
        return await self._read(block, recorded, positions)

    async def record_sent(self, delivery: ExportBatch) -> None:
        """Note that a block has arrived."""
        async with self.database.write_history() as connection:
            await export_batches.end_block(connection, delivery.block)

    async def _find_ends(self, recorded: dict[UUID, int], positions: dict[UUID, Position]) -> dict[UUID, Position]:
        room = Room(self.evaluations, self.results)
        ends = {}
        async with self.database.read_history() as connection:
            for environment_id, number in recorded.items():
                position = positions.get(environment_id, Position())
                end = await export_batches.find_end(connection, number, position, room)
                if end != position:
                    ends[environment_id] = end
                if room.evaluations <= 0 or room.results <= 0:
                    break
        return ends

    async def _read(self, block: Block, recorded: dict[UUID, int], positions: dict[UUID, Position]) -> ExportBatch:
        async with self.database.read() as connection:
            places = await environments_store.find_places(connection, block.ends.keys())
        parts = []
        async with self.database.read_history() as connection:
            for environment_id, end in sorted(block.ends.items()):
                if environment_id not in places or environment_id not in recorded:
                    continue
                number, position = recorded[environment_id], positions.get(environment_id, Position())
                found = [each async for each in export_batches.read_between(connection, number, position, end)]
                parts.append(Part(places[environment_id][0], environment_id, places[environment_id][1], found))
        return ExportBatch(block, parts)
