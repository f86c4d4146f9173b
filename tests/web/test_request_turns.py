"""Requests of strangers: their share of each address, and their turns on the event loop."""

import asyncio
from pathlib import Path
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.concurrency.loop_turns import Rank
from flagstaff.http.clients import Clients
from tests.support.api import Caller, Json, flag_path
from tests.support.holds import ask
from tests.support.limits import NO_LIMITS
from tests.support.sdk_keys import KeyMaker
from tests.web.conftest import Call

STRICT = {"FLAGSTAFF_ANONYMOUS_RATE_LIMIT": "5/minute"}
ADDRESS = "192.0.2.7"


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: what is tested does not reach the database."""
    return sqlite_template


@pytest.mark.parametrize("environ", [STRICT])
async def test_beyond_its_share_an_address_without_a_key_or_token_is_refused_at_every_path(
    call_from: Call, flagstaff: Flagstaff
) -> None:
    stranger, other = call_from(ADDRESS), call_from("198.51.100.1")
    for path in ("/nothing", "/openapi.json", "/docs", "/api/projects", "/sdk/v1/evaluate"):
        assert (await stranger.get(path)).status_code != 429, path
    for path in ("/nothing", "/openapi.json", "/docs", "/api/projects", "/ofrep/v1", "/unleash/x", "/", "/metrics"):
        refused = await stranger.get(path)
        assert refused.status_code == 429, path
        assert 0 < int(refused.headers["retry-after"]) <= 60
        assert "FLAGSTAFF_ANONYMOUS_RATE_LIMIT" in refused.text
    refused = await stranger.post("/auth/login", json={"email": "eve@example.com", "password": "x" * 20})
    assert refused.status_code == 429
    assert (await stranger.get("/health")).status_code == 200
    assert (await stranger.get("/ready")).status_code == 200
    assert (await other.get("/openapi.json")).status_code == 200
    text = (await other.get("/metrics")).text
    assert "flagstaff_anonymous_requests_refused_total 9.0" in text


@pytest.mark.parametrize("environ", [STRICT])
async def test_requests_with_a_valid_key_or_token_do_not_count(
    call_from: Call, ada: Caller, keys: KeyMaker, project: Json, environment: Json
) -> None:
    one = call_from(ADDRESS)
    key, token = await keys.create(environment), {"authorization": f"Bearer {ada.token}"}
    for _ in range(8):
        assert (await one.evaluate(project["sdk_key"])).status_code == 200
        answer = await one.get("/unleash/api/client/features", headers={"authorization": key})
        assert answer.status_code == 200
        assert (await one.get("/api/projects", headers=token)).status_code == 200
    assert (await one.get("/nothing")).status_code == 404


@pytest.mark.parametrize("environ", [STRICT])
async def test_a_token_that_was_not_seen_before_is_known_at_a_full_address(
    call_from: Call, ada: Caller, flagstaff: Flagstaff
) -> None:
    one = call_from(ADDRESS)
    while (await one.get("/nothing")).status_code != 429:
        pass
    flagstaff.edge.clients._accounts.clear()  # as after a restart
    assert (await one.get("/api/projects", headers={"authorization": f"Bearer {ada.token}"})).status_code == 200


async def test_the_dashboard_s_files_do_not_count(call_from: Call, flagstaff: Flagstaff) -> None:
    page = await call_from(ADDRESS).get("/", headers={"accept": "text/html"})
    if page.status_code == 503:
        pytest.skip("the dashboard is not built")
    before = _counted(flagstaff)
    for _ in range(20):
        assert (await call_from(ADDRESS).get("/favicon.svg")).status_code == 200
    assert _counted(flagstaff) == before


def _counted(flagstaff: Flagstaff) -> int:
    share = flagstaff.edge.limits.anonymous
    assert share is not None
    return share.shared[""].known(ADDRESS)


async def test_a_toggle_does_not_wait_for_the_requests_of_strangers(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    flag, token = await ada.create_flag(environment), ada.token
    assert token
    path = f"{flag_path(flag)}/toggle"
    assert (await ask(flagstaff.edge.asgi, "POST", path, token=token))[0] == 200
    answered = 0

    async def ask_for_nothing() -> None:
        nonlocal answered
        status, _ = await ask(flagstaff.edge.asgi, "GET", "/nothing")
        assert status == 404
        answered += 1

    strangers = [asyncio.ensure_future(ask_for_nothing()) for _ in range(3_000)]
    assert (await ask(flagstaff.edge.asgi, "POST", path, token=token))[0] == 200
    assert answered < len(strangers), "it was answered before the last of them"
    await asyncio.gather(*strangers)


def test_the_accounts_of_a_bounded_number_of_tokens_are_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("flagstaff.http.clients.REMEMBERED_TOKENS", 2)
    clients = Clients(NO_LIMITS, lambda _: None)
    for token in ("a", "b", "c"):
        clients.remember(token, uuid4())
    assert len(clients._accounts) == 2


async def test_whoever_uses_a_public_key_takes_turns_by_address_and_not_with_the_servers_of_its_project(
    flagstaff: Flagstaff, client: Caller, keys: KeyMaker, environment: Json
) -> None:
    found = []
    for kind in ("browser", "server"):
        key = await keys.create(environment, kind)
        assert (await client.post("/ofrep/v1/evaluate/flags", json={}, headers={"x-api-key": key})).status_code == 200
        for address in ("192.0.2.1", "192.0.2.2"):
            scope = {"path": "/ofrep/v1/evaluate/flags", "headers": [(b"x-api-key", key.encode())], "method": "POST"}
            found.append(flagstaff.edge.clients.find({**scope, "client": (address, 1)}))
    assert len(set(found)) == 3
    assert found[2] == found[3]
    assert all(each.rank is Rank.KNOWN for each in found)
