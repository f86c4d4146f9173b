"""How recovery codes are stored, and what guesses of them cost."""

import asyncio
import hashlib
from collections.abc import Iterator
from uuid import UUID

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.second_factors.second_factors import FAILURES_MAX
from tests.support.api import Caller, field_errors
from tests.support.clock import Clock
from tests.support.two_factor import PASSWORD, TWO_FACTOR, App, answer_challenge, challenge, enrol
from tests.web.conftest import ReadMails

WRONG = {"recovery_code": "is wrong or has been used"}


@pytest.fixture
def passwords() -> Iterator[Passwords]:
    """The hashes of the service, which a test can close."""
    light = Passwords(time_cost=1, memory_cost_kib=32)
    yield light
    light.close()


@pytest.fixture
async def app(ada: Caller, clock: Clock, read_mails: ReadMails) -> App:
    """Ada's app, whose recovery codes have their slow hashes."""
    enrolled = await enrol(ada, clock)
    await read_mails()  # waits for all that goes on after a response
    return enrolled


async def stored(flagstaff: Flagstaff) -> list[bytes]:
    async with flagstaff.database.read() as connection:
        return list((await connection.execute(sa.select(tables.recovery_codes.c.code_hash))).scalars())


async def test_no_guess_is_hashed_after_too_many_or_without_a_challenge(
    client: Caller, app: App, passwords: Passwords
) -> None:
    given = await challenge(client)
    for _ in range(FAILURES_MAX):
        assert field_errors(await answer_challenge(client, given, recovery_code="abcd-efgh-2345-6789")) == WRONG
    passwords.close()
    assert (await answer_challenge(client, given, recovery_code=app.recovery_codes[0])).status_code == 429
    assert (await answer_challenge(client, "unknown", recovery_code=app.recovery_codes[0])).status_code == 401


async def test_codes_get_slow_hashes_of_one_salt_and_work_once(
    flagstaff: Flagstaff, ada: Caller, client: Caller, app: App, read_mails: ReadMails
) -> None:
    hashes = await stored(flagstaff)
    assert len(set(hashes)) == 10
    assert all(each.startswith(b"$argon2id$") for each in hashes)
    assert len({each.rpartition(b"$")[0] for each in hashes}) == 1
    code = app.recovery_codes[3]
    assert (await answer_challenge(client, await challenge(client), recovery_code=code)).status_code == 200
    assert field_errors(await answer_challenge(client, await challenge(client), recovery_code=code)) == WRONG
    renewed = await ada.post(f"{TWO_FACTOR}/recovery-codes", json={"current_password": PASSWORD})
    await read_mails()
    assert all(each.startswith(b"$argon2id$") for each in await stored(flagstaff))
    assert not set(hashes) & set(await stored(flagstaff))
    (code, *_) = renewed.json()["recovery_codes"]
    assert (await answer_challenge(client, await challenge(client), recovery_code=code)).status_code == 200


async def test_codes_of_earlier_releases_work_once(flagstaff: Flagstaff, ada: Caller, client: Caller, app: App) -> None:
    code = "abcdefgh23456789"
    earlier = {"account_id": UUID(ada.account["id"]), "code_hash": hashlib.sha256(code.encode()).digest()}
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.recovery_codes.insert().values(earlier))
    assert (await answer_challenge(client, await challenge(client), recovery_code=code)).status_code == 200
    assert field_errors(await answer_challenge(client, await challenge(client), recovery_code=code)) == WRONG
    assert (await ada.get(TWO_FACTOR)).json()["recovery_codes_left"] == 10


@pytest.mark.both_databases
async def test_a_code_that_is_used_while_its_hash_is_replaced_works_once(
    flagstaff: Flagstaff, ada: Caller, client: Caller, clock: Clock, read_mails: ReadMails
) -> None:
    enrolled = await enrol(ada, clock)
    given = [await challenge(client) for _ in range(3)]
    code = enrolled.recovery_codes[9]
    answers = await asyncio.gather(*(answer_challenge(client, each, recovery_code=code) for each in given))
    assert sorted(each.status_code for each in answers) == [200, 400, 400]
    await read_mails()
    assert len(await stored(flagstaff)) == 9
    assert all(each.startswith(b"$argon2id$") for each in await stored(flagstaff))


async def test_an_app_is_removed_with_a_recovery_code(ada: Caller, app: App) -> None:
    body = {"current_password": PASSWORD, "recovery_code": app.recovery_codes[0]}
    assert (await ada.post(f"{TWO_FACTOR}/totp/disable", json=body)).status_code == 204
