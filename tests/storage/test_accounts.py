"""Accounts and password resets in the database."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest

from flagstaff.database.database import Database
from flagstaff.identity.accounts.accounts import Account
from flagstaff.identity.accounts.accounts_store import (
    count_resets_since,
    create_reset,
    delete_resets_before,
    find_account,
    find_account_by_email,
    find_reset_account,
    lock_account,
    set_password_hash,
    spend_resets,
)
from flagstaff.values.errors import Code, Error
from tests.support.builders import AT, make_account, store_all

SECOND = timedelta(seconds=1)
HALF_AN_HOUR = timedelta(minutes=30)


@pytest.fixture
async def account(database: Database) -> Account:
    """An account in the database."""
    made = make_account(email="Ada@Example.com")
    await store_all(database, made)
    return made


async def write_reset(database: Database, account: Account, token_hash: bytes, age: timedelta = timedelta()) -> None:
    """Store a reset link that was created `age` before AT and is valid for half an hour."""
    async with database.transaction() as transaction:
        await create_reset(
            transaction.connection,
            token_hash=token_hash,
            account_id=account.id,
            created_at=AT - age,
            expires_at=AT - age + HALF_AN_HOUR,
        )


async def outcome(database: Database, account: Account) -> Code | None:
    try:
        await store_all(database, account)
    except Error as error:
        return error.code
    return None


@pytest.mark.parametrize("email", ["Ada@Example.com", "ada@example.com", "ADA@EXAMPLE.COM"])
async def test_an_email_that_is_taken_is_a_conflict_in_any_case(
    database: Database, account: Account, email: str
) -> None:
    with pytest.raises(Error, match="exists already") as refusal:
        await store_all(database, make_account(email=email))
    assert refusal.value.code is Code.CONFLICT


async def test_one_of_many_concurrent_registrations_of_an_email_succeeds(database: Database) -> None:
    created = (outcome(database, make_account(email="ada@example.com")) for _ in range(16))
    assert Counter(await asyncio.gather(*created)) == {None: 1, Code.CONFLICT: 15}


async def test_an_account_that_does_not_exist_is_not_found(database: Database, account: Account) -> None:
    async with database.read() as connection:
        assert await find_account(connection, make_account().id) is None
        assert await find_account_by_email(connection, "grace@example.com") is None
        assert await find_account_by_email(connection, "ada_example.com") is None


async def test_an_account_is_found_by_id_and_by_email_in_any_case(database: Database, account: Account) -> None:
    async with database.read() as connection:
        assert await find_account(connection, account.id) == account
        for email in ("Ada@Example.com", "aDA@eXAMPLE.COM"):
            assert await find_account_by_email(connection, email) == account


async def test_a_new_password_replaces_the_old_one_of_this_account_only(database: Database, account: Account) -> None:
    other = make_account()
    await store_all(database, other)
    async with database.transaction() as transaction:
        await set_password_hash(transaction.connection, account.id, "another hash")
    async with database.read() as connection:
        found = await find_account(connection, account.id)
        assert found is not None
        assert found.password_hash == "another hash"
        assert await find_account(connection, other.id) == other


async def test_an_unknown_reset_link_is_not_found(database: Database, account: Account) -> None:
    await write_reset(database, account, b"one")
    async with database.read() as connection:
        assert await find_reset_account(connection, b"another", AT) is None


async def test_a_reset_link_ends_when_it_expires(database: Database, account: Account) -> None:
    await write_reset(database, account, b"one")
    async with database.read() as connection:
        assert await find_reset_account(connection, b"one", AT + HALF_AN_HOUR - timedelta(microseconds=1)) == account.id
        assert await find_reset_account(connection, b"one", AT + HALF_AN_HOUR) is None


async def test_using_a_link_ends_all_links_of_the_account_and_no_others(database: Database, account: Account) -> None:
    other = make_account()
    await store_all(database, other)
    await write_reset(database, account, b"one")
    await write_reset(database, account, b"two")
    await write_reset(database, other, b"other")
    async with database.transaction() as transaction:
        await spend_resets(transaction.connection, account.id, AT)
    async with database.read() as connection:
        assert await find_reset_account(connection, b"one", AT) is None
        assert await find_reset_account(connection, b"two", AT) is None
        assert await find_reset_account(connection, b"other", AT) == other.id


async def test_the_links_of_one_account_since_a_moment_are_counted_spent_or_not(
    database: Database, account: Account
) -> None:
    for number, age in enumerate((HALF_AN_HOUR, HALF_AN_HOUR - SECOND, timedelta())):
        await write_reset(database, account, bytes((number,)), age)
    async with database.transaction() as transaction:
        await spend_resets(transaction.connection, account.id, AT)
    async with database.read() as connection:
        assert await count_resets_since(connection, account.id, AT - HALF_AN_HOUR) == 2
        assert await count_resets_since(connection, make_account().id, AT - HALF_AN_HOUR) == 0


async def test_only_links_that_expired_before_the_moment_are_forgotten(database: Database, account: Account) -> None:
    await write_reset(database, account, b"old", SECOND)
    await write_reset(database, account, b"new")
    async with database.transaction() as transaction:
        await delete_resets_before(transaction.connection, AT + HALF_AN_HOUR)
    async with database.read() as connection:
        assert await count_resets_since(connection, account.id, AT - SECOND - SECOND) == 1
        assert await find_reset_account(connection, b"new", AT) == account.id


async def test_a_lock_on_an_account_waits_for_the_previous_one(database: Database, account: Account) -> None:
    order, locked = [], asyncio.Event()

    async def lock_and_linger() -> None:
        async with database.transaction() as transaction:
            await lock_account(transaction.connection, account.id)
            locked.set()
            await read_meanwhile()
            order.append("first")

    async def read_meanwhile() -> None:
        for _ in range(20):  # gives the other statement time to finish first
            async with database.read() as connection:
                await find_account(connection, account.id)

    async def lock_after() -> None:
        await locked.wait()
        async with database.transaction() as transaction:
            await lock_account(transaction.connection, account.id)
            order.append("second")

    await asyncio.gather(lock_and_linger(), lock_after())
    assert order == ["first", "second"]
