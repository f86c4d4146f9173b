"""GET /api/me/sessions, DELETE /api/me/sessions/{id}, and how sessions begin and end."""

import asyncio
from uuid import UUID, uuid4

import jwt
import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.identity.sessions.sessions import SESSIONS_PER_ACCOUNT, Origin
from flagstaff.values.errors import Code, Error
from tests.support.api import NO_IDS, Caller, Json
from tests.support.clock import Clock
from tests.support.queries import reads
from tests.support.sessions import PASSWORD, log_in, operated_accounts
from tests.web.conftest import Call, RequestReset

EMAIL, PATH = "ada@example.com", "/api/me/sessions"


async def listed(caller: Caller) -> list[Json]:
    answer = await caller.get(PATH)
    assert answer.status_code == 200, answer.text
    items: list[Json] = answer.json()
    return items


async def status_of(client: Caller, token: str | None) -> int:
    return (await client.get("/api/me", headers={"authorization": f"Bearer {token}"})).status_code


def id_of(token: str | None) -> str:
    assert token is not None
    session_id: str = jwt.decode(token, options={"verify_signature": False})["sid"]
    return session_id


async def test_without_a_token_nothing_is_answered(client: Caller, ada: Caller) -> None:
    assert (await client.get(PATH)).status_code == 401
    assert (await client.delete(f"{PATH}/{id_of(ada.token)}")).status_code == 401
    assert (await client.delete(PATH)).status_code == 401


async def test_a_session_that_is_unknown_or_foreign_or_has_ended_is_not_found(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, client: Caller
) -> None:
    ended = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
    assert (await ada.delete(f"{PATH}/{id_of(ended)}")).status_code == 204
    for session_id in (uuid4(), *NO_IDS, id_of(eve.token), id_of(ended)):
        answer = await ada.delete(f"{PATH}/{session_id}")
        assert answer.status_code == 404, session_id
    assert [await status_of(client, each.token) for each in (ada, eve)] == [200, 200]


async def test_an_expired_session_is_not_listed_nor_found(flagstaff: Flagstaff, ada: Caller, clock: Clock) -> None:
    old = ada.token
    clock.advance(hours=24)
    ada.headers["authorization"] = f"Bearer {await log_in(flagstaff, email=EMAIL, password=PASSWORD)}"
    assert [each["current"] for each in await listed(ada)] == [True]
    assert (await ada.delete(f"{PATH}/{id_of(old)}")).status_code == 404


async def test_a_password_that_is_changed_during_a_login_opens_no_session(flagstaff: Flagstaff, ada: Caller) -> None:
    account = await flagstaff.identity.accounts.verify_password(email=EMAIL, password=PASSWORD)
    await operated_accounts(flagstaff).set_password(email=EMAIL, password="another fine password")
    with pytest.raises(Error) as refusal:
        await flagstaff.identity.sessions.open(account, Origin())
    assert refusal.value.code is Code.UNAUTHENTICATED
    ada.headers["authorization"] = f"Bearer {await log_in(flagstaff, email=EMAIL, password='another fine password')}"
    assert len(await listed(ada)) == 1


async def test_a_login_opens_a_session_with_its_device_and_address(ada: Caller, call_from: Call, clock: Clock) -> None:
    clock.advance(minutes=1)
    browser = call_from("2001:db8::7")
    answer = await browser.post(
        "/auth/login", json={"email": EMAIL, "password": PASSWORD}, headers={"user-agent": "Mozilla/5.0 (X11; Linux)"}
    )
    browser.headers["authorization"] = f"Bearer {answer.json()['token']}"

    opened, first = await listed(browser)

    assert opened == {
        "id": id_of(answer.json()["token"]),
        "device": "Mozilla/5.0 (X11; Linux)",
        "address": "2001:db8::7",
        "created_at": "2026-11-20T10:01:00.000000Z",
        "last_seen_at": "2026-11-20T10:01:00.000000Z",
        "expires_at": "2026-11-21T10:01:00.000000Z",
        "current": True,
    }
    assert (first["id"], first["current"]) == (id_of(ada.token), False)
    assert [(each["id"], each["current"]) for each in await listed(ada)] == [(first["id"], True), (opened["id"], False)]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_TRUSTED_PROXIES": "192.0.2.1"}])
