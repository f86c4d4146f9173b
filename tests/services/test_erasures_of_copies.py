"""Each copy of the history in ClickHouse is erased on its own: one that is broken or not set keeps back no other."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from uuid import UUID, uuid4

import pytest

from flagstaff.database.database import Database
from flagstaff.database.tables import microseconds
from flagstaff.history.erased_users import Subject
from flagstaff.history.export_batches import EVALUATIONS, EVENTS, ExportBatch, ExportBatches
from flagstaff.history.history_service import History
from flagstaff.identity.second_factors.sealing import Sealer
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.people import erasures_store
from flagstaff.people.copies import Copies, EraseCopy
from flagstaff.people.eraser import RETRY, Eraser
from flagstaff.people.erasures import Erasure, Stage
from flagstaff.projects.projects import Environment
from tests.support.builders import store_environment
from tests.support.clock import Clock
from tests.support.history import START


@dataclass
class Place:
    """A history with an event, the tables in ClickHouse that are set, and those of them that are broken."""

    database: Database
    clock: Clock
    environment: Environment
    broken: set[str] = field(default_factory=set)
    erased: list[str] = field(default_factory=list)

    def make_eraser(self, *sinks: str) -> Eraser:
        copies = Copies(self.database, {sink: self._erase_from(sink) for sink in sinks})
        return Eraser(self.database, self.clock, Sealer("k" * 40), timedelta(days=1), self.clock, copies)

    async def begin_block(self) -> tuple[ExportBatches, ExportBatch]:
        """Begin a block of events, which is on its way until it is noted as sent."""
        at = microseconds(START)
        row = EventRow("checkout", "ada", at, None, None)
        batch = EventBatch(0, at, [EventGroup(self.environment.id, [row], {})])
        await History(self.database, self.clock).record_events(batch)
        batches = ExportBatches(self.database, self.clock, "first", records=EVENTS)
        begun = await batches.next()
        assert begun is not None
        return batches, begun

    async def request(self, eraser: Eraser) -> Erasure:
        now = self.clock()
        made = Erasure(uuid4(), self.environment.project_id, {}, now, now)
        sealed = eraser.sealer.seal(Subject(user_id="ada").encode(), made.id.bytes)
        async with self.database.write_history() as connection:
            await erasures_store.create_erasure(connection, made, sealed)
        return made

    async def find(self, erasure: Erasure) -> Erasure:
        async with self.database.read_history() as connection:
            found = await erasures_store.find_erasure(connection, erasure.project_id, erasure.id)
        assert found is not None
        return found

    def _erase_from(self, sink: str) -> EraseCopy:
        async def erase(project_id: UUID, subject: Subject, until: datetime) -> None:
            if sink in self.broken:
                raise OSError(f"{sink} is broken")
            self.erased.append(sink)

        return erase


@pytest.fixture
async def place(database: Database, clock: Clock) -> Place:
    return Place(database, clock, await store_environment(database))


async def test_a_block_for_a_table_that_is_not_set_any_more_keeps_back_no_erasure(place: Place) -> None:
    await place.begin_block()
    eraser = place.make_eraser(EVALUATIONS.sink)
    erasure = await place.request(eraser)
    await eraser.run_due()
    assert (await place.find(erasure)).stage is Stage.DONE
    assert place.erased == [EVALUATIONS.sink]


async def test_a_block_that_does_not_arrive_keeps_back_its_own_table_alone(place: Place) -> None:
    batches, block = await place.begin_block()
    eraser = place.make_eraser(EVALUATIONS.sink, EVENTS.sink)
    erasure = await place.request(eraser)
    for _ in range(2):  # what is erased is not erased again: ClickHouse rewrites whole parts of the table
        await eraser.run_due()
        found = await place.find(erasure)
        assert (found.stage, place.erased) == (Stage.CLICKHOUSE, [EVALUATIONS.sink])
        assert found.problem == "A block for ClickHouse is on its way. It goes on when that has arrived."
        place.clock.advance(seconds=RETRY.total_seconds())
    await batches.record_sent(block)
    await eraser.run_due()
    assert (await place.find(erasure)).stage is Stage.DONE
    assert place.erased == [EVALUATIONS.sink, EVENTS.sink]


async def test_a_broken_table_keeps_back_no_other(place: Place) -> None:
    place.broken = {EVALUATIONS.sink}
    eraser = place.make_eraser(EVALUATIONS.sink, EVENTS.sink)
    erasure = await place.request(eraser)
    await eraser.run_due()
    found = await place.find(erasure)
    assert (found.stage, found.problem) == (Stage.CLICKHOUSE, "ClickHouse: clickhouse is broken")
    assert place.erased == [EVENTS.sink]
    place.broken.clear()
    place.clock.advance(seconds=RETRY.total_seconds())
    await eraser.run_due()
    assert (await place.find(erasure)).stage is Stage.DONE
    assert place.erased == [EVENTS.sink, EVALUATIONS.sink]
