"""Environments in the database."""

import asyncio
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest

from flagstaff.database.database import Database
from flagstaff.flags.flags_store import list_flags
from flagstaff.flags.targeting.rules_store import list_rules
from flagstaff.projects.environments_store import (
    get_environment,
    list_environment_ids,
    list_environments,
    update_environment,
)
from flagstaff.projects.hidden_environments_store import hide_environments, remove_some
from flagstaff.values.errors import Code, Error
from tests.storage.conftest import Stored
from tests.support.builders import AT, make_environment, make_project, make_rule, store_all


async def outcome(database: Database, *resources: object) -> Code | None:
    try:
        await store_all(database, *resources)  # type: ignore[arg-type]
    except Error as error:
        return error.code
    return None


async def test_a_key_that_the_project_has_is_a_conflict(database: Database, stored: Stored) -> None:
    with pytest.raises(Error, match="already has an environment with the key production") as refusal:
        await store_all(database, make_environment(stored.project.id, key="production"))
    assert refusal.value.code is Code.CONFLICT


async def test_one_of_many_concurrent_creations_of_a_key_succeeds(database: Database, stored: Stored) -> None:
    created = (outcome(database, make_environment(stored.project.id, key="qa")) for _ in range(16))
    assert Counter(await asyncio.gather(*created)) == {None: 1, Code.CONFLICT: 15}


async def test_an_environment_is_not_found_through_another_project(database: Database, stored: Stored) -> None:
    other = make_project(stored.account.id)
    await store_all(database, other)
    async with database.read() as connection:
        for project, environment in ((other, stored.environment), (stored.project, make_environment())):
            with pytest.raises(Error) as refusal:
                await get_environment(connection, project.id, environment.id)
            assert refusal.value.code is Code.NOT_FOUND


async def test_another_project_may_have_the_same_key(database: Database, stored: Stored) -> None:
    other = make_project(stored.account.id)
    environment = make_environment(other.id, key=stored.environment.key)
    await store_all(database, other, environment)
    async with database.read() as connection:
        assert await get_environment(connection, other.id, environment.id) == environment
        assert await list_environment_ids(connection) == {environment.id, stored.environment.id}


async def test_environments_are_listed_oldest_first(database: Database, stored: Stored) -> None:
    later = make_environment(stored.project.id, key="later", created_at=AT + timedelta(microseconds=1))
    await store_all(database, later)
    async with database.read() as connection:
        assert list(await list_environments(connection, stored.project.id)) == [stored.environment, later]


async def test_a_new_name_leaves_the_key_and_what_was_set_goes_before_it(database: Database, stored: Stored) -> None:
    async with database.transaction() as transaction:
        await update_environment(transaction.connection, replace(stored.environment, name="Live", critical=False))
    async with database.read() as connection:
        renamed = await get_environment(connection, stored.project.id, stored.environment.id)
    assert (renamed.name, renamed.key, renamed.critical) == ("Live", "production", False)


async def test_deleting_an_environment_deletes_its_flags_and_rules(database: Database, stored: Stored) -> None:
    await store_all(database, make_rule(stored.flag))
    async with database.transaction() as transaction:
        await hide_environments(transaction.connection, [stored.environment.id])
    async with database.read() as connection:
        assert list(await list_environments(connection, stored.project.id)) == []
        assert await list_environment_ids(connection) == set()
    async with database.transaction() as transaction:
        while await remove_some(transaction.connection):
            pass
    async with database.read() as connection:
        assert list(await list_flags(connection, stored.environment.id)) == []
        assert list(await list_rules(connection, stored.flag.id)) == []
