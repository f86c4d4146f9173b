"""The amount of history that an impact examines."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from flagstaff.changes.changes import Actor
from flagstaff.database.database import Database
from flagstaff.flags.access import FlagPath
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.insight.drafts import Draft
from flagstaff.insight.impacts_service import Bounds, Impact, Impacts
from flagstaff.settings import Settings
from tests.support.builders import make_account, make_environment, make_flag, make_project, store_all
from tests.support.history import START, make_batch, make_layout, make_record, write

WORK = WorkBudgets(Settings.load({"FLAGSTAFF_MAX_CONDITION_WORK": "1000000"}).max_condition_work)
NOW = START + timedelta(minutes=1)
SEGMENTS = 30


async def store_users(database: Database, environment_id: UUID) -> None:
    """Store a user in each of some segments, a second apart."""
    for number in range(SEGMENTS):
        await write(database, make_batch(environment_id, make_layout(), make_record(number, f"user-{number}")))


async def preview(database: Database, **bounds: Any) -> Impact:
    """Preview the impact of turning a flag off."""
    account = make_account()
    project = make_project(account.id)
    environment = make_environment(project.id)
    flag = make_flag(environment)
    await store_all(database, account, project, environment, flag)
    await store_users(database, environment.id)
    impacts = Impacts(database, lambda: NOW, WORK, Bounds(**bounds))
    actor, path = Actor(account.id, account.email), FlagPath(project.id, environment.id, flag.id)
    values = {"key": flag.key, "enabled": False, "prerequisites": (), "variants": ()}
    return await impacts.preview(actor, path, Draft(values, []))


async def test_a_whole_day_is_examined(database: Database) -> None:
    impact = await preview(database)
    assert (impact.users, impact.turned_off, impact.complete) == (SEGMENTS, SEGMENTS, True)
    assert (impact.since, impact.until) == (NOW - timedelta(days=1), NOW)


@pytest.mark.parametrize(("bounds", "users"), [({"users": 3}, 3), ({"users": 20}, 20), ({"seconds": 0}, 1)])
async def test_beyond_a_number_of_users_or_a_time_the_rest_is_left_out_and_that_is_said(
    database: Database, bounds: dict[str, Any], users: int
) -> None:
    impact = await preview(database, **bounds)
    assert (impact.users, impact.turned_off, impact.complete) == (users, users, False)
    # Segments that end before are not examined: the newest of the others is a second before the oldest of these.
    assert START + timedelta(seconds=SEGMENTS - users - 1) < impact.since <= START + timedelta(seconds=SEGMENTS - users)


async def test_a_bound_that_is_reached_at_the_end_leaves_nothing_out(database: Database) -> None:
    impact = await preview(database, users=SEGMENTS)
    assert (impact.users, impact.complete) == (SEGMENTS, True)
