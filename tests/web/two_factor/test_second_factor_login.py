"""POST /auth/login of an account with a second factor, and POST /auth/login/second-factor."""

import asyncio
from typing import Any

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.identity.second_factors.second_factors import FAILURES_MAX
from flagstaff.settings import Settings
from tests.support.api import Caller, field_errors
from tests.support.clock import Clock
from tests.support.sessions import PASSWORD
from tests.support.two_factor import App, answer_challenge, challenge, enrol, log_in
from tests.web.conftest import ListChanges, RequestReset

SIX_DIGITS = {"code": "must be six digits from 0 to 9"}
NO_CODES = ("", "abcdef", "12345", "1234567", "123 456", "12345\n", "\u0661" * 6, "\uff11" * 6, "-12345", "1e1000")
NOT_A_RECOVERY_CODE = {"recovery_code": "must be a recovery code such as abcd-efgh-2345-6789"}
NO_RECOVERY_CODES = ("", "abcd-efgh-2345", "abcd-efgh-2345-678!", "lllllllllllllll1", "a" * 10_000)
WRONG = "is wrong, has expired or has been used; enter the next code of your app"
ENDED = "The challenge is unknown, has been used or has expired. Log in again."


@pytest.fixture
async def app(ada: Caller, clock: Clock) -> App:
    """Ada's authenticator app. The code of its current step has been used."""
    return await enrol(ada, clock)


MALFORMED: list[tuple[Any, dict[str, str]]] = [
    ({}, {"challenge": "is required"}),
    ({"challenge": "x"}, {"code": "is required, unless there is another proof"}),
    ({"challenge": 1, "code": 123456}, {"challenge": "must be a string", "code": "must be a string"}),
    (
        {"challenge": "x", "code": "123456", "recovery_code": "abcd-efgh-2345-6789"},
        {"recovery_code": "must not be sent together with a code"},
    ),
    *(({"challenge": "x", "code": code}, SIX_DIGITS) for code in NO_CODES),
    *(({"challenge": "x", "recovery_code": code}, NOT_A_RECOVERY_CODE) for code in NO_RECOVERY_CODES),
]


async def test_a_body_of_another_shape_is_refused(client: Caller) -> None:
    for body, errors in MALFORMED:
        assert field_errors(await client.post("/auth/login/second-factor", json=body)) == errors, body


async def test_an_unknown_challenge_is_refused(client: Caller, app: App) -> None:
    for given in ("", "x", "\0", "é" * 43, "x" * 10_000):
        answer = await answer_challenge(client, given, code=app.next_code())
        assert (answer.status_code, answer.json()["detail"]) == (401, ENDED)


async def test_without_a_second_factor_a_login_gives_a_token_and_nothing_else(client: Caller, ada: Caller) -> None:
    answer = await log_in(client)

    assert answer.status_code == 200
    assert answer.json().keys() == {"token"}


async def test_a_wrong_password_does_not_tell_that_there_is_a_second_factor(client: Caller, app: App) -> None:
    answer = await log_in(client, password="wrong password")

    assert answer.json()["type"] == "urn:flagstaff:error:unauthenticated"
    assert "challenge" not in answer.json()


async def test_with_one_the_password_gives_only_a_challenge(client: Caller, app: App) -> None:
    answer = await log_in(client)

    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.json()["type"] == "urn:flagstaff:error:mfa_required"
    assert answer.json()["methods"] == ["totp", "recovery_code"]
    for token in (answer.json()["challenge"], "x"):
        assert (await client.get("/api/me", headers={"authorization": f"Bearer {token}"})).status_code == 401


async def test_the_challenge_with_a_code_gives_a_token(client: Caller, ada: Caller, app: App) -> None:
    answer = await answer_challenge(client, await challenge(client), code=app.next_code())

    assert answer.status_code == 200
    assert answer.json().keys() == {"token"}
    me = await client.get("/api/me", headers={"authorization": f"Bearer {answer.json()['token']}"})
    assert me.json() == {"user_id": ada.account["id"]}


async def test_a_challenge_of_one_account_takes_no_code_of_another(
    client: Caller, app: App, eve: Caller, clock: Clock
) -> None:
    hers = await enrol(eve, clock)
    clock.advance(seconds=60)

    answer = await answer_challenge(client, await challenge(client), code=hers.code())

    assert field_errors(answer) == {"code": WRONG}
    assert (await answer_challenge(client, await challenge(client), code=app.code())).status_code == 200


