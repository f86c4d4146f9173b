"""A rule with a percentage is added and removed before anybody has counted: whom it may have decided is left out."""

from datetime import UTC, datetime, timedelta

import pytest

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.evaluation.history.layout import LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.flags.access import FlagPath
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags import RuleType
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.releases import observations_store, releases_store
from flagstaff.releases.counting import TOLERANCE
from flagstaff.releases.observations import Observations
from flagstaff.releases.plans import Action, Guard
from flagstaff.releases.releases import Applied, Release, arms_of
from flagstaff.settings import Settings
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_release, store_all
from tests.support.history import make_batch, make_layout, write
from tests.support.watching import process_of

SETTINGS = Settings.load({})
RULE = {"rule_type": RuleType.USER_ID, "rule_value": "nobody", "priority": 0, "enabled": True}

pytestmark = pytest.mark.both_databases


async def evaluate(database: Database, release: Release, at: datetime, users: int, name: str) -> None:
    """Store an evaluation at 50 % of as many users, whose buckets are from 0 on."""
    flag = LayoutFlag(release.flag_id, "flag", 50, Outcome.OFF)
    nanoseconds = int(at.timestamp() * 1_000_000) * 1000
    records = [(nanoseconds, f"{name}-{bucket}", None, bytes([bucket])) for bucket in range(users)]
    await write(database, make_batch(release.environment_id, make_layout(recorded=(flag,)), *records))


async def find_counted(database: Database, release: Release) -> Observations:
    """What was counted for a release."""
    async with database.read_history() as connection:
        observed = await observations_store.find_observed(connection, release.id)
    assert observed is not None
    return observed.counted


@pytest.mark.parametrize("is_counted_between", [False, True], ids=["within one backlog", "seen in between"])
async def test_whom_a_rule_may_have_decided_that_came_and_went_is_left_out_whoever_was_behind(
    database: Database, *, is_counted_between: bool
) -> None:
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(environment, enabled=True, rollout_percentage=50)
    await store_all(database, account, project, environment, flag)
    began = datetime.now(UTC)
    release = make_release(
        project_id=project.id,
        environment_id=environment.id,
        flag_id=flag.id,
        guards=(Guard("errors", Action.TURN_OFF),),
        applied=(Applied(0, began, began, arms=arms_of(flag), rollout_percentage=50),),
    )
    async with database.transaction() as transaction:
        await releases_store.create_release(transaction.connection, release)
    rules = Rules(database, lambda: datetime.now(UTC), SETTINGS, WorkBudgets(SETTINGS.max_condition_work))
    actor, path = Actor(account.id, account.email), FlagPath(project.id, environment.id, flag.id)
    observer = process_of(database).observer
    await observer.look()
    await evaluate(database, release, began, 100, "before")
    await observer.look()
    assert (await find_counted(database, release)).exposed == [[50, 50]]

    rule = await rules.create_rule(actor, path, **RULE, rollout_percentage=30)
    # Those whom the rule matches and lets pass: only high buckets.
    await evaluate(database, release, datetime.now(UTC), 100, "meanwhile")
    if is_counted_between:
        await observer.look()
    await rules.delete_rule(actor, path, rule.id)
    later = datetime.now(UTC) + timedelta(microseconds=TOLERANCE, seconds=1)
    await evaluate(database, release, later, 100, "after")
    await observer.look()
    counted = await find_counted(database, release)
    if is_counted_between:  # it was seen, so that it is known whom it has decided: for the rest of the step as well
        assert (counted.exposed, counted.outside) == ([[50, 50], [100, 40]], 60)
    else:
        assert (counted.exposed, counted.outside) == ([[50, 50], [0, 0], [50, 50]], 100)
    shares = [each.arms.shares for each in counted.compared(release.segments)]
    assert shares == [(0.5, 0.5), (pytest.approx(50 / 70), pytest.approx(20 / 70))][: 1 + is_counted_between] + [
        (0.5, 0.5)
    ] * (not is_counted_between)
