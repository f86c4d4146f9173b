"""One release, guard or threshold that cannot be read or written keeps no other from being watched, and from going on.

The broken one comes first in one run, and last in the other: a loop that ended at it would do the others in one order.
"""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs
from structlog.typing import EventDict

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.history.store.request_metrics import add_measured
from flagstaff.metrics import metrics_store
from flagstaff.metrics.metrics import Better, Kind, Metric
from flagstaff.metrics.request_metrics import WHOLE, Measure, Measured, RequestKind, Sample
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.judging import Hold
from flagstaff.releases.plans import Action, Guard, Step, Threshold
from flagstaff.releases.releases import Applied, Release, State, arms_of
from flagstaff.releases.runner import Runner
from flagstaff.releases.threshold_watch import find_threshold_hold
from flagstaff.releases.watching import TOLD_AFTER_SECONDS
from flagstaff.settings import Settings
from tests.support.api import Json
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_release, store_all
from tests.support.watching import have_evaluated, list_told, missing, process_of, spoil_guard, unwatched, write_counts

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
SETTINGS = Settings.load({})
ERRORS = Measured("errors", RequestKind.COUNTER, "Errors", (("appName", "shop"),), (Sample(WHOLE, 20, 1),))
BROKEN = "broken"

pytestmark = pytest.mark.both_databases


def now() -> datetime:
    return datetime.now(UTC)


def threshold(request_metric: str = "errors", above: float = 5.0) -> Threshold:
    """A threshold that the reported errors pass, unless its limit is higher."""
    return Threshold(request_metric, Measure.PER_MINUTE, Action.NOTIFY, minutes=1, above=above)


class Three(NamedTuple):
    """Three releases of one environment, in the order in which they are looked at, of which one is to be broken."""

    releases: Sequence[Release]
    broken: Release

    @property
    def sound(self) -> list[Release]:
        return [each for each in self.releases if each is not self.broken]


@pytest.fixture(autouse=True)
def captured_logs() -> Iterator[list[EventDict]]:
    """Capture the log: to render the traceback of a failure takes half a minute."""
    with capture_logs() as captured:
        yield captured


@pytest.fixture(params=[0, 2], ids=["first", "last"])
async def three(database: Database, request: pytest.FixtureRequest) -> Three:
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flags = [
        make_flag(environment, key=key, enabled=True, rollout_percentage=50) for key in ("first", "second", "third")
    ]
    await store_all(database, account, project, environment, *flags)
    releases = [
        make_release(
            Step({"rollout_percentage": 50}, after_seconds=0),
            Step({"rollout_percentage": 60}, after_seconds=60),
            Step({"rollout_percentage": 70}, after_seconds=3600),
            name=BROKEN if place == request.param else "sound",
            project_id=project.id,
            environment_id=environment.id,
            flag_id=flag.id,
            author_id=account.id,
            author_email=account.email,
            guards=(Guard("errors", Action.TURN_OFF),),
            thresholds=(threshold(above=100.0),),
            applied=(Applied(0, LONG_AGO, LONG_AGO, arms=arms_of(flag), rollout_percentage=50),),
            counts_from=LONG_AGO,
            due_at=LONG_AGO + timedelta(seconds=place),
        )
        for place, flag in enumerate(flags)
    ]
    metric = Metric(UUID(int=7), project.id, "errors", "Errors", None, Kind.BINARY, Better.DOWN, None, now(), now())
    async with database.transaction() as transaction:
        await metrics_store.create_metric(transaction.connection, metric)
        for release in releases:
            await releases_store.create_release(transaction.connection, release)
    return Three(releases, releases[request.param])


def runner_of(database: Database) -> Runner:
    """What applies the steps that are due, in a process."""
    work = WorkBudgets(SETTINGS.max_condition_work)
    return Runner(database, now, Flags(database, now, SETTINGS, work), Rules(database, now, SETTINGS, work))


async def run(database: Database) -> None:
    """Have a process apply the steps that are due."""
    await runner_of(database).run_due()


async def count_users(database: Database, release: Release) -> int:
    """The users who were counted for a release."""
    async with database.read_history() as connection:
        observed = await observations_store.find_observed(connection, release.id)
    return observed.counted.users if observed else 0


async def count_steps(database: Database, release: Release) -> int:
    """The steps of a release that were applied."""
    async with database.read() as connection:
        found = await releases_store.find_release(connection, release.id)
    assert found is not None
    assert found.state is State.RUNNING
    return len(found.applied)


async def change_release(database: Database, release: Release, **values: object) -> None:
    """Change the row of a release, as no version of Flagstaff writes it."""
    async with database.transaction() as transaction:
        changed = tables.releases.update().where(tables.releases.c.id == release.id).values(**values)
        await transaction.connection.execute(changed)


async def set_thresholds(database: Database, release: Release, *limits: Threshold) -> None:
    """Give a release other thresholds."""
    stored: list[Json]
    stored = [{"request_metric": each.request_metric, "measure": each.measure, "action": each.action, "labels": {},
               "minutes": each.minutes, "above": each.above, "below": each.below} for each in limits]  # fmt: skip
    await change_release(database, release, thresholds=stored, updated_at=now())


async def report_errors(database: Database, release: Release) -> None:
    """Report twenty errors in each of the last minutes."""
    for minute in range(4):
        async with database.write_history() as connection:
            at = now() - timedelta(minutes=minute)
            assert await add_measured(connection, release.environment_id, [ERRORS], at, 1_000) == 0


