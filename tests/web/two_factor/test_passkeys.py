"""Passkeys: registered, removed, as the second factor of a login, and alone at POST /auth/passkeys/login."""

import asyncio
from copy import deepcopy
from typing import Any

import cbor2
import httpx
import pytest

from tests.support.api import NO_IDS, Caller, Json, field_errors
from tests.support.authenticator import USER_PRESENT, Authenticator, encode
from tests.support.clock import Clock
from tests.support.sessions import PASSWORD
from tests.support.two_factor import TWO_FACTOR, answer_challenge, challenge, enrol, log_in
from tests.support.two_factor import begin as begin_app
from tests.web.conftest import ListChanges

PASSKEYS = f"{TWO_FACTOR}/passkeys"
ORIGIN = "http://localhost:8000"
CONFIRMED = {"current_password": PASSWORD}
UNREADABLE = "is not a credential as navigator.credentials returns it"
REFUSED = "was refused: its signature, its site, its counter or the verification of its user is not valid"
OTHER_ORIGIN = f"was made by a page of another origin; use {ORIGIN}"
NOT_REGISTERED = "This passkey is not registered here, or has been removed."
ENDED = "The challenge is unknown, has been used or has expired. Start again."


@pytest.fixture
def environ() -> dict[str, str]:
    return {"FLAGSTAFF_PUBLIC_URL": ORIGIN}


@pytest.fixture
def authenticator() -> Authenticator:
    """Ada's authenticator."""
    return Authenticator(ORIGIN)


async def begin(caller: Caller) -> Json:
    answer = await caller.post(f"{PASSKEYS}/options", json=CONFIRMED)
    assert answer.status_code == 200, answer.text
    options: Json = answer.json()["public_key"]
    return options


async def register(caller: Caller, authenticator: Authenticator, name: str = "Phone") -> Json:
    credential = authenticator.create(await begin(caller))
    answer = await caller.post(PASSKEYS, json={"name": name, "credential": credential})
    assert answer.status_code == 201, answer.text
    registered: Json = answer.json()
    return registered


async def begin_login(client: Caller) -> Json:
    options: Json = (await client.post("/auth/passkeys/options")).json()["public_key"]
    return options


async def log_in_with(client: Caller, credential: Any) -> httpx.Response:
    return await client.post("/auth/passkeys/login", json={"credential": credential})


async def passkeys(caller: Caller) -> list[Json]:
    listed: list[Json] = (await caller.get(TWO_FACTOR)).json()["passkeys"]
    return listed


async def test_without_a_token_none_can_be_registered_or_removed(client: Caller) -> None:
    for path in (PASSKEYS, f"{PASSKEYS}/options", f"{PASSKEYS}/x/remove"):
        assert (await client.post(path, json={})).status_code == 401


async def test_a_wrong_password_is_refused(ada: Caller, authenticator: Authenticator) -> None:
    passkey = (await register(ada, authenticator))["passkey"]
    for path in (f"{PASSKEYS}/options", f"{PASSKEYS}/{passkey['id']}/remove"):
        answer = await ada.post(path, json={"current_password": "wrong"})
        assert field_errors(answer) == {"current_password": "is not your current password"}
    assert len(await passkeys(ada)) == 1


@pytest.mark.parametrize(
    "environ",
    [{"FLAGSTAFF_PUBLIC_URL": url} for url in ("http://127.0.0.1:8000", "https://[::1]", "http://flags.example.com")],
    ids=["address", "IPv6", "without TLS"],
)
async def test_where_browsers_offer_none_the_answer_says_why(ada: Caller, client: Caller) -> None:
    for answer in (await ada.post(f"{PASSKEYS}/options", json=CONFIRMED), await client.post("/auth/passkeys/options")):
        assert answer.status_code == 409
        assert "FLAGSTAFF_PUBLIC_URL" in answer.json()["detail"]


def claiming(client_data: Any) -> Json:
    return {"id": "eA", "rawId": "eA", "type": "public-key", "response": {"clientDataJSON": client_data}}


