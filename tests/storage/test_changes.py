"""The audit trail in the database."""

import re
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from flagstaff.audit.change_lists_store import (
    ChangeFilter,
    find_environment_ids,
    list_account_changes,
    list_environment_changes,
    list_project_changes,
)
from flagstaff.changes.actions import actions_of
from flagstaff.changes.changes import COMMAND_LINE, Actor, Scope, change_of
from flagstaff.database import tables
from flagstaff.database.changes_store import record
from flagstaff.database.database import Database
from flagstaff.projects.projects_store import delete_project
from tests.storage.conftest import Stored
from tests.support.builders import AT, make_account, make_flag

columns = tables.changes.c


async def test_a_change_is_stored_with_its_actor_action_place_and_both_states(
    database: Database, stored: Stored
) -> None:
    actor = Actor(stored.account.id, stored.account.email)
    scope = Scope(stored.project.id, stored.environment.id, stored.flag.id)
    after = make_flag(stored.environment, id=stored.flag.id, name="Größe 😀", enabled=False)
    change = change_of(actor, "flag.updated", AT, scope, before=stored.flag, after=after)
    async with database.transaction() as transaction:
        await record(transaction, change)
        assert transaction.changes == [change]
    async with database.read() as connection:
        row = (await connection.execute(sa.select(tables.changes))).one()
    assert row.at == AT
    assert (row.actor_id, row.actor_email) == (actor.account_id, actor.email)
    assert (row.action, row.resource_id) == ("flag.updated", stored.flag.id)
    assert Scope(row.project_id, row.environment_id, row.flag_id) == scope
    assert (row.before, row.after) == (change.before, change.after)


async def test_the_command_line_has_neither_account_nor_email(database: Database) -> None:
    account = make_account()
    async with database.transaction() as transaction:
        await record(transaction, change_of(COMMAND_LINE, "account.registered", AT, Scope(), after=account))
    async with database.read() as connection:
        query = sa.select(columns.actor_id, columns.actor_email, columns.project_id)
        assert tuple((await connection.execute(query)).one()) == (None, None, None)


async def test_a_side_that_is_missing_is_sql_null(database: Database) -> None:
    account = make_account()
    async with database.transaction() as transaction:
        await record(transaction, change_of(COMMAND_LINE, "account.registered", AT, Scope(), after=account))
        await record(transaction, change_of(COMMAND_LINE, "account.deactivated", AT, Scope(), before=account))
    async with database.read() as connection:
        query = sa.select(columns.before.is_(sa.null()), columns.after.is_(sa.null())).order_by(columns.id)
        assert [tuple(map(bool, row)) for row in await connection.execute(query)] == [(True, False), (False, True)]


async def test_changes_are_numbered_in_the_order_of_their_writing(database: Database, stored: Stored) -> None:
    scope = Scope(stored.project.id)
    for seconds in (2, 0, 1):
        async with database.transaction() as transaction:
            at = AT + timedelta(seconds=seconds)
            await record(transaction, change_of(COMMAND_LINE, f"step.{seconds}", at, scope, after=make_account()))
    async with database.read() as connection:
        actions = (await connection.execute(sa.select(columns.action).order_by(columns.id))).scalars().all()
    assert actions == ["step.2", "step.0", "step.1"]


async def test_the_trail_outlives_its_resources(database: Database, stored: Stored) -> None:
    scope = Scope(stored.project.id, stored.environment.id, stored.flag.id)
    async with database.transaction() as transaction:
        await record(transaction, change_of(COMMAND_LINE, "flag.created", AT, scope, after=stored.flag))
        await delete_project(transaction.connection, stored.project.id)
    async with database.read() as connection:
        assert (await connection.execute(sa.select(columns.flag_id))).scalar_one() == stored.flag.id


