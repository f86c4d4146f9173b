"""The audit trail of a deleted project goes some time after it, and that of all others stays."""

from datetime import timedelta

import sqlalchemy as sa

from flagstaff.audit.deleted_projects import TrailDeletion
from flagstaff.audit.old_changes_store import TRAIL_DELETED, delete_changes
from flagstaff.audit.retention import TrailRetention
from flagstaff.changes.changes import COMMAND_LINE, Scope, change_of
from flagstaff.database import tables
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database
from flagstaff.projects.projects_store import delete_project
from tests.support.builders import make_account, make_flag, make_project, store_all, store_environment
from tests.support.clock import Clock


async def count_changes(database: Database) -> int:
    async with database.read() as connection:
        return (await connection.execute(sa.select(sa.func.count()).select_from(tables.changes))).scalar_one()


async def test_it_goes_thirty_days_after_its_project_in_small_turns(database: Database, clock: Clock) -> None:
    trails = TrailRetention(database, clock, timedelta(days=30), deleted_at_once=3)
    await trails.purge()
    account, environment = make_account(), await store_environment(database)
    projects = [make_project(account.id) for _ in range(3)]
    await store_all(database, account, *projects)
    for project_id in (environment.project_id, *(each.id for each in projects)):
        for _ in range(8):
            async with database.transaction() as transaction:
                change = change_of(COMMAND_LINE, "comment.deleted", clock(), Scope(project_id), before=make_flag())
                await record(transaction, change)
    async with database.transaction() as transaction:
        await record(transaction, change_of(COMMAND_LINE, "account.promoted", clock(), Scope(), after=account))
    for project in projects[:2]:
        async with database.transaction() as transaction:
            await delete_project(transaction.connection, project.id)
    assert await count_changes(database) == 33
    for days, left in ((29, 33), (2, 17)):
        clock.advance(days=days)
        await trails.purge()
        assert await count_changes(database) == left
    await trails.purge()
    assert await count_changes(database) == 17


async def test_an_order_deletes_that_of_a_deleted_project_only_and_goes_on_after_a_kill(
    database: Database, clock: Clock
) -> None:
    trails = TrailRetention(database, clock, timedelta(days=30), deleted_at_once=3)
    account = make_account()
    ordered, present, other = (make_project(account.id) for _ in range(3))
    await store_all(database, account, ordered, present, other)
    for project in (ordered, present, other):
        for _ in range(8):
            async with database.transaction() as transaction:
                change = change_of(COMMAND_LINE, "comment.deleted", clock(), Scope(project.id), before=make_flag())
                await record(transaction, change)
    for project in (ordered, other):
        async with database.transaction() as transaction:
            await delete_project(transaction.connection, project.id)
    await trails.purge_ordered()
    assert await count_changes(database) == 24
    for project in (ordered, present):
        async with database.transaction() as transaction:
            order = TrailDeletion(project.id, clock())
            await record(transaction, change_of(COMMAND_LINE, TRAIL_DELETED, clock(), Scope(), after=order))
    async with database.transaction() as transaction:  # a turn, after which the process is killed
        assert await delete_changes(transaction.connection, ordered.id, 3)
    for _ in range(2):
        await trails.purge_ordered()
        assert await count_changes(database) == 18
