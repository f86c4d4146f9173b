"""Evaluations to record, as the engine would have made them."""

import random
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from flagstaff.evaluation.layout import Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.evaluation.records import SEEDS, Record, RecordBatch, RecordGroup

START = datetime(2026, 11, 20, 10, tzinfo=UTC)
_SECOND = 10**9


def nanoseconds(at: datetime = START, *, seconds: float = 0) -> int:
    """A time as records hold it."""
    return int(at.timestamp()) * _SECOND + at.microsecond * 1000 + round(seconds * _SECOND)


def make_layout(**values: Any) -> Layout:
    """One flag in a rollout of 20 %, one with rules, one that is off."""
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
    """A record, so many seconds after the start."""
    return (nanoseconds(seconds=seconds), user_id, values.get("user_email"), recorded)


def make_batch(environment_id: UUID, layout: Layout, *records: Record) -> RecordBatch:
    """A batch of one environment's records."""
    return RecordBatch(random.randrange(SEEDS), [RecordGroup(environment_id, layout, records)])
