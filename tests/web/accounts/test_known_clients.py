"""The addresses that are trusted for an account: how one is added, how many there are, and when they are forgotten."""

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.identity.accounts.trusted_addresses import CLIENTS_PER_ACCOUNT, TrustedAddresses
from tests.support.api import Caller
from tests.support.clock import Clock
from tests.support.sessions import PASSWORD, operated_accounts

EMAIL = "ada@example.com"


@pytest.fixture
def known_clients(flagstaff: Flagstaff) -> TrustedAddresses:
    return TrustedAddresses(flagstaff.database, flagstaff.identity.accounts.now, flagstaff.identity.sessions.tokens)


async def count(flagstaff: Flagstaff) -> int:
    async with flagstaff.database.read() as connection:
        return int(
            (await connection.execute(sa.select(sa.func.count()).select_from(tables.known_clients))).scalar_one()
        )


async def test_a_login_with_a_password_that_has_changed_since_adds_no_address(
    ada: Caller, flagstaff: Flagstaff, known_clients: TrustedAddresses
) -> None:
    old = await flagstaff.identity.accounts.verify_password(email=EMAIL, password=PASSWORD)
    await operated_accounts(flagstaff).set_password(email=EMAIL, password="another fine password")
    await known_clients.remember(old, "203.0.113.9")
    assert not await known_clients.is_known(EMAIL, "203.0.113.9")
    assert await count(flagstaff) == 0


@pytest.mark.both_databases
async def test_an_account_has_a_bounded_number_of_addresses_and_the_oldest_goes(
    ada: Caller, clock: Clock, flagstaff: Flagstaff, known_clients: TrustedAddresses
) -> None:
    owner = await flagstaff.identity.accounts.verify_password(email=EMAIL, password=PASSWORD)
    for number in range(CLIENTS_PER_ACCOUNT + 1):
        clock.advance(minutes=1)
        await known_clients.remember(owner, f"192.0.2.{number}")
    assert await count(flagstaff) == CLIENTS_PER_ACCOUNT
    assert not await known_clients.is_known(EMAIL, "192.0.2.0")
    assert await known_clients.is_known(EMAIL, "192.0.2.1")
    assert await known_clients.is_known(EMAIL, f"192.0.2.{CLIENTS_PER_ACCOUNT}")


async def test_the_purge_forgets_addresses_after_90_days(
    ada: Caller, clock: Clock, flagstaff: Flagstaff, known_clients: TrustedAddresses
) -> None:
    owner = await flagstaff.identity.accounts.verify_password(email=EMAIL, password=PASSWORD)
    await known_clients.remember(owner, "192.0.2.1")
    clock.advance(days=89)
    await flagstaff.identity.accounts.purge()
    assert await count(flagstaff) == 1
    clock.advance(days=1)
    await flagstaff.identity.accounts.purge()
    assert await count(flagstaff) == 0
