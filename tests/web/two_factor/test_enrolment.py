"""GET /api/me/two-factor, and POST to …/totp, …/totp/confirm, …/totp/disable and …/recovery-codes."""

import asyncio
from urllib.parse import parse_qs, urlsplit

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.identity.second_factors.second_factors import FAILURES_MAX
from tests.support.api import Caller, Json, field_errors
from tests.support.clock import Clock
from tests.support.sessions import PASSWORD, operated_accounts
from tests.support.two_factor import TWO_FACTOR, App, answer_challenge, begin, challenge, enrol, log_in
from tests.web.conftest import ListChanges

NOT_YOURS = {"current_password": "is not your current password"}
NONE: Json = {"totp_since": None, "passkeys": [], "recovery_codes_left": 0, "meets_demand": False}
REMOVAL = {"current_password": PASSWORD}


async def test_without_a_token_all_is_refused(client: Caller) -> None:
    assert (await client.get(TWO_FACTOR)).status_code == 401
    for path in ("totp", "totp/confirm", "totp/disable", "recovery-codes"):
        assert (await client.post(f"{TWO_FACTOR}/{path}", json={})).status_code == 401


async def test_a_wrong_password_is_refused_and_counts_as_a_failed_login(ada: Caller, client: Caller) -> None:
    for path in ("totp", "recovery-codes"):
        for _ in range(5):
            answer = await ada.post(f"{TWO_FACTOR}/{path}", json={"current_password": "wrong"})
            assert field_errors(answer) == NOT_YOURS

    assert (await ada.post(f"{TWO_FACTOR}/totp", json={"current_password": PASSWORD})).status_code == 429
    assert (await log_in(client)).status_code == 429
    assert (await ada.get(TWO_FACTOR)).json() == NONE


@pytest.mark.parametrize("code", ["abcdef", "12345", "1234567", "\u0661\u0662\u0663\u0664\u0665\u0666", ""])
async def test_a_code_of_another_form_is_refused_and_confirms_nothing(ada: Caller, clock: Clock, code: str) -> None:
    await begin(ada, clock)
    answer = await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": code})
    assert field_errors(answer) == {"code": "must be six digits from 0 to 9"}
    assert (await ada.get(TWO_FACTOR)).json() == NONE


async def test_without_a_beginning_there_is_nothing_to_confirm(ada: Caller) -> None:
    answer = await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": "123456"})
    assert answer.status_code == 409


