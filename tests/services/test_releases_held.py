"""What holds the steps of a release back, and what its guards watch after an edit by hand."""

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import pytest

from flagstaff.changes.changes import Actor
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.flags.access import FlagPath
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.history.store.request_metrics import add_measured
from flagstaff.metrics.request_metrics import WHOLE, Measure, Measured, RequestKind, Sample
from flagstaff.releases import releases_store
from flagstaff.releases.judging import Hold
from flagstaff.releases.plans import Action, Step, Threshold
from flagstaff.releases.releases import Applied, Release, State, arms_of
from flagstaff.releases.releases_service import Releases
from flagstaff.releases.runner import Runner
from flagstaff.releases.threshold_watch import find_threshold_hold
from flagstaff.settings import Settings
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_release, store_all
from tests.support.watching import missing

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
SETTINGS = Settings.load({})
THRESHOLD = Threshold("errors", Measure.PER_MINUTE, Action.PAUSE, minutes=2, above=5.0)
ERRORS = Measured("errors", RequestKind.COUNTER, "Errors", (("appName", "shop"),), (Sample(WHOLE, 20, 1),))

pytestmark = pytest.mark.both_databases


def now() -> datetime:
    return datetime.now(UTC)


class Begun(NamedTuple):
    """A release at 50 % whose next step is due, and what runs it. No process watches its thresholds."""

    database: Database
    release: Release
    actor: Actor
    flags: Flags
    runner: Runner

    @property
    def path(self) -> FlagPath:
        return FlagPath(self.release.project_id, self.release.environment_id, self.release.flag_id)

    async def run(self) -> Release:
        """Have it looked at, and return it as it is then."""
        async with self.database.transaction() as transaction:
            await transaction.connection.execute(tables.releases.update().values(due_at=now() - timedelta(seconds=1)))
        await self.runner.run_due()
        async with self.database.read() as connection:
            found = await releases_store.find_release(connection, self.release.id)
        assert found is not None
        return found


@pytest.fixture
async def begun(database: Database) -> Begun:
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(environment, enabled=True, rollout_percentage=50)
    await store_all(database, account, project, environment, flag)
    first = Applied(0, LONG_AGO, LONG_AGO, arms=arms_of(flag), rollout_percentage=50, hashed_key=flag.hashed_key)
    release = make_release(
        Step({"rollout_percentage": 50}, after_seconds=0),
        Step({"rollout_percentage": 100}, after_seconds=60),
        project_id=project.id,
        environment_id=environment.id,
        flag_id=flag.id,
        author_id=account.id,
        author_email=account.email,
        thresholds=(THRESHOLD,),
        applied=(first,),
        counts_from=LONG_AGO,
        due_at=LONG_AGO,
    )
    async with database.transaction() as transaction:
        await releases_store.create_release(transaction.connection, release)
    work = WorkBudgets(SETTINGS.max_condition_work)
    flags, rules = Flags(database, now, SETTINGS, work), Rules(database, now, SETTINGS, work)
    return Begun(database, release, Actor(account.id, account.email), flags, Runner(database, now, flags, rules))


async def test_the_next_step_waits_while_a_threshold_cannot_be_read(begun: Begun) -> None:
    async with missing(begun.database, "request_series"):
        held = await begun.run()
        assert (held.state, held.next_step) == (State.RUNNING, 1)
        assert await find_threshold_hold(begun.database, held) is Hold.UNREADABLE_THRESHOLD
    assert (await begun.run()).next_step is None


async def test_the_next_step_waits_for_a_threshold_that_is_about_to_act(begun: Begun) -> None:
    for minute in range(5):
        async with begun.database.write_history() as connection:
            at = now() - timedelta(minutes=minute)
            assert await add_measured(connection, begun.release.environment_id, [ERRORS], at, 1_000) == 0
    held = await begun.run()
    assert (held.state, held.next_step) == (State.RUNNING, 1)
    assert await find_threshold_hold(begun.database, held) is Hold.THRESHOLD


async def test_guards_watch_an_edit_by_hand_just_before_a_person_pauses(begun: Begun) -> None:
    releases = Releases(begun.database, now, SETTINGS)
    await begun.flags.update_flag(begun.actor, begun.path, rollout_percentage=20)
    await releases.pause_release(begun.actor, begun.path, begun.release.id)
    paused = await begun.run()
    assert (paused.state, [each.rollout_percentage for each in paused.applied]) == (State.PAUSED, [50, 20])