async def test_after_a_wrong_code_the_challenge_can_be_used_again_and_then_never(client: Caller, app: App) -> None:
    given = await challenge(client)

    assert field_errors(await answer_challenge(client, given, code=app.wrong_code())) == {"code": WRONG}
    assert (await answer_challenge(client, given, code=app.next_code())).status_code == 200
    again = await answer_challenge(client, given, code=app.next_code())
    assert (again.status_code, again.json()["detail"]) == (401, ENDED)


async def test_a_challenge_ends_after_exactly_five_minutes(client: Caller, app: App, clock: Clock) -> None:
    given = await challenge(client)
    clock.advance(minutes=5)
    assert (await answer_challenge(client, given, code=app.code())).status_code == 401

    clock.advance(microseconds=-1)
    assert (await answer_challenge(client, given, code=app.code())).status_code == 200


async def test_a_code_is_accepted_a_step_early_or_late_and_no_more(client: Caller, app: App, clock: Clock) -> None:
    clock.advance(minutes=10)
    given = await challenge(client)
    for steps in (-2, 2):
        assert field_errors(await answer_challenge(client, given, code=app.code(steps))) == {"code": WRONG}
    assert (await answer_challenge(client, given, code=app.code(-1))).status_code == 200
    assert (await answer_challenge(client, await challenge(client), code=app.code(1))).status_code == 200


async def test_a_code_is_accepted_once_and_none_before_it(client: Caller, app: App) -> None:
    code = app.next_code()
    assert (await answer_challenge(client, await challenge(client), code=code)).status_code == 200

    given = await challenge(client)
    for spent in (code, app.code(-1)):
        assert field_errors(await answer_challenge(client, given, code=spent)) == {"code": WRONG}


async def test_the_code_that_confirmed_the_app_is_no_code_for_a_login(client: Caller, app: App) -> None:
    assert field_errors(await answer_challenge(client, await challenge(client), code=app.code())) == {"code": WRONG}


@pytest.mark.both_databases
async def test_of_many_uses_of_a_code_at_once_one_succeeds(client: Caller, app: App) -> None:
    code = app.next_code()
    challenges = [await challenge(client) for _ in range(6)]

    answers = await asyncio.gather(*(answer_challenge(client, each, code=code) for each in challenges))

    assert sorted(answer.status_code for answer in answers) == [200] + 5 * [400]


@pytest.mark.both_databases
async def test_of_many_uses_of_a_challenge_at_once_one_succeeds(client: Caller, app: App) -> None:
    given = await challenge(client)

    answers = await asyncio.gather(
        *(answer_challenge(client, given, recovery_code=code) for code in app.recovery_codes[:6])
    )

    assert sorted(answer.status_code for answer in answers) == [200] + 5 * [401]


async def test_a_recovery_code_works_once_however_it_is_written(
    client: Caller, app: App, ada: Caller, list_changes: ListChanges
) -> None:
    first, second = app.recovery_codes[:2]
    written = first.replace("-", " ").upper()

    assert (await answer_challenge(client, await challenge(client), recovery_code=written)).status_code == 200

    assert (await list_changes())[-1]["action"] == "account.recovery_code_used"
    again = await answer_challenge(client, await challenge(client), recovery_code=first)
    assert field_errors(again) == {"recovery_code": "is wrong or has been used"}
    assert (await answer_challenge(client, await challenge(client), recovery_code=second)).status_code == 200
    assert (await ada.get("/api/me/two-factor")).json()["recovery_codes_left"] == 8


async def test_beyond_ten_wrong_codes_in_an_hour_even_a_right_one_must_wait(
    client: Caller, app: App, clock: Clock
) -> None:
    given = await challenge(client)
    began = clock()
    for _ in range(FAILURES_MAX):
        assert (await answer_challenge(client, given, code=app.wrong_code())).status_code == 400
    for proof in ({"code": app.next_code()}, {"recovery_code": app.recovery_codes[0]}):
        answer = await answer_challenge(client, await challenge(client), **proof)
        assert answer.status_code == 429
        assert answer.headers["retry-after"] == str(3600 - 30)

    clock.at = began
    clock.advance(hours=1)
    assert (await answer_challenge(client, await challenge(client), code=app.code())).status_code == 200


