"""Projects and environments that keep their history for a shorter time than the instance."""

import random
from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.history_service import History
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store import event_segments
from flagstaff.history.store.batches import find_environment_number
from flagstaff.metrics.events import EventBatch, EventGroup, EventRow
from flagstaff.projects.projects import Environment
from tests.support.clock import Clock
from tests.support.history import START, make_batch, make_layout, make_record, read

LAYOUT = make_layout()
INSTANCE_DAYS = 10
AGES = (1, 3, 5, 8)  # in days, of what is recorded
DAY = timedelta(days=1)


@pytest.fixture
def retention(database: Database, clock: Clock) -> HistoryRetention:
    return HistoryRetention(database, clock, timedelta(days=INSTANCE_DAYS))


async def record(database: Database, clock: Clock, environments: list[Environment]) -> None:
    """Record an evaluation and an event of each age in each environment, the oldest first."""
    clock.advance(days=INSTANCE_DAYS)
    history, now = History(database, clock), clock()
    for age in sorted(AGES, reverse=True):
        at = now - age * DAY + timedelta(hours=1)  # within the day before the age is reached
        for environment in environments:
            seconds = (at - START).total_seconds()
            await history.record(make_batch(environment.id, LAYOUT, make_record(seconds, f"user-{age}")))
            time = tables.microseconds(at)
            rows = [EventRow("errors", f"user-{age}", time, 1.0, None)]
            await history.record_events(
                EventBatch(random.randrange(2**32), time, [EventGroup(environment.id, rows, {})])
            )


async def keep(database: Database, days: dict[str, int | None]) -> None:
    """Set for how many days the project, and its environments by their keys, keep their history."""
    async with database.transaction() as transaction:
        connection = transaction.connection
        for name, each in days.items():
            if name == "project":
                await connection.execute(tables.projects.update().values(history_retention_days=each))
            else:
                of_key = tables.environments.update().where(tables.environments.c.key == name)
                await connection.execute(of_key.values(history_retention_days=each))


async def find_kept(database: Database, environment_id: UUID) -> tuple[list[int], list[int], list[int]]:
    """The ages of the evaluations, of the events and of the days with users that an environment still has."""
    evaluations = [int((each.user_id or "").removeprefix("user-")) for each in await read(database, environment_id)]
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environment_id)
        assert number is not None
        last = await event_segments.find_last(connection, number)
        found, *_ = await event_segments.list_after(connection, number, {"errors"}, after=0, last=last)
        users = tables.environment_users.c
        days = (await connection.execute(sa.select(users.day).where(users.environment == number))).scalars().all()
    events = sorted(int(each.unit.removeprefix("user-")) for each in found)
    return sorted(evaluations), events, sorted(days)


@pytest.mark.each_case_on_both_databases
@pytest.mark.parametrize(
    ("days", "kept"),
    [
        ({}, ([1, 3, 5, 8], [1, 3, 5, 8])),
        ({"project": 5}, ([1, 3, 5], [1, 3, 5])),
        ({"staging": 1}, ([1, 3, 5, 8], [1])),
        ({"project": 3, "production": 5}, ([1, 3, 5], [1, 3])),
        ({"project": 400}, ([1, 3, 5, 8], [1, 3, 5, 8])),
    ],
    ids=["none", "project", "environment", "both", "longer"],
)
async def test_evaluations_events_and_users_go_by_the_shortest_time(
    database: Database,
    clock: Clock,
    retention: HistoryRetention,
    environments: list[Environment],
    days: dict[str, int | None],
    kept: tuple[list[int], ...],
) -> None:
    await record(database, clock, environments)
    before: list[list[int]] = []
    while [len(each) for each in before] != [len(AGES)] * 2:  # users are counted for a short time in each run
        await retention.roll_up()
        before = [(await find_kept(database, each.id))[2] for each in environments]
    await keep(database, days)
    await retention.purge()
    for environment, ages, with_users in zip(environments, kept, before, strict=True):
        assert await find_kept(database, environment.id) == (ages, ages, with_users[-len(ages) :])


async def test_what_is_kept_shorter_is_deleted_in_steps_and_only_once(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    await record(database, clock, environments)
    await keep(database, {"staging": 1})
    retention.deleted_at_once = 1
    await retention.purge()
    await retention.purge()
    assert [(await find_kept(database, each.id))[0] for each in environments] == [[1, 3, 5, 8], [1]]
    await keep(database, {"staging": None})
    await retention.purge()
    assert (await find_kept(database, environments[1].id))[0] == [1], "what is deleted does not come back"


async def test_summaries_begin_where_the_history_does(
    database: Database, clock: Clock, retention: HistoryRetention, environments: list[Environment]
) -> None:
    await record(database, clock, environments)
    await retention.roll_up()
    await keep(database, {"staging": 1})
    await retention.purge()
    counts = tables.flag_counts.c
    async with database.read_history() as connection:
        number = await find_environment_number(connection, environments[1].id)
        starts = (await connection.execute(sa.select(counts.start).where(counts.environment == number))).scalars().all()
    oldest = (clock() - DAY).timestamp() / 60
    assert starts
    assert min(starts) > oldest - 1440
