"""Identities, sign-ins and challenges in the database."""

import asyncio
from datetime import timedelta

import pytest

from flagstaff.accounts.single_sign_on.identities import Identity, SignIn
from flagstaff.accounts.single_sign_on.identities_store import (
    create_identity,
    create_sign_in,
    delete_expired_sign_ins,
    find_identity,
    list_given,
    record_given,
    set_only_way,
    take_sign_in,
)
from flagstaff.database.database import Database
from flagstaff.identity.second_factors.passkeys import Passkey
from flagstaff.identity.second_factors.passkeys_store import (
    create_passkey,
    find_passkey_by_credential,
    list_passkeys,
    record_use,
)
from flagstaff.identity.second_factors.second_factors import Purpose
from flagstaff.identity.second_factors.second_factors_store import (
    Challenge,
    create_challenge,
    find_challenge,
    has_second_factor,
    spend_challenge,
)
from flagstaff.projects.members.members_store import delete_member
from flagstaff.values.errors import Code, Error
from tests.support.builders import AT, make_account, make_member, make_project, store_all

SIGN_IN = SignIn("acme", "nonce", "verifier", b"binding", "/projects")
ISSUER = "https://id.acme.com"
MINUTE = timedelta(minutes=1)


async def test_of_many_takers_of_a_sign_in_at_once_one_gets_it(database: Database) -> None:
    async with database.transaction() as transaction:
        await create_sign_in(transaction.connection, b"state", SIGN_IN, expires_at=AT + MINUTE)

    async def take() -> SignIn | None:
        async with database.transaction() as transaction:
            return await take_sign_in(transaction.connection, b"state", AT)

    taken = await asyncio.gather(*(take() for _ in range(6)))
    assert [each for each in taken if each] == [SIGN_IN]


async def test_a_sign_in_expires_and_is_deleted(database: Database) -> None:
    async with database.transaction() as transaction:
        connection = transaction.connection
        await create_sign_in(connection, b"late", SIGN_IN, expires_at=AT)
        await create_sign_in(connection, b"early", SIGN_IN, expires_at=AT + MINUTE)
        assert await take_sign_in(connection, b"late", AT) is None
        await delete_expired_sign_ins(connection, AT)
        assert await take_sign_in(connection, b"early", AT) == SIGN_IN


async def test_a_person_has_one_account(database: Database) -> None:
    account, other = make_account(), make_account()
    await store_all(database, account, other)
    identity = Identity(ISSUER, "ada", account.id, AT, is_only_way=False)
    async with database.transaction() as transaction:
        await create_identity(transaction.connection, identity)
    with pytest.raises(Error) as refusal:
        async with database.transaction() as transaction:
            await create_identity(transaction.connection, Identity(ISSUER, "ada", other.id, AT, is_only_way=False))
    assert refusal.value.code is Code.CONFLICT
    async with database.read() as connection:
        assert await find_identity(connection, ISSUER, "ada") == identity
        assert await find_identity(connection, "https://other.example", "ada") is None


async def test_a_provider_that_is_the_only_way_counts_as_a_second_factor(database: Database) -> None:
    account, other = make_account(), make_account()
    await store_all(database, account, other)
    identity = Identity(ISSUER, "ada", account.id, AT, is_only_way=False)
    async with database.transaction() as transaction:
        connection = transaction.connection
        await create_identity(connection, identity)
        assert not await has_second_factor(connection, account.id)
        await set_only_way(connection, identity, is_only_way=True)
        assert await has_second_factor(connection, account.id)
        assert not await has_second_factor(connection, other.id)


async def test_what_groups_gave_is_forgotten_with_the_membership(database: Database) -> None:
    account = make_account()
    project = make_project(account.id)
    member = make_account()
    await store_all(database, account, project, member, make_member(project.id, member))
    async with database.transaction() as transaction:
        connection = transaction.connection
        await record_given(connection, project.id, member.id, ISSUER)
        assert await list_given(connection, member.id, ISSUER) == {project.id}
        assert await list_given(connection, member.id, "https://other.example") == set()
        await delete_member(connection, project.id, member.id)
        assert await list_given(connection, member.id, ISSUER) == set()


async def test_a_challenge_is_for_one_purpose_and_is_spent_once(database: Database) -> None:
    account = make_account()
    await store_all(database, account)
    challenge = Challenge(Purpose.LOGIN, account.id, "stamp")
    async with database.transaction() as transaction:
        await create_challenge(transaction.connection, b"hash", challenge, expires_at=AT + MINUTE)
    async with database.read() as connection:
        assert await find_challenge(connection, b"hash", Purpose.LOGIN, AT) == challenge
        assert await find_challenge(connection, b"hash", Purpose.PASSKEY, AT) is None
        assert await find_challenge(connection, b"hash", Purpose.LOGIN, AT + MINUTE) is None

    async def spend() -> bool:
        async with database.transaction() as transaction:
            return await spend_challenge(transaction.connection, b"hash")

    assert sorted(await asyncio.gather(*(spend() for _ in range(4)))) == [False, False, False, True]


async def test_a_credential_is_one_passkey_and_its_use_is_stored(database: Database) -> None:
    account, other = make_account(), make_account()
    await store_all(database, account, other)
    passkey = Passkey(account.id, account.id, b"credential", b"key", 0, "Phone", AT, None)
    async with database.transaction() as transaction:
        await create_passkey(transaction.connection, passkey)
        await record_use(transaction.connection, passkey.id, 2**32 - 1, AT + MINUTE)
    again = Passkey(other.id, other.id, b"credential", b"key", 0, "Phone", AT, None)
    with pytest.raises(Error) as refusal:
        async with database.transaction() as transaction:
            await create_passkey(transaction.connection, again)
    assert refusal.value.code is Code.CONFLICT
    async with database.read() as connection:
        found = await find_passkey_by_credential(connection, b"credential")
        assert found is not None
        assert (found.sign_count, found.last_used_at) == (2**32 - 1, AT + MINUTE)
        assert await list_passkeys(connection, account.id) == [found]
        assert await list_passkeys(connection, other.id) == []
