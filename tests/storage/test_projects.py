"""Projects in the database."""

from dataclasses import replace
from datetime import timedelta

import pytest
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.projects.projects_store import (
    delete_project,
    find_project,
    find_project_for_update,
    list_projects,
    list_sdk_keys,
    update_project,
)
from flagstaff.values.errors import Code, Error
from tests.storage.conftest import Stored
from tests.support.builders import (
    AT,
    make_account,
    make_environment,
    make_flag,
    make_project,
    make_rule,
    store_all,
)


async def test_a_project_of_a_missing_account_is_refused(database: Database) -> None:
    with pytest.raises(Error) as refusal:
        await store_all(database, make_project())
    assert refusal.value.code is Code.NOT_FOUND


async def test_a_project_that_does_not_exist_is_not_found(database: Database) -> None:
    async with database.read() as connection:
        assert await find_project(connection, make_project().id) is None
        assert list(await list_projects(connection, make_account().id)) == []


async def test_a_project_is_found_as_it_was_written(database: Database) -> None:
    account = make_account()
    project = make_project(account.id, name="Größe 😀", description="two\nlines")
    await store_all(database, account, project)
    async with database.read() as connection:
        assert await find_project(connection, project.id) == project
    async with database.transaction() as transaction:
        assert await find_project_for_update(transaction.connection, project.id) == project


async def test_an_account_sees_its_own_projects_newest_first(database: Database) -> None:
    account, other = make_account(), make_account()
    projects = [make_project(account.id, created_at=AT + timedelta(seconds=age)) for age in (1, 0, 2)]
    await store_all(database, account, other, *projects, make_project(other.id))
    async with database.read() as connection:
        listed = list(await list_projects(connection, account.id))
    assert listed == [projects[2], projects[0], projects[1]]


async def test_projects_made_at_one_moment_are_listed_by_id(database: Database) -> None:
    account = make_account()
    projects = [make_project(account.id) for _ in range(3)]
    await store_all(database, account, *projects)
    async with database.read() as connection:
        assert list(await list_projects(connection, account.id)) == projects[::-1]


async def test_an_update_writes_what_can_change(database: Database, stored: Stored) -> None:
    updated = replace(
        stored.project, name="Store", description="", sdk_key="sdk_new", updated_at=AT + timedelta(microseconds=1)
    )
    async with database.transaction() as transaction:
        await update_project(transaction.connection, updated)
    async with database.read() as connection:
        assert await find_project(connection, stored.project.id) == updated
        assert await list_sdk_keys(connection) == [("sdk_new", stored.project.id)]


async def test_deleting_a_project_deletes_all_that_is_in_it_and_nothing_else(
    database: Database, stored: Stored
) -> None:
    neighbour = make_project(stored.account.id)
    environment = make_environment(neighbour.id)
    flag = make_flag(environment)
    await store_all(database, make_rule(stored.flag), neighbour, environment, flag, make_rule(flag))
    async with database.transaction() as transaction:
        await delete_project(transaction.connection, stored.project.id)
    async with database.read() as connection:
        for table in (tables.projects, tables.environments, tables.flags, tables.rules):
            assert (await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one() == 1
