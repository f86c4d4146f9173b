"""The time that has measurably passed: a clock that jumps ahead deletes nothing, and a steady one is trusted."""

from datetime import UTC, datetime, timedelta

import pytest
from structlog.testing import capture_logs

from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter
from flagstaff.history.history_service import History
from flagstaff.history.passed_time import PassedTime
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store import batches
from flagstaff.history.store.pages import list_evaluations
from flagstaff.identity.administration.instance_store import write_time_seen
from flagstaff.projects.projects import Environment
from tests.support.builders import store_environment
from tests.support.history import make_batch, make_layout, make_record

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
RETENTION = timedelta(days=30)
MINUTE = timedelta(minutes=1)


class Machine:
    """A machine with a clock that can be set, and time that passes; it runs one process at a time."""

    def __init__(self, database: Database, clock: datetime = NOON) -> None:
        self._database = database
        self.clock = clock
        self._seconds = 0.0
        self.restart()

    def restart(self) -> None:
        self.passed = PassedTime(self._database, lambda: self.clock, lambda: self._seconds)

    async def run(self, duration: timedelta, *, step: timedelta = MINUTE) -> None:
        """Let time pass, and check the clock every minute."""
        for _ in range(duration // step):
            self._seconds += step.total_seconds()
            self.clock += step
            await self.passed.look()

    @property
    def ahead(self) -> timedelta:
        """The difference between the clock and the time that has passed."""
        return self.clock - self.passed.now()


@pytest.fixture
async def machine(database: Database) -> Machine:
    made = Machine(database)
    await made.passed.look()
    return made


async def test_nothing_is_old_before_the_first_look(database: Database) -> None:
    assert Machine(database).passed.now() == datetime(1970, 1, 1, tzinfo=UTC)


async def test_time_that_passes_counts(machine: Machine) -> None:
    await machine.run(timedelta(hours=30), step=timedelta(minutes=5))
    assert machine.ahead == timedelta(0)
    assert machine.passed.leap_seconds == 0


@pytest.mark.parametrize("leap", [timedelta(hours=2), timedelta(days=40), timedelta(days=40_000)])
@pytest.mark.parametrize("restarts", [False, True])
async def test_a_leap_ahead_does_not_count_and_is_told_once(machine: Machine, leap: timedelta, restarts: bool) -> None:
    await machine.run(timedelta(minutes=5))
    machine.clock += leap
    if restarts:
        machine.restart()
        await machine.passed.look()
    else:
        assert machine.ahead >= leap - timedelta(minutes=1), "between two looks"
    with capture_logs() as logged:
        await machine.run(timedelta(minutes=30))
    assert machine.ahead >= leap - timedelta(minutes=1)
    assert machine.passed.leap_seconds == pytest.approx(leap.total_seconds(), abs=60)
    assert [entry["event"] for entry in logged] == ([] if restarts else ["clock_leapt"])
    machine.clock -= leap
    await machine.run(MINUTE)
    assert machine.passed.leap_seconds == 0
    assert machine.ahead == timedelta(0)


async def test_a_process_whose_own_time_leaps_with_the_clock_does_not_believe_it(machine: Machine) -> None:
    await machine.run(timedelta(minutes=5))
    await machine.run(timedelta(days=40), step=timedelta(days=40))
    assert machine.ahead >= timedelta(days=39)


async def test_a_clock_that_goes_back_and_returns_deletes_nothing(machine: Machine) -> None:
    await machine.run(timedelta(minutes=5))
    right = machine.clock
    machine.clock -= timedelta(days=40)
    await machine.run(timedelta(minutes=5))
    assert machine.passed.now() == machine.clock
    machine.clock = right
    await machine.run(MINUTE)
    assert machine.ahead == timedelta(0)


@pytest.mark.parametrize(
    ("off", "wait"), [(timedelta(hours=16), timedelta(hours=1)), (timedelta(days=90), timedelta(hours=24))]
)
async def test_after_time_off_the_clock_is_believed_once_it_has_stayed(
    machine: Machine, off: timedelta, wait: timedelta
) -> None:
    machine.clock += off
    machine.restart()
    await machine.passed.look()
    await machine.run(wait - timedelta(minutes=5), step=timedelta(minutes=5))
    assert machine.ahead > timedelta(hours=1)
    await machine.run(timedelta(minutes=5), step=timedelta(minutes=5))
    assert machine.ahead == timedelta(0)
    machine.restart()
    await machine.passed.look()
    assert machine.ahead == timedelta(0), "what is believed is stored"


async def test_an_operator_can_say_that_the_clock_is_right(database: Database, machine: Machine) -> None:
    machine.clock += timedelta(days=90)
    await machine.run(MINUTE)
    await write_time_seen(database, machine.clock)
    await machine.run(MINUTE)
    assert machine.ahead == timedelta(0)
    assert machine.passed.leap_seconds == 0


async def test_an_instance_whose_clock_differs_from_the_others_never_believes_it(
    database: Database, machine: Machine
) -> None:
    wrong = Machine(database, NOON + timedelta(days=40))
    for _ in range(30 * 12):
        await machine.run(timedelta(minutes=5), step=timedelta(minutes=5))
        await wrong.run(timedelta(minutes=5), step=timedelta(minutes=5))
    assert wrong.ahead >= timedelta(days=39)
    assert machine.ahead == timedelta(0)


async def evaluations(database: Database, environment: Environment) -> int:
    async with database.read_history() as connection:
        number = await batches.find_environment_number(connection, environment.id)
        assert number is not None
        page = await list_evaluations(connection, number, EvaluationFilter(), limit=100, before=None)
    return len(page.items)


async def test_a_clock_40_days_ahead_purges_no_evaluation(database: Database, machine: Machine) -> None:
    environment = await store_environment(database)
    history = History(database, lambda: machine.clock)
    await history.record(make_batch(environment.id, make_layout(), make_record(0, "ada")))
    retention = HistoryRetention(database, lambda: machine.clock, RETENTION, passed=machine.passed.now)
    await machine.run(MINUTE)
    machine.clock += timedelta(days=40)
    await machine.run(MINUTE)
    await retention.purge()
    assert await evaluations(database, environment) == 1

    await machine.run(timedelta(hours=24), step=timedelta(minutes=5))  # the clock was right
    await retention.purge()
    assert await evaluations(database, environment) == 0