@asynccontextmanager
async def unwritable(database: Database) -> AsyncIterator[None]:
    """Let each write of the broken release fail."""
    async with database.transaction() as transaction:
        connection = transaction.connection
        if connection.dialect.name == "sqlite":
            made: tuple[str, ...] = (
                (
                    f"CREATE TRIGGER refusing BEFORE UPDATE ON releases WHEN OLD.name = '{BROKEN}' "
                    "BEGIN SELECT RAISE(ABORT, 'cannot be written'); END"
                ),
            )
        else:
            made = (
                (
                    "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS "
                    "$$ BEGIN RAISE EXCEPTION 'cannot be written'; END $$"
                ),
                (
                    f"CREATE TRIGGER refusing BEFORE UPDATE ON releases FOR EACH ROW WHEN (OLD.name = '{BROKEN}') "
                    "EXECUTE FUNCTION refuse()"
                ),
            )
        for statement in made:
            await connection.execute(sa.text(statement))
    yield
    async with database.transaction() as transaction:
        on_table = "" if transaction.connection.dialect.name == "sqlite" else " ON releases"
        await transaction.connection.execute(sa.text(f"DROP TRIGGER refusing{on_table}"))


async def test_beside_a_release_that_cannot_be_read_the_others_are_watched(database: Database, three: Three) -> None:
    await report_errors(database, three.broken)
    for release in three.releases:
        await set_thresholds(database, release, threshold())
    await change_release(database, three.broken, guards=[{"metric": "errors", "action": "explode", "tolerates": 0}])
    process = process_of(database)
    await process.look()
    await have_evaluated(database, list(three.releases))
    await process.look()
    assert [await count_users(database, each) for each in three.sound] == [1, 1]
    assert set(process.acted) == {each.id for each in three.sound}
    assert unwatched(process) == 1


async def test_beside_counts_that_cannot_be_read_the_others_are_watched(database: Database, three: Three) -> None:
    process = process_of(database)
    await process.look()
    await write_counts(database, three.broken, b"{")
    await have_evaluated(database, list(three.releases))
    await process.look()
    assert [await count_users(database, each) for each in three.sound] == [1, 1]
    assert unwatched(process) == 1


async def test_beside_a_guard_that_cannot_be_judged_the_others_are_watched(database: Database, three: Three) -> None:
    process = process_of(database)
    await process.look()
    await have_evaluated(database, list(three.releases))
    await process.look()
    await spoil_guard(database, three.broken.id)
    await have_evaluated(database, list(three.releases), "another")
    await process.look()
    assert unwatched(process) == 1
    await run(database)
    assert [await count_steps(database, each) for each in three.sound] == [2, 2]
    assert await count_steps(database, three.broken) == 1


async def test_a_release_that_can_be_neither_read_nor_put_off_is_not_tried_twice_a_second(
    database: Database, three: Three, captured_logs: list[EventDict]
) -> None:
    await change_release(database, three.broken, guards=[{"metric": "errors", "action": "explode", "tolerates": 0}])
    runner = runner_of(database)
    async with unwritable(database):
        for _ in range(3):
            await runner.run_due()
    failed = [each["release"] for each in captured_logs if each["event"] == "release_not_advanced"]
    assert failed == [str(three.broken.id)]


async def test_beside_a_threshold_that_cannot_be_read_the_others_act(database: Database, three: Three) -> None:
    await report_errors(database, three.broken)
    both = (
        (threshold("spoilt"), threshold()) if three.releases[0] is three.broken else (threshold(), threshold("spoilt"))
    )
    await set_thresholds(database, three.broken, *both)
    for release in three.sound:
        await set_thresholds(database, release, threshold())
    spoilt = Measured("spoilt", RequestKind.COUNTER, "Spoilt", (), (Sample(WHOLE, 20, 1),))
    async with database.write_history() as connection:
        assert await add_measured(connection, three.broken.environment_id, [spoilt], now(), 1_000) == 0
        series = tables.request_series
        await connection.execute(series.update().where(series.c.name == "spoilt").values(labels="{"))
    process = process_of(database)
    await process.look()
    assert sorted(process.acted) == sorted(each.id for each in three.releases)
    assert unwatched(process) == 1
    await set_thresholds(database, three.broken, threshold("spoilt"))
    async with database.read() as connection:
        broken = await releases_store.find_release(connection, three.broken.id)
    assert broken is not None
    assert await find_threshold_hold(database, broken) is Hold.UNREADABLE_THRESHOLD


@pytest.mark.each_case_on_both_databases
@pytest.mark.parametrize("what", ["its row", "its counts", "its threshold", "writing it"])
async def test_beside_a_release_that_cannot_go_on_the_others_do(database: Database, three: Three, what: str) -> None:
    process = process_of(database)
    await process.look()
    await have_evaluated(database, list(three.releases))
    await process.look()
    match what:
        case "its row":
            await change_release(database, three.broken, guards=[{"metric": "errors", "action": "x", "tolerates": 0}])
        case "its counts":
            await write_counts(database, three.broken, b"{")
        case "its threshold":
            await change_release(database, three.broken, thresholds=[{"request_metric": "errors"}])
    if what == "writing it":
        async with unwritable(database):
            await run(database)
    else:
        await run(database)
    assert [await count_steps(database, each) for each in three.sound] == [2, 2]


async def test_beside_a_release_that_cannot_be_written_people_are_told_of_the_others(
    database: Database, three: Three
) -> None:
    process = process_of(database)
    await process.look()
    async with unwritable(database):
        async with missing(database, "releases"):
            await process.pass_time(0)
            await process.pass_time(2 * TOLD_AFTER_SECONDS)
        await process.pass_time(1)
        told = [action for action, _ in await list_told(database)]
        assert sorted(told) == ["release.unwatched"] * 2 + ["release.watched"] * 2
    await process.pass_time(1)
    told = [action for action, _ in await list_told(database)]
    assert sorted(told) == ["release.unwatched"] * 3 + ["release.watched"] * 3
    assert unwatched(process) == 0