async def test_behind_a_trusted_proxy_the_address_is_that_of_the_client(ada: Caller, client: Caller) -> None:
    body = {"email": EMAIL, "password": PASSWORD}
    await client.post("/auth/login", json=body, headers={"x-forwarded-for": "10.0.0.9, 203.0.113.5"})
    assert (await listed(ada))[-1]["address"] == "203.0.113.5"


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("curl/8.5.0", "curl/8.5.0"),
        (b"  two\twords \x7f\x85 ", "two words"),
        (b"soft\xadhyphen \xfcml\xe4ut", "soft hyphen ümläut"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
        ("x" * 300, "x" * 255),
        ("x" * 60_000, "x" * 255),
        (b"\x01\x02", None),
        ("", None),
    ],
)
async def test_a_device_is_one_line_of_text_of_bounded_length(
    ada: Caller, client: Caller, given: str | bytes, shown: str | None
) -> None:
    body = {"email": EMAIL, "password": PASSWORD}
    headers = {b"user-agent": given if isinstance(given, bytes) else given.encode()}
    assert (await client.post("/auth/login", json=body, headers=headers)).status_code == 200
    assert (await listed(ada))[-1]["device"] == shown


@pytest.mark.both_databases
async def test_ending_a_session_ends_its_token_at_once_and_no_other(
    flagstaff: Flagstaff, ada: Caller, client: Caller
) -> None:
    lost = await log_in(flagstaff, email=EMAIL, password=PASSWORD, device="Lost phone")

    answer = await ada.delete(f"{PATH}/{id_of(lost)}")

    assert (answer.status_code, answer.content) == (204, b"")
    assert [await status_of(client, token) for token in (lost, ada.token)] == [401, 200]
    assert [each["id"] for each in await listed(ada)] == [id_of(ada.token)]
    change = (await ada.get("/api/me/changes")).json()["items"][0]
    assert (change["action"], change["actor"]["email"]) == ("account.session_ended", EMAIL)
    assert (change["resource_id"], change["before"]["device"]) == (ada.account["id"], "Lost phone")


async def test_the_present_session_is_listed_first_and_then_those_that_were_used_last(
    flagstaff: Flagstaff, ada: Caller, call_from: Call, clock: Clock
) -> None:
    tokens = [ada.token]
    for _ in range(2):
        clock.advance(minutes=1)
        tokens.append(await log_in(flagstaff, email=EMAIL, password=PASSWORD))
    first, second, third = map(id_of, tokens)
    assert [each["id"] for each in await listed(ada)] == [first, third, second]
    clock.advance(minutes=10)
    elsewhere = call_from("192.0.2.7")
    elsewhere.headers["authorization"] = f"Bearer {tokens[1]}"
    await listed(elsewhere)
    await flagstaff.identity.sessions.write_last_seen()
    assert [each["id"] for each in await listed(ada)] == [first, second, third]
    assert [each["id"] for each in await listed(elsewhere)] == [second, third, first]


@pytest.mark.both_databases
async def test_all_other_sessions_end_at_once_and_each_is_recorded(
    flagstaff: Flagstaff, ada: Caller, eve: Caller
) -> None:
    others = [await log_in(flagstaff, email=EMAIL, password=PASSWORD) for _ in range(3)]
    assert (await ada.delete(PATH)).status_code == 204
    assert [await status_of(ada, each) for each in others] == [401, 401, 401]
    assert [each["current"] for each in await listed(ada)] == [True]
    assert len(await listed(eve)) == 1
    changes = (await ada.get("/api/me/changes")).json()["items"]
    assert [each["action"] for each in changes[:3]] == ["account.session_ended"] * 3
    assert (await ada.delete(PATH)).status_code == 204
    assert len((await ada.get("/api/me/changes")).json()["items"]) == len(changes)


async def test_one_can_end_the_session_one_is_in(ada: Caller) -> None:
    assert (await ada.delete(f"{PATH}/{id_of(ada.token)}")).status_code == 204
    assert (await ada.get(PATH)).status_code == 401


