"""The audit trail in the database."""

from datetime import timedelta

import sqlalchemy as sa

from flagstaff.domain.changes import COMMAND_LINE, Actor, Scope, change_of
from flagstaff.storage import tables
from flagstaff.storage.changes import record
from flagstaff.storage.database import Database
from flagstaff.storage.projects import delete_project
from tests.storage.conftest import Stored
from tests.support.builders import AT, make_account, make_flag

columns = tables.changes.c


async def test_a_change_is_kept_with_who_what_where_and_both_sides(database: Database, stored: Stored) -> None:
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
        await record(transaction, change_of(COMMAND_LINE, "account.created", AT, Scope(), after=account))
    async with database.read() as connection:
        query = sa.select(columns.actor_id, columns.actor_email, columns.project_id)
        assert tuple((await connection.execute(query)).one()) == (None, None, None)


async def test_a_side_that_is_missing_is_sql_null(database: Database) -> None:
    account = make_account()
    async with database.transaction() as transaction:
        await record(transaction, change_of(COMMAND_LINE, "account.created", AT, Scope(), after=account))
        await record(transaction, change_of(COMMAND_LINE, "account.deleted", AT, Scope(), before=account))
    async with database.read() as connection:
        query = sa.select(columns.before.is_(sa.null()), columns.after.is_(sa.null())).order_by(columns.id)
        assert [tuple(map(bool, row)) for row in await connection.execute(query)] == [(True, False), (False, True)]


async def test_changes_are_numbered_in_the_order_of_their_writing(database: Database) -> None:
    for seconds in (2, 0, 1):
        async with database.transaction() as transaction:
            at = AT + timedelta(seconds=seconds)
            await record(transaction, change_of(COMMAND_LINE, f"step.{seconds}", at, Scope(), after=make_account()))
    async with database.read() as connection:
        actions = (await connection.execute(sa.select(columns.action).order_by(columns.id))).scalars().all()
    assert actions == ["step.2", "step.0", "step.1"]


async def test_the_trail_outlives_what_it_tells_of(database: Database, stored: Stored) -> None:
    scope = Scope(stored.project.id, stored.environment.id, stored.flag.id)
    async with database.transaction() as transaction:
        await record(transaction, change_of(COMMAND_LINE, "flag.created", AT, scope, after=stored.flag))
        await delete_project(transaction.connection, stored.project.id)
    async with database.read() as connection:
        assert (await connection.execute(sa.select(columns.flag_id))).scalar_one() == stored.flag.id
