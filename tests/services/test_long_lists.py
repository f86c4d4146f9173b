"""Long lists take a while to convert. Meanwhile, other requests can still get a database connection."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from math import inf
from threading import Event

import pytest

from flagstaff.changes.changes import Actor
from flagstaff.concurrency import worker
from flagstaff.concurrency.loop_turns import loop_turns
from flagstaff.concurrency.worker import in_worker
from flagstaff.database.database import Database
from flagstaff.flags.condition_work_budgets import WorkBudgets
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.project_flags import ProjectFlagFilter
from flagstaff.flags.project_flags_service import ProjectFlags
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.settings import Settings
from flagstaff.snapshots.snapshots_service import SnapshotSource
from tests.support.builders import make_account, make_environment, make_flag, make_project, make_rule, store_all

SETTINGS = Settings.load({"FLAGSTAFF_MAX_CONDITION_WORK": "1000000"})
WORK = WorkBudgets(SETTINGS.max_condition_work)
ACCOUNT = make_account()
ACTOR = Actor(ACCOUNT.id, ACCOUNT.email)
PROJECT = make_project(ACCOUNT.id)
ENVIRONMENT = make_environment(PROJECT.id)
MANY = 600
AT_ONCE = 4

Use = Callable[[Database], Awaitable[object]]


def list_flags(database: Database) -> Awaitable[object]:
    service = Flags(database, lambda: datetime.now(UTC), SETTINGS, WORK)
    return service.list_flags(ACTOR, PROJECT.id, ENVIRONMENT.id)


def list_project_flags(database: Database) -> Awaitable[object]:
    return ProjectFlags(database).list_project_flags(ACTOR, PROJECT.id, ProjectFlagFilter())


def list_rules(database: Database) -> Awaitable[object]:
    service = Rules(database, lambda: datetime.now(UTC), SETTINGS, WORK)
    return service.list_rules_of_environment(ACTOR, PROJECT.id, ENVIRONMENT.id)


def load_snapshot(database: Database) -> Awaitable[object]:
    return SnapshotSource(database).load_first(PROJECT.id, ENVIRONMENT.id)


@pytest.mark.each_case_on_both_databases
@pytest.mark.parametrize("use", [list_flags, list_project_flags, list_rules, load_snapshot])
async def test_a_long_list_is_converted_after_its_connection_is_released(database: Database, use: Use) -> None:
    flags = [make_flag(ENVIRONMENT, key=f"flag-{number}") for number in range(MANY)]
    await store_all(database, ACCOUNT, PROJECT, ENVIRONMENT, *flags, *map(make_rule, flags))
    turns = loop_turns()
    turns._ends_at = inf  # the loop's pass does not end, so that nothing that waits gets its turn
    go_on = Event()
    waiting = asyncio.ensure_future(in_worker(go_on.wait))  # so that none gets beyond its first turn
    try:
        while worker._reads._thread._work_queue.qsize():
            await asyncio.sleep(0)
        uses = [asyncio.ensure_future(use(database)) for _ in range(AT_ONCE)]
        async with asyncio.timeout(10):
            while worker._reads._thread._work_queue.qsize() + len(turns) < AT_ONCE:
                await asyncio.sleep(0)
        held = [engine for engine in database._engines if engine.pool.checkedout()]  # type: ignore[attr-defined]
    finally:
        go_on.set()
        turns._begin(0)
    results = await asyncio.gather(*uses)
    await waiting

    assert not held
    assert all(results)