@pytest.mark.both_databases
async def test_of_many_ends_of_a_session_at_once_one_succeeds(flagstaff: Flagstaff, ada: Caller) -> None:
    other = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
    answers = await asyncio.gather(*(ada.delete(f"{PATH}/{id_of(other)}") for _ in range(6)))
    assert sorted(each.status_code for each in answers) == [204] + 5 * [404]


async def test_a_logout_ends_the_session(flagstaff: Flagstaff, ada: Caller, client: Caller) -> None:
    other = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
    await client.post("/auth/logout", headers={"authorization": f"Bearer {other}"})
    assert [each["id"] for each in await listed(ada)] == [id_of(ada.token)]


async def test_a_password_change_ends_all_sessions_and_opens_one(flagstaff: Flagstaff, ada: Caller) -> None:
    await log_in(flagstaff, email=EMAIL, password=PASSWORD)
    body = {"current_password": PASSWORD, "new_password": "a new password"}
    token = (await ada.post("/api/me/password", json=body, headers={"user-agent": "curl/8"})).json()["token"]
    ada.headers["authorization"] = f"Bearer {token}"
    (only,) = await listed(ada)
    assert (only["id"], only["device"], only["address"], only["current"]) == (id_of(token), "curl/8", "192.0.2.1", True)


async def test_a_reset_ends_all_sessions_and_opens_none(
    flagstaff: Flagstaff, ada: Caller, client: Caller, request_reset: RequestReset
) -> None:
    body = {"token": await request_reset(), "newPassword": "a new password"}
    assert (await client.post("/auth/reset-password", json=body)).status_code == 200
    token = await log_in(flagstaff, email=EMAIL, password="a new password")
    ada.headers["authorization"] = f"Bearer {token}"
    assert [each["id"] for each in await listed(ada)] == [id_of(token)]


async def test_the_last_use_is_known_to_within_minutes_and_costs_a_request_no_write(
    flagstaff: Flagstaff, ada: Caller, clock: Clock
) -> None:
    writes: list[str] = []
    writer = flagstaff.database._engines.writer.sync_engine
    sa.event.listen(writer, "before_cursor_execute", lambda *given: writes.append(given[2]))
    for minutes, seen in ((4, "10:00:00"), (1, "10:05:00"), (4, "10:05:00"), (20, "10:29:00")):
        clock.advance(minutes=minutes)
        writes.clear()
        await ada.get("/api/projects")
        assert not any("UPDATE" in each for each in writes)
        await flagstaff.identity.sessions.write_last_seen()
        (session,) = await listed(ada)
        assert session["last_seen_at"] == f"2026-11-20T{seen}.000000Z"


async def test_a_request_reads_its_session_with_its_account_in_one_query(flagstaff: Flagstaff, ada: Caller) -> None:
    with reads(flagstaff.database) as queries:
        await ada.get("/api/me")
    assert len([each for each in queries if "SELECT" in each and "accounts" in each]) == 1
    assert len([each for each in queries if "sessions" in each]) == 1


async def test_an_account_has_a_bounded_number_of_sessions_and_the_least_used_ends(
    flagstaff: Flagstaff, ada: Caller, client: Caller, clock: Clock
) -> None:
    clock.advance(minutes=1)
    account = await flagstaff.identity.accounts.verify_password(email=EMAIL, password=PASSWORD)
    idle = await flagstaff.identity.sessions.open(account, Origin())
    clock.advance(minutes=5)
    await ada.get("/api/me")
    await flagstaff.identity.sessions.write_last_seen()
    for _ in range(SESSIONS_PER_ACCOUNT - 1):
        last = await flagstaff.identity.sessions.open(account, Origin())
    assert [await status_of(client, token) for token in (idle, ada.token, last)] == [401, 200, 200]
    assert len(await listed(ada)) == SESSIONS_PER_ACCOUNT


@pytest.mark.both_databases
async def test_the_purge_deletes_expired_sessions(flagstaff: Flagstaff, ada: Caller, eve: Caller, clock: Clock) -> None:
    clock.advance(hours=24)
    kept = await log_in(flagstaff, email=EMAIL, password=PASSWORD)
    await flagstaff.identity.accounts.purge()
    async with flagstaff.database.read() as connection:
        found = list((await connection.execute(sa.select(tables.sessions.c.id))).scalars())
    assert found == [UUID(id_of(kept))]