GARBAGE: list[Any] = [
    {},
    {"id": "x", "rawId": "x", "type": "public-key", "response": None},
    *(claiming(each) for each in (5, None, "é", "e30", encode(b"[" * 5_000), encode(b"\xff\xfe"))),
    claiming(encode(b'{"type":1,"challenge":2,"origin":3}')),
]


async def test_what_is_no_credential_is_refused(ada: Caller, client: Caller) -> None:
    others: tuple[Any, ...] = (1, "x", None, [])
    for garbage in others:
        assert field_errors(await log_in_with(client, garbage)).keys() == {"credential"}
    for garbage in GARBAGE:
        assert field_errors(await log_in_with(client, garbage)) == {"credential": UNREADABLE}, garbage
        answer = await ada.post(PASSKEYS, json={"name": "x", "credential": garbage})
        assert field_errors(answer) == {"credential": UNREADABLE}


NO_ATTESTATIONS = (b"", b"x", b"\xa0", cbor2.dumps([1]), cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": b""}))


async def test_a_damaged_registration_is_refused_and_the_next_try_succeeds(
    ada: Caller, authenticator: Authenticator
) -> None:
    options = await begin(ada)
    good = authenticator.create(options)
    for attestation in NO_ATTESTATIONS:
        damaged = deepcopy(good)
        damaged["response"]["attestationObject"] = encode(attestation)
        answer = await ada.post(PASSKEYS, json={"name": "x", "credential": damaged})
        assert field_errors(answer).keys() == {"credential"}, attestation
    certified = authenticator.create(options, fmt="packed", attStmt={"alg": -7, "sig": b"x", "x5c": [b"x"]})
    answer = await ada.post(PASSKEYS, json={"name": "x", "credential": certified})
    assert field_errors(answer) == {"credential": "has an attestation, although none was requested"}
    assert await passkeys(ada) == []
    assert (await ada.post(PASSKEYS, json={"name": "x", "credential": good})).status_code == 201


async def test_a_registration_must_be_made_for_this_site_by_a_verified_user(ada: Caller) -> None:
    options = await begin(ada)
    for wrong, message in (
        (Authenticator("https://evil.example"), OTHER_ORIGIN),
        (Authenticator("http://localhost"), OTHER_ORIGIN),
        (Authenticator(ORIGIN, host="evil.example"), REFUSED),
        (Authenticator(ORIGIN, flags=USER_PRESENT), REFUSED),
        (Authenticator(ORIGIN, flags=0), REFUSED),
    ):
        answer = await ada.post(PASSKEYS, json={"name": "x", "credential": wrong.create(options)})
        assert field_errors(answer) == {"credential": message}
    assert await passkeys(ada) == []


async def test_a_registration_of_another_account_or_an_old_or_used_one_is_refused(
    ada: Caller, eve: Caller, authenticator: Authenticator, clock: Clock
) -> None:
    unknown = {"credential": "was created for a registration that is unknown, used or expired"}
    hers = authenticator.create(await begin(eve))
    assert field_errors(await ada.post(PASSKEYS, json={"name": "x", "credential": hers})) == unknown
    mine = authenticator.create(await begin(ada))
    assert (await ada.post(PASSKEYS, json={"name": "x", "credential": mine})).status_code == 201
    assert field_errors(await ada.post(PASSKEYS, json={"name": "x", "credential": mine})) == unknown
    late = Authenticator(ORIGIN).create(await begin(ada))
    clock.advance(minutes=5)
    assert field_errors(await ada.post(PASSKEYS, json={"name": "x", "credential": late})) == unknown


@pytest.mark.both_databases
async def test_a_passkey_belongs_to_one_account(ada: Caller, eve: Caller, authenticator: Authenticator) -> None:
    await register(ada, authenticator)
    answer = await eve.post(PASSKEYS, json={"name": "x", "credential": authenticator.create(await begin(eve))})
    assert answer.status_code == 409


async def test_the_first_second_factor_brings_recovery_codes_and_the_next_none(
    ada: Caller, authenticator: Authenticator, clock: Clock, list_changes: ListChanges
) -> None:
    first = await register(ada, authenticator)

    assert len(first["recovery_codes"]) == 10
    assert (await list_changes())[-1]["action"] == "account.passkey_added"
    passkey = {"id": first["passkey"]["id"], "name": "Phone", "created_at": "2026-11-20T10:00:00.000000Z"}
    assert await passkeys(ada) == [{**passkey, "last_used_at": None}]
    assert (await register(ada, Authenticator(ORIGIN), "Key"))["recovery_codes"] == []
    assert (await enrol(ada, clock)).recovery_codes == []
    excluded = (await begin(ada))["excludeCredentials"]
    assert encode(authenticator.credential_id) in [each["id"] for each in excluded]


async def test_it_is_the_second_factor_of_a_login(ada: Caller, client: Caller, authenticator: Authenticator) -> None:
    await register(ada, authenticator)
    asked = (await log_in(client)).json()

    assert asked["methods"] == ["passkey", "recovery_code"]
    options = asked["passkey_options"]
    assert (options["rpId"], options["userVerification"]) == ("localhost", "required")
    assert [each["id"] for each in options["allowCredentials"]] == [encode(authenticator.credential_id)]
    answer = await answer_challenge(client, asked["challenge"], passkey=authenticator.get(options))
    assert answer.status_code == 200
    assert answer.json().keys() == {"token"}
    assert (await passkeys(ada))[0]["last_used_at"] == "2026-11-20T10:00:00.000000Z"


async def test_as_the_second_factor_it_must_be_one_of_the_account_and_answer_this_challenge(
    ada: Caller, eve: Caller, client: Caller, authenticator: Authenticator
) -> None:
    hers = Authenticator(ORIGIN)
    await register(ada, authenticator)
    await register(eve, hers)
    asked = (await log_in(client)).json()
    given, options = asked["challenge"], asked["passkey_options"]
    other = (await log_in(client)).json()["passkey_options"]
    for wrong, message in (
        (hers.get(options), "is not a passkey of this account"),
        (authenticator.get(other), "answers another challenge"),
        (authenticator.get(options, type="webauthn.create"), REFUSED),
        (authenticator.get(options, origin="https://evil.example"), OTHER_ORIGIN),
    ):
        assert field_errors(await answer_challenge(client, given, passkey=wrong)) == {"passkey": message}
    both = await answer_challenge(client, given, passkey=authenticator.get(options), code="123456")
    assert field_errors(both) == {"passkey": "must not be sent together with a code"}
    assert (await answer_challenge(client, given, passkey=authenticator.get(options))).status_code == 200


async def test_alone_it_gives_a_token_to_whoever_the_authenticator_has_verified(
    ada: Caller, client: Caller, authenticator: Authenticator
) -> None:
    await register(ada, authenticator)
    options = await begin_login(client)

    answer = await log_in_with(client, authenticator.get(options))

    assert options["allowCredentials"] == []
    assert answer.json().keys() == {"token"}
    me = await client.get("/api/me", headers={"authorization": f"Bearer {answer.json()['token']}"})
    assert me.json() == {"user_id": ada.account["id"]}


async def test_alone_it_is_refused_by_any_flaw(ada: Caller, client: Caller, authenticator: Authenticator) -> None:
    await register(ada, authenticator)
    options = await begin_login(client)
    authenticator.flags = USER_PRESENT
    unverified = authenticator.get(options)
    authenticator.flags = 0
    absent = authenticator.get(options)
    authenticator.flags = Authenticator.flags
    elsewhere = authenticator.get(options, origin="http://localhost:8001")
    good = authenticator.get(options)
    unsigned, short = deepcopy(good), deepcopy(good)
    unsigned["response"]["signature"] = encode(b"x" * 70)
    short["response"]["authenticatorData"] = encode(b"x")
    for wrong in (unsigned, short, unverified, absent, {**good, "type": "password"}, {**good, "id": "eA"}):
        assert field_errors(await log_in_with(client, wrong)) == {"credential": REFUSED}
    assert field_errors(await log_in_with(client, elsewhere)) == {"credential": OTHER_ORIGIN}
    assert (await log_in_with(client, good)).status_code == 200


async def test_a_counter_that_does_not_advance_is_refused(
    ada: Caller, client: Caller, authenticator: Authenticator
) -> None:
    authenticator.counter = 5
    await register(ada, authenticator)
    assert (await log_in_with(client, authenticator.get(await begin_login(client)))).status_code == 200
    authenticator.counter -= 1  # a copy of the authenticator

    answer = await log_in_with(client, authenticator.get(await begin_login(client)))

    assert field_errors(answer) == {"credential": REFUSED}


@pytest.mark.both_databases
async def test_a_challenge_is_answered_once_and_for_five_minutes_and_only_for_its_purpose(
    ada: Caller, client: Caller, authenticator: Authenticator, clock: Clock
) -> None:
    await register(ada, authenticator)
    used, late = await begin_login(client), await begin_login(client)
    answers = await asyncio.gather(*(log_in_with(client, authenticator.get(used)) for _ in range(4)))
    assert [answer.status_code for answer in answers].count(200) == 1
    clock.advance(minutes=5)
    of_a_login = (await log_in(client)).json()["passkey_options"]
    for options in (used, late, of_a_login, await begin(ada)):
        answer = await log_in_with(client, authenticator.get(options))
        assert (answer.status_code, answer.json()["detail"]) == (401, ENDED)


async def test_an_unknown_passkey_or_one_for_another_account_is_refused(
    ada: Caller, client: Caller, authenticator: Authenticator
) -> None:
    await register(ada, authenticator)
    authenticator.user_handle = encode(b"somebody else 16")
    for each in (Authenticator(ORIGIN), authenticator):
        answer = await log_in_with(client, each.get(await begin_login(client)))
        assert (answer.status_code, answer.json()["detail"]) == (401, NOT_REGISTERED)


async def test_a_removed_passkey_is_asked_for_and_accepted_no_more(
    ada: Caller, eve: Caller, client: Caller, authenticator: Authenticator, list_changes: ListChanges
) -> None:
    path = f"{PASSKEYS}/{(await register(ada, authenticator))['passkey']['id']}/remove"
    assert (await eve.post(path, json=CONFIRMED)).status_code == 404
    for no_id in NO_IDS:
        assert (await ada.post(f"{PASSKEYS}/{no_id}/remove", json=CONFIRMED)).status_code == 404

    assert (await ada.post(path, json=CONFIRMED)).status_code == 204

    assert (await list_changes())[-1]["action"] == "account.passkey_removed"
    state: Json = {"totp_since": None, "passkeys": [], "recovery_codes_left": 0, "meets_demand": False}
    assert (await ada.get(TWO_FACTOR)).json() == state
    assert (await log_in(client)).status_code == 200
    answer = await log_in_with(client, authenticator.get(await begin_login(client)))
    assert answer.json()["detail"] == NOT_REGISTERED


@pytest.mark.both_databases
async def test_an_app_stays_when_the_passkey_goes_and_the_other_way_round(
    ada: Caller, client: Caller, authenticator: Authenticator, clock: Clock
) -> None:
    registered = await register(ada, authenticator)
    app = await enrol(ada, clock)
    await ada.post(f"{PASSKEYS}/{registered['passkey']['id']}/remove", json=CONFIRMED)
    assert (await ada.get(TWO_FACTOR)).json()["recovery_codes_left"] == 10
    assert (await answer_challenge(client, await challenge(client), code=app.next_code())).status_code == 200
    await register(ada, Authenticator(ORIGIN))
    await ada.post(f"{TWO_FACTOR}/totp/disable", json={**CONFIRMED, "code": app.next_code()})
    assert (await log_in(client)).json()["methods"] == ["passkey", "recovery_code"]


async def test_the_code_of_an_app_that_is_not_confirmed_is_no_second_factor(
    ada: Caller, client: Caller, authenticator: Authenticator, clock: Clock
) -> None:
    await register(ada, authenticator)
    app = await begin_app(ada, clock)
    answer = await answer_challenge(client, await challenge(client), code=app.code())
    assert field_errors(answer).keys() == {"code"}


async def test_an_account_has_at_most_20(ada: Caller) -> None:
    for _ in range(20):
        await register(ada, Authenticator(ORIGIN))
    assert (await ada.post(f"{PASSKEYS}/options", json=CONFIRMED)).status_code == 409
