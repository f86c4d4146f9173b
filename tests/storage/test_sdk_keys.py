"""SDK keys of environments in both databases."""

from dataclasses import replace
from datetime import timedelta

import pytest
from uuid_utils.compat import uuid7

from flagstaff.database.database import Database
from flagstaff.projects.hidden_environments_store import hide_environments
from flagstaff.projects.projects_store import delete_project
from flagstaff.projects.sdk_keys import KeyInForce, KeyKind
from flagstaff.projects.sdk_keys_store import (
    create_key,
    delete_key,
    get_key,
    list_key_hashes,
    list_keys,
    list_keys_in_force,
    record_used,
    update_key,
)
from flagstaff.values.errors import Code, Error
from tests.storage.conftest import Stored
from tests.support.builders import AT, make_environment, make_project, make_sdk_key, store_all


async def test_a_key_is_found_again_with_all_that_is_known_of_it(database: Database, stored: Stored) -> None:
    key = make_sdk_key(stored.environment, stored.account, kind=KeyKind.BROWSER, expires_at=AT + timedelta(days=1))
    async with database.transaction() as transaction:
        await create_key(transaction.connection, key, b"hash")
    async with database.read() as connection:
        assert await get_key(connection, stored.project.id, key.id) == key
        assert await list_keys(connection, stored.project.id) == [key]
        assert await list_key_hashes(connection) == [(b"hash", stored.project.id)]
        in_force = {stored.environment.id: {b"hash": KeyInForce(key.id, KeyKind.BROWSER, key.expires_at)}}
        assert await list_keys_in_force(connection, stored.project.id) == in_force


async def test_the_origins_of_a_key_are_found_again_and_updated(database: Database, stored: Stored) -> None:
    key = make_sdk_key(stored.environment, kind=KeyKind.BROWSER, allowed_origins=("https://b.example", "https://*.a.b"))
    other = make_sdk_key(stored.environment, kind=KeyKind.BROWSER, allowed_origins=("https://c.example",))
    async with database.transaction() as transaction:
        connection = transaction.connection
        for each in (key, other):
            await create_key(connection, each, each.id.bytes)
        assert await get_key(connection, stored.project.id, key.id) == key
        in_force = (await list_keys_in_force(connection, stored.project.id))[stored.environment.id]
        assert in_force[key.id.bytes].allowed_origins == frozenset(key.allowed_origins)
        updated = replace(key, name="Shop", allowed_origins=())
        await update_key(connection, updated)
        assert await get_key(connection, stored.project.id, key.id) == updated
        assert await get_key(connection, stored.project.id, other.id) == other
        in_force = (await list_keys_in_force(connection, stored.project.id))[stored.environment.id]
        assert in_force[key.id.bytes].allowed_origins is None


async def test_keys_of_a_project_are_listed_newest_first_and_those_of_others_are_not(
    database: Database, stored: Stored
) -> None:
    other = make_project(stored.account.id)
    places = (stored.environment, make_environment(stored.project.id, key="staging"), make_environment(other.id))
    await store_all(database, other, *places[1:])
    keys = [make_sdk_key(each, created_at=AT + timedelta(seconds=place)) for place, each in enumerate(places)]
    async with database.transaction() as transaction:
        for key in keys:
            await create_key(transaction.connection, key, key.id.bytes)
    async with database.read() as connection:
        assert await list_keys(connection, stored.project.id) == [keys[1], keys[0]]
        assert set(await list_keys_in_force(connection, other.id)) == {places[2].id}
        with pytest.raises(Error) as refusal:
            await get_key(connection, other.id, keys[0].id)
        assert refusal.value.code is Code.NOT_FOUND


async def test_a_deleted_key_is_gone(database: Database, stored: Stored) -> None:
    kept, gone = make_sdk_key(stored.environment), make_sdk_key(stored.environment)
    async with database.transaction() as transaction:
        for key in (kept, gone):
            await create_key(transaction.connection, key, key.id.bytes)
        await delete_key(transaction.connection, gone.id)
        assert await list_key_hashes(transaction.connection) == [(kept.id.bytes, stored.project.id)]


@pytest.mark.parametrize("with_project", [False, True], ids=["environment", "project"])
async def test_keys_end_with_what_they_belong_to(database: Database, stored: Stored, with_project: bool) -> None:
    async with database.transaction() as transaction:
        await create_key(transaction.connection, make_sdk_key(stored.environment), b"hash")
        if with_project:
            await delete_project(transaction.connection, stored.project.id)
        else:
            await hide_environments(transaction.connection, [stored.environment.id])
        assert await list_key_hashes(transaction.connection) == []


async def test_the_latest_use_is_stored_whatever_the_order(database: Database, stored: Stored) -> None:
    used, unused = make_sdk_key(stored.environment), make_sdk_key(stored.environment)
    async with database.transaction() as transaction:
        for key in (used, unused):
            await create_key(transaction.connection, key, key.id.bytes)
        for minutes in (5, 3):
            await record_used(transaction.connection, {used.id, uuid7()}, AT + timedelta(minutes=minutes))
        latest = replace(used, last_used_at=AT + timedelta(minutes=5))
        assert await get_key(transaction.connection, stored.project.id, used.id) == latest
        assert await get_key(transaction.connection, stored.project.id, unused.id) == unused