async def fill_trail(database: Database, stored: Stored) -> None:
    """Store many changes, one in a hundred of them in the stored project, and update the planner's statistics."""
    row = {"actor_id": stored.account.id, "actor_email": stored.account.email, "action": "flag.toggled"}
    places = [(stored.project.id, stored.environment.id), *((uuid4(), uuid4()) for _ in range(99))]
    rows = [
        {
            **row,
            "at": AT + timedelta(minutes=number),
            "resource_id": uuid4(),
            "project_id": project_id,
            "environment_id": environment_id,
            "flag_key": f"flag-{number % 7}",
        }
        for number in range(100)
        for project_id, environment_id in places
    ]
    async with database.transaction() as transaction:
        await transaction.connection.execute(tables.changes.insert(), rows)
        await transaction.connection.execute(sa.text("ANALYZE"))


async def plan_of(database: Database, read: Callable[[AsyncConnection], Awaitable[object]]) -> str:
    """Return the database's plan for the one statement that `read` executes."""
    executed: list[tuple[str, Any]] = []
    async with database.read() as connection:

        def note(*execution: Any) -> None:
            executed.append((execution[2], execution[3]))

        sa.event.listen(connection.sync_connection, "before_cursor_execute", note)
        await read(connection)
        sa.event.remove(connection.sync_connection, "before_cursor_execute", note)
        ((statement, parameters),) = executed
        explain = "EXPLAIN" if database.is_postgresql else "EXPLAIN QUERY PLAN"
        rows = await connection.exec_driver_sql(f"{explain} {statement}", parameters)
        return "\n".join(str(row[-1]) for row in rows)


async def test_every_list_of_changes_is_read_by_an_index(database: Database, stored: Stored) -> None:
    await fill_trail(database, stored)
    project_id, environment_id, account_id = stored.project.id, stored.environment.id, stored.account.id
    since, until = AT + timedelta(minutes=50), AT + timedelta(minutes=60)
    page: dict[str, Any] = {"before": 10**6, "limit": 51}
    wanted = [
        ChangeFilter(),
        ChangeFilter(since=since),
        ChangeFilter(until=until),
        ChangeFilter(actor_id=account_id),
        ChangeFilter(actions=["flag.toggled"]),
        ChangeFilter(actions=["flag.deleted"]),
        ChangeFilter(flag_key="flag-3"),
        ChangeFilter(flag_key="unknown"),
        ChangeFilter(environment_ids=[environment_id]),
        ChangeFilter(account_id, ["flag.toggled"], "flag-3", [environment_id], since, until),
    ]
    reads: list[Callable[[AsyncConnection], Awaitable[object]]] = [
        *(partial(list_project_changes, project_id=project_id, wanted=each, **page) for each in wanted),
        *(
            partial(list_environment_changes, environment=stored.environment, wanted=each, **page)
            for each in (
                ChangeFilter(),
                ChangeFilter(flag_id=stored.flag.id),
                ChangeFilter(since=since, until=until),
                ChangeFilter(flag_id=stored.flag.id, since=since, until=until),
                ChangeFilter(actor_id=account_id, actions=["flag.toggled"], flag_key="flag-3"),
            )
        ),
        partial(list_account_changes, account_id=account_id, **page),
        partial(find_environment_ids, project_id=project_id, key="production"),
    ]
    for read in reads:
        plan = await plan_of(database, read)
        # Of changes that an index has found, each is read by its number.
        plan = plan.replace("SEARCH changes USING INTEGER PRIMARY KEY (rowid=?)", "")
        assert not re.search(r"Seq Scan|SCAN changes|changes_primary|PRIMARY KEY", plan), f"{read}:\n{plan}"
        assert re.search(r"changes_\w+_index", plan), plan


async def test_sqlite_finds_changes_of_several_actions_without_reading_all_changes_of_the_project(
    database: Database, stored: Stored
) -> None:
    if database.is_postgresql:
        pytest.skip("PostgreSQL chooses the index of actions by its statistics.")
    await fill_trail(database, stored)
    wanted = ChangeFilter(actions=actions_of("segment"))
    for read in (
        partial(list_project_changes, project_id=stored.project.id, wanted=wanted, before=None, limit=51),
        partial(list_environment_changes, environment=stored.environment, wanted=wanted, before=None, limit=51),
    ):
        plan = await plan_of(database, read)
        assert set(re.findall(r"changes_\w+_index \(.+\)", plan)) == {
            "changes_project_id_action_id_index (project_id=? AND action=?)"
        }
