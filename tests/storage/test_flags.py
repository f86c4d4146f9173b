"""Flags in the database."""

from dataclasses import replace
from datetime import timedelta

import pytest

from flagstaff.database.database import Database
from flagstaff.flags.flags_store import delete_flag, get_flag, list_flags, list_keys_of, update_flag
from flagstaff.flags.targeting.rules_store import list_rules
from flagstaff.values.errors import Code, Error
from flagstaff.values.lists import Window
from tests.storage.conftest import Stored
from tests.support.builders import AT, make_environment, make_flag, make_project, make_rule, store_all


async def test_a_key_that_the_environment_has_is_a_conflict(database: Database, stored: Stored) -> None:
    with pytest.raises(Error, match="already has a flag with the key new-checkout") as refusal:
        await store_all(database, make_flag(stored.environment, key="new-checkout"))
    assert refusal.value.code is Code.CONFLICT


async def test_a_flag_is_not_found_off_its_path(database: Database, stored: Stored) -> None:
    project = make_project(stored.account.id)
    environment = make_environment(stored.project.id, key="staging")
    await store_all(database, project, environment)
    paths = [
        (project.id, stored.environment.id, stored.flag.id),
        (stored.project.id, environment.id, stored.flag.id),
        (stored.project.id, stored.environment.id, make_flag().id),
    ]
    async with database.read() as connection:
        for path in paths:
            with pytest.raises(Error) as refusal:
                await get_flag(connection, *path)
            assert refusal.value.code is Code.NOT_FOUND


async def test_keys_are_sorted_by_their_characters_in_a_database_of_any_language(
    database: Database, stored: Stored, caplog: pytest.LogCaptureFixture
) -> None:
    keys = ["ab", "a-c", "a.b", "a_d", "a1"]
    await store_all(database, *(make_flag(stored.environment, key=key) for key in keys))
    with caplog.at_level("INFO", "sqlalchemy.engine"):
        async with database.read() as connection:
            found = await list_keys_of(connection, [stored.environment.id], Window(10, ("a-",)), "a")
    assert list(found) == sorted(keys)
    # English sorts "ab" before "a-c". The tests' databases have no language, so the test looks at the statement.
    assert ('COLLATE "C"' in caplog.text) is database.is_postgresql


async def test_a_flag_is_found_as_it_was_written(database: Database, stored: Stored) -> None:
    flag = make_flag(
        stored.environment,
        key="k" * 128,
        name="Größe 😀",
        description="d" * 10_000,
        enabled=False,
        rollout_percentage=100,
        created_at=AT.replace(microsecond=1),
    )
    await store_all(database, flag)
    async with database.read() as connection:
        assert await get_flag(connection, stored.project.id, stored.environment.id, flag.id) == flag


async def test_another_environment_may_have_the_same_key(database: Database, stored: Stored) -> None:
    environment = make_environment(stored.project.id, key="staging")
    flag = make_flag(environment, key=stored.flag.key)
    await store_all(database, environment, flag)
    async with database.read() as connection:
        assert list(await list_flags(connection, environment.id)) == [flag]
        assert list(await list_flags(connection, stored.environment.id)) == [stored.flag]


async def test_flags_are_listed_newest_first(database: Database, stored: Stored) -> None:
    older = make_flag(stored.environment, key="older", created_at=AT - timedelta(microseconds=1))
    newer = make_flag(stored.environment, key="newer", created_at=AT + timedelta(microseconds=1))
    await store_all(database, newer, older)
    async with database.read() as connection:
        assert list(await list_flags(connection, stored.environment.id)) == [newer, stored.flag, older]


async def test_an_update_writes_what_can_change(database: Database, stored: Stored) -> None:
    updated = replace(
        stored.flag, name="N", description="D", enabled=False, rollout_percentage=7, updated_at=AT + timedelta(1)
    )
    async with database.transaction() as transaction:
        await update_flag(transaction.connection, updated)
    async with database.read() as connection:
        assert list(await list_flags(connection, stored.environment.id)) == [updated]


async def test_deleting_a_flag_deletes_its_rules(database: Database, stored: Stored) -> None:
    await store_all(database, make_rule(stored.flag))
    async with database.transaction() as transaction:
        await delete_flag(transaction.connection, stored.flag.id)
    async with database.read() as connection:
        assert list(await list_flags(connection, stored.environment.id)) == []
        assert list(await list_rules(connection, stored.flag.id)) == []
