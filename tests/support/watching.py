"""Processes that watch releases, what takes away what they need, and what they then tell."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
import structlog

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.layout import LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.releases.judging import Verdict
from flagstaff.releases.observer import Observer
from flagstaff.releases.releases import Release
from flagstaff.releases.threshold_watch import ThresholdWatch
from flagstaff.releases.watching import Watching
from flagstaff.telemetry.metrics import Metrics
from tests.support.history import make_batch, make_layout, make_record, write

IN_HISTORY = ("request_series", "counted_releases", "segments", "event_segments", "recorded_environments")


@dataclass
class Stopwatch:
    """A clock that stands still unless it is moved."""

    seconds: float = 1000.0

    def __call__(self) -> float:
        return self.seconds


class Process(NamedTuple):
    """What a process has that watches releases."""

    clock: Stopwatch
    watching: Watching
    observer: Observer
    thresholds: ThresholdWatch
    acted: list[UUID]

    async def look(self) -> None:
        """Look at all releases once, as the tasks do."""
        for work in (self.observer.look, self.thresholds.watch):
            try:
                await work()
            except Exception as error:  # noqa: BLE001 - as a task's supervisor does
                structlog.get_logger().warning("task_failed", reason=repr(error))

    async def pass_time(self, seconds: float) -> None:
        """Let time pass, look, and tell what there is to be told."""
        self.clock.seconds += seconds
        await self.look()
        await self.watching.tell()


def process_of(database: Database, name: str = "one") -> Process:
    """A process that watches releases, in which no guard acts."""
    acted: list[UUID] = []

    async def act(release: Release, _verdict: Verdict, _metrics: object) -> None:
        acted.append(release.id)

    async def act_beyond(release: Release, _place: int, _value: float) -> None:
        acted.append(release.id)

    clock = Stopwatch()
    watching = Watching(database, lambda: datetime.now(UTC), clock)
    observer, thresholds = Observer(database, name, act, watching), ThresholdWatch(database, act_beyond, watching)
    return Process(clock, watching, observer, thresholds, acted)


async def list_told(database: Database) -> list[tuple[str, UUID]]:
    """The changes that were recorded, with the environments."""
    columns = tables.changes.c
    async with database.read() as connection:
        query = sa.select(columns.action, columns.environment_id).where(columns.action.like("release.%"))
        rows = await connection.execute(query.order_by(columns.id))
        return [(row.action, row.environment_id) for row in rows]


def unwatched(process: Process) -> float:
    """The figure of the metric for Prometheus."""
    metrics = Metrics()
    process.watching.export_metrics(metrics)
    text = metrics.render()[0].decode()
    (line,) = (each for each in text.splitlines() if each.startswith("flagstaff_releases_unwatched "))
    return float(line.split()[1])


async def have_evaluated(database: Database, releases: list[Release], user: str = "ada") -> None:
    """Store an evaluation of each flag for a user."""
    await write(
        database,
        *(
            make_batch(
                each.environment_id,
                make_layout(recorded=(LayoutFlag(each.flag_id, "flag", 50, Outcome.NOT_IN_ROLLOUT),)),
                make_record(user_id=user, recorded=b"\x05"),
            )
            for each in releases
        ),
    )


@asynccontextmanager
async def missing(database: Database, table: str) -> AsyncIterator[None]:
    """Take a table away."""

    async def rename(before: str, after: str) -> None:
        place = database.write_history() if table in IN_HISTORY else database.transaction()
        async with place as opened:
            connection: Any = opened if table in IN_HISTORY else opened.connection
            schema = "history." if table in IN_HISTORY and connection.dialect.name == "postgresql" else ""
            await connection.execute(sa.text(f"ALTER TABLE {schema}{before} RENAME TO {after}"))

    await rename(table, f"{table}_away")
    yield
    await rename(f"{table}_away", table)


async def write_counts(database: Database, release: Release, content: bytes | None = None) -> bytes:
    """Replace what was counted for a release, if something is given, and return what there was."""
    columns = tables.counted_releases.c
    of_release = columns.release_id == release.id
    async with database.write_history() as connection:
        before: bytes = (await connection.execute(sa.select(columns.content).where(of_release))).scalar_one()
        if content is not None:
            await connection.execute(tables.counted_releases.update().where(of_release).values(content=content))
    return before


async def spoil_guard(database: Database, release_id: UUID) -> None:
    """Lose what was counted of the metric of a release's first guard, so that it cannot be judged."""
    await _write_cells(database, release_id, [])


async def mend_guard(database: Database, release_id: UUID) -> None:
    """Let the first guard of a release be judged again, as if nobody had an event so far."""
    await _write_cells(database, release_id, [{}, {}])


async def _write_cells(database: Database, release_id: UUID, cells: list[Any]) -> None:
    """Replace what was counted of the first metric in each stretch; whoever is counting meanwhile begins again."""
    columns = tables.counted_releases.c
    counts = tables.counted_releases.update().where(columns.release_id == release_id)
    async with database.write_history() as connection:
        await connection.execute(counts.values(version=columns.version + 1))
        query = sa.select(columns.content).where(columns.release_id == release_id)
        content = json.loads((await connection.execute(query)).scalar_one())
        metric = content["metrics"][0]
        metric["cells"] = [cells for _ in metric["cells"]]
        await connection.execute(counts.values(content=json.dumps(content).encode()))