@pytest.mark.both_databases
async def test_guesses_at_the_same_time_all_count(client: Caller, app: App) -> None:
    given = await challenge(client)

    answers = await asyncio.gather(*(answer_challenge(client, given, code=app.wrong_code()) for _ in range(15)))

    assert sorted(answer.status_code for answer in answers) == 10 * [400] + 5 * [429]


async def test_guesses_count_after_a_restart_and_on_other_instances(
    client: Caller, app: App, settings: Settings, clock: Clock, passwords: Passwords
) -> None:
    given = await challenge(client)
    for _ in range(FAILURES_MAX):
        await answer_challenge(client, given, code=app.wrong_code())

    other = Flagstaff(settings, now=clock, passwords=passwords)
    try:
        async with Caller(other.edge.asgi) as there:
            assert (await answer_challenge(there, given, code=app.next_code())).status_code == 429
    finally:
        await other.stop()


async def test_a_code_that_one_instance_accepted_is_refused_by_another(
    client: Caller, app: App, settings: Settings, clock: Clock, passwords: Passwords
) -> None:
    code, challenges = app.next_code(), [await challenge(client) for _ in range(2)]
    other = Flagstaff(settings, now=clock, passwords=passwords)
    try:
        async with Caller(other.edge.asgi) as there:
            answers = await asyncio.gather(
                *(answer_challenge(*each, code=code) for each in zip((client, there), challenges, strict=True))
            )
    finally:
        await other.stop()

    assert sorted(answer.status_code for answer in answers) == [200, 400]


async def test_a_new_password_ends_the_challenges(client: Caller, ada: Caller, app: App) -> None:
    given = await challenge(client)
    body = {"current_password": PASSWORD, "new_password": "another password"}
    assert (await ada.post("/api/me/password", json=body)).status_code == 200

    answer = await answer_challenge(client, given, code=app.next_code())

    assert (answer.status_code, answer.json()["detail"]) == (401, ENDED)
    given = await challenge(client, password="another password")
    assert (await answer_challenge(client, given, code=app.code())).status_code == 200


async def test_a_password_reset_gives_no_way_past_the_second_factor(
    client: Caller, app: App, request_reset: RequestReset
) -> None:
    body = {"token": await request_reset(), "newPassword": "another password"}
    answer = await client.post("/auth/reset-password", json=body)

    assert (answer.status_code, answer.text) == (200, "Password reset successful")
    assert (await log_in(client, password="another password")).json()["type"] == "urn:flagstaff:error:mfa_required"


async def test_the_right_password_is_no_failed_login_while_the_code_is_missing(client: Caller, app: App) -> None:
    for _ in range(12):
        await challenge(client)


@pytest.mark.both_databases
async def test_a_secret_of_another_secret_key_accepts_no_code_but_recovery_codes_work(
    client: Caller, app: App, flagstaff: Flagstaff
) -> None:
    async with flagstaff.database.transaction() as transaction:
        await transaction.connection.execute(tables.totp_secrets.update().values(sealed=b"\0" * 60))

    given = await challenge(client)

    assert field_errors(await answer_challenge(client, given, code=app.next_code())) == {"code": WRONG}
    assert (await answer_challenge(client, given, recovery_code=app.recovery_codes[0])).status_code == 200


async def test_neither_the_secret_nor_a_code_is_in_the_database(app: App, flagstaff: Flagstaff) -> None:
    async with flagstaff.database.read() as connection:
        stored = [
            repr((await connection.execute(sa.select(table))).all())
            for table in (tables.totp_secrets, tables.recovery_codes, tables.changes)
        ]
    for secret in (app.secret, *app.recovery_codes, *(code.replace("-", "") for code in app.recovery_codes)):
        assert not any(secret in each for each in stored)


async def test_what_has_expired_is_deleted(client: Caller, app: App, clock: Clock, flagstaff: Flagstaff) -> None:
    await answer_challenge(client, await challenge(client), code=app.wrong_code())
    clock.advance(hours=1)

    await flagstaff.identity.second_factors.purge()

    async with flagstaff.database.read() as connection:
        for table in (tables.challenges, tables.second_factor_failures):
            assert (await connection.execute(sa.select(table))).all() == []
