"""Evaluations as the engine records them, and helpers that write and read them."""

import random
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.history.records import BATCH_IDS, RecordBatch, RecordedEvaluation, RecordGroup
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store.batches import find_environment_number, write_batches
from flagstaff.history.store.pages import BOUNDS, Bounds, list_evaluations

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
ANYTHING = EvaluationFilter()
_SECOND = 10**9

Record = tuple[int, str | None, str | None, bytes]  # the time, the user's id and email, the recorded bytes


def nanoseconds(at: datetime = START, *, seconds: float = 0) -> int:
    """Return a time in the form that records use."""
    return int(at.timestamp()) * _SECOND + at.microsecond * 1000 + round(seconds * _SECOND)


def make_layout(**values: Any) -> Layout:
    """One flag with a rollout of 20%, one with rules, and one that is off."""
    layout = {
        "recorded": (
            LayoutFlag(uuid4(), "rollout", 20, Outcome.NOT_IN_ROLLOUT),
            LayoutFlag(uuid4(), "ruled", 0, Outcome.ON),
        ),
        "constant": (LayoutFlag(uuid4(), "off", 0, Outcome.OFF),),
    }
    return Layout(**{**layout, **values})


def make_record(
    seconds: float = 0, user_id: str | None = "ada", recorded: bytes = b"\x05\x64", **values: Any
) -> Record:
    """A record, the given number of seconds after the start."""
    return (nanoseconds(seconds=seconds), user_id, values.get("user_email"), recorded)


def make_group(environment_id: UUID, layout: Layout, *records: Record, **values: Any) -> RecordGroup:
    """Records of one environment and one layout, in order."""
    columns: list[Any] = [*zip(*records, strict=True)] or [()] * 4
    return RecordGroup(environment_id, layout, *columns, **values)


def make_batch(environment_id: UUID, layout: Layout, *records: Record, **values: Any) -> RecordBatch:
    """A batch of one environment's records."""
    return RecordBatch(random.randrange(BATCH_IDS), [make_group(environment_id, layout, *records, **values)])


async def write(database: Database, *batches: RecordBatch) -> None:
    """Write batches, one after the other."""
    for batch in batches:
        async with database.write_history() as connection:
            await write_batches(connection, batch)


async def read(
    database: Database,
    environment_id: UUID,
    wanted: EvaluationFilter = ANYTHING,
    limit: int = 100,
    bounds: Bounds = BOUNDS,
) -> list[RecordedEvaluation]:
    """Read all pages, one after the other."""
    found: list[RecordedEvaluation] = []
    before = None
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None
        while True:
            page = await list_evaluations(connection, number, wanted, limit=limit, before=before, bounds=bounds)
            assert len(page.items) <= limit
            found += page.items
            if page.next_before is None:
                return found
            assert before is None or page.next_before < before, "the pages do not come to an end"
            before = page.next_before