async def test_a_beginning_expires_after_an_hour(ada: Caller, clock: Clock) -> None:
    app = await begin(ada, clock)
    clock.advance(hours=1)
    assert (await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": app.code()})).status_code == 409


async def test_a_wrong_code_confirms_nothing_and_guesses_are_limited(ada: Caller, clock: Clock, client: Caller) -> None:
    app = await begin(ada, clock)
    for _ in range(FAILURES_MAX):
        answer = await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": app.wrong_code()})
        assert field_errors(answer).keys() == {"code"}
    assert (await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": app.code()})).status_code == 429
    assert (await log_in(client)).status_code == 200, "nothing is asked for before it is confirmed"


async def test_a_beginning_replaces_the_one_before(ada: Caller, clock: Clock) -> None:
    first, second = await begin(ada, clock), await begin(ada, clock)
    assert (await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": first.code()})).status_code == 400
    assert (await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": second.code()})).status_code == 200


async def test_the_secret_comes_as_the_uri_that_apps_read(ada: Caller) -> None:
    answer = await ada.post(f"{TWO_FACTOR}/totp", json={"current_password": PASSWORD})

    uri = urlsplit(answer.json()["uri"])
    assert (uri.scheme, uri.netloc, uri.path) == ("otpauth", "totp", "/Flagstaff:ada%40example.com")
    assert parse_qs(uri.query) == {"secret": [answer.json()["secret"]], "issuer": ["Flagstaff"]}
    assert len(answer.json()["secret"]) == 32


async def test_a_code_confirms_the_app_and_gives_ten_different_recovery_codes(
    ada: Caller, eve: Caller, clock: Clock, list_changes: ListChanges
) -> None:
    app = await enrol(ada, clock)

    assert len(set(app.recovery_codes)) == 10
    enrolled = {"totp_since": "2026-11-20T10:00:00.000000Z", "recovery_codes_left": 10, "meets_demand": True}
    assert (await ada.get(TWO_FACTOR)).json() == {**NONE, **enrolled}
    assert (await eve.get(TWO_FACTOR)).json() == NONE
    change = (await list_changes())[-1]
    assert (change["action"], str(change["actor_id"])) == ("account.totp_enabled", ada.account["id"])
    known = {"id", "email", "created_at", "is_administrator", "deactivated_at", "email_verified_at"}
    assert change["after"].keys() == known


@pytest.mark.both_databases
async def test_a_second_app_is_a_conflict(ada: Caller, clock: Clock) -> None:
    app = await enrol(ada, clock)

    assert (await ada.post(f"{TWO_FACTOR}/totp", json={"current_password": PASSWORD})).status_code == 409
    assert (await ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": app.next_code()})).status_code == 409


@pytest.mark.both_databases
async def test_of_many_confirmations_at_once_one_succeeds(ada: Caller, clock: Clock) -> None:
    app = await begin(ada, clock)
    answers = await asyncio.gather(
        *(ada.post(f"{TWO_FACTOR}/totp/confirm", json={"code": app.code()}) for _ in range(5))
    )
    assert sorted(answer.status_code for answer in answers) == [200] + 4 * [409]


async def test_disabling_takes_the_password_and_a_code(ada: Caller, clock: Clock, client: Caller) -> None:
    app = await enrol(ada, clock)
    path = f"{TWO_FACTOR}/totp/disable"

    assert field_errors(await ada.post(path, json=REMOVAL)).keys() == {"code"}
    assert field_errors(await ada.post(path, json={"code": app.next_code()})) == {"current_password": "is required"}
    wrong = await ada.post(path, json={"current_password": "wrong", "code": app.code()})
    assert field_errors(wrong) == NOT_YOURS
    assert field_errors(await ada.post(path, json={**REMOVAL, "code": app.wrong_code()})).keys() == {"code"}
    await challenge(client)


@pytest.mark.each_case_on_both_databases
@pytest.mark.both_databases
@pytest.mark.parametrize("by", ["code", "recovery_code"])
async def test_a_disabled_app_is_not_asked_for_and_its_recovery_codes_end(
    ada: Caller, clock: Clock, client: Caller, list_changes: ListChanges, by: str
) -> None:
    app = await enrol(ada, clock)
    waiting = await challenge(client)
    proof = {by: app.next_code() if by == "code" else app.recovery_codes[0]}

    answer = await ada.post(f"{TWO_FACTOR}/totp/disable", json={**REMOVAL, **proof})

    assert (answer.status_code, answer.content) == (204, b"")
    assert (await list_changes())[-1]["action"] == "account.totp_disabled"
    assert (await ada.get(TWO_FACTOR)).json() == NONE
    assert (await log_in(client)).status_code == 200
    assert (await answer_challenge(client, waiting, recovery_code=app.recovery_codes[1])).status_code == 401
    assert (await ada.post(f"{TWO_FACTOR}/totp/disable", json={**REMOVAL, "code": app.next_code()})).status_code == 409


async def test_recovery_codes_are_renewed_with_the_password_and_the_previous_ones_end(
    ada: Caller, clock: Clock, client: Caller, list_changes: ListChanges
) -> None:
    app = await enrol(ada, clock)

    answer = await ada.post(f"{TWO_FACTOR}/recovery-codes", json={"current_password": PASSWORD})

    renewed = answer.json()["recovery_codes"]
    assert len(set(renewed)) == 10
    assert (await list_changes())[-1]["action"] == "account.recovery_codes_renewed"
    given = await challenge(client)
    assert (await answer_challenge(client, given, recovery_code=app.recovery_codes[0])).status_code == 400
    assert (await answer_challenge(client, given, recovery_code=renewed[0])).status_code == 200


async def test_without_a_second_factor_there_are_no_recovery_codes(ada: Caller) -> None:
    answer = await ada.post(f"{TWO_FACTOR}/recovery-codes", json={"current_password": PASSWORD})
    assert answer.status_code == 409


@pytest.mark.both_databases
async def test_the_operator_removes_the_second_factors_of_an_account(
    ada: Caller, clock: Clock, client: Caller, flagstaff: Flagstaff, list_changes: ListChanges
) -> None:
    await enrol(ada, clock)
    await operated_accounts(flagstaff).remove_second_factors(email="ADA@example.com")

    assert (await log_in(client)).status_code == 200
    change = (await list_changes())[-1]
    assert (change["action"], change["actor_id"]) == ("account.two_factor_reset", None)


async def test_the_trail_of_the_account_lists_it(ada: Caller, clock: Clock) -> None:
    await enrol(ada, clock)
    items = (await ada.get("/api/me/changes")).json()["items"]
    assert [item["action"] for item in items] == ["account.totp_enabled", "account.registered"]


def test_apps_are_those_of_rfc_6238() -> None:
    # Appendix B, the last six of its eight digits.
    secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
    for seconds, code in ((59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")):
        clock = Clock()
        clock.at = clock.at.fromtimestamp(seconds, clock.at.tzinfo)
        assert App(secret, clock, []).code() == code
