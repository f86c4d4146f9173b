"""Behind a proxy that stores responses, also those to POST, as its configuration can make it."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from tests.support.api import Json, flag_path
from tests.support.clients import open_client
from tests.support.nginx import StoringNginx
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import ServerProcess
from tests.support.stores import sqlite_store

EVALUATE, OFREP, FRONTEND = "/sdk/v1/evaluate", "/ofrep/v1/evaluate/flags", "/unleash/api/frontend"
CLIENT = "/unleash/api/client"
IGNORING = "proxy_ignore_headers Cache-Control;"


@pytest.fixture
async def server(sqlite_template: Path, data_directory: Path) -> AsyncIterator[ServerProcess]:
    async with ServerProcess(sqlite_store(sqlite_template, data_directory)) as process:
        yield process


@pytest.fixture
async def ada(server: ServerProcess) -> AsyncIterator[RemoteCaller]:
    """A signed-in person, who calls the server itself."""
    async with RemoteCaller(server.url) as caller:
        await caller.sign_up()
        yield caller


@pytest.fixture
async def flag(ada: RemoteCaller) -> Json:
    """A flag that is on for the user ada only."""
    made = await ada.create_flag(key="checkout", fallthrough="off")
    await ada.create_rule(made, rule_value="ada")
    return made


@pytest.fixture
async def key(ada: RemoteCaller, flag: Json) -> str:
    """A key of the flag's environment, which is `production`."""
    text: str = (await create_key(ada, {"id": flag["project_id"]}))["key"]
    return text


async def ask(client: httpx.AsyncClient, path: str, key: str, user: str) -> httpx.Response:
    """Ask for the flags of a user, in the protocol of the path."""
    headers = {"x-sdk-key" if path.startswith("/sdk/") else "authorization": key}
    if path.startswith("/sdk/"):
        body = {"environment": "production", "context": {"user_id": user}}
    elif path.startswith("/ofrep/"):
        body, headers = {"context": {"targetingKey": user}}, {"x-api-key": key}
    elif path == FRONTEND:
        body = {"context": {"userId": user}}
    else:
        return await client.get(path, headers=headers)
    return await client.post(path, json=body, headers=headers)


@pytest.mark.parametrize("path", [EVALUATE, f"{EVALUATE}/checkout", OFREP, f"{OFREP}/checkout", FRONTEND])
async def test_nobody_gets_the_flags_of_another_user_or_without_a_key(
    server: ServerProcess, tmp_path: Path, key: str, path: str
) -> None:
    async with StoringNginx(tmp_path, server.port) as proxy, open_client(base_url=proxy.url) as client:
        for _ in range(2):
            for user, is_on in (("ada", True), ("eve", False)):
                answer = await ask(client, path, key, user)
                assert (answer.status_code, "X-Cache" in answer.headers) == (200, True)
                assert ("true" in answer.text.replace('"feature_enabled":true', "")) is is_on, answer.text
            assert (await ask(client, path, "", "ada")).status_code == 401


@pytest.mark.parametrize("path", [EVALUATE, OFREP, FRONTEND, f"{CLIENT}/features", f"{CLIENT}/delta"])
async def test_a_kill_is_in_the_next_answer(
    server: ServerProcess, tmp_path: Path, ada: RemoteCaller, flag: Json, key: str, path: str
) -> None:
    async with StoringNginx(tmp_path, server.port) as proxy, open_client(base_url=proxy.url) as client:
        before = await ask(client, path, key, "ada")
        assert (await ask(client, path, key, "ada")).text == before.text
        assert (await ada.post(f"{flag_path(flag)}/toggle")).status_code == 200
        assert (await ask(client, path, key, "ada")).text != before.text


@pytest.mark.parametrize("path", [EVALUATE, OFREP, FRONTEND, f"{CLIENT}/features", f"{CLIENT}/delta"])
async def test_what_a_proxy_stores_against_our_will_is_for_requests_with_the_same_key_only(
    server: ServerProcess, tmp_path: Path, key: str, path: str
) -> None:
    async with StoringNginx(tmp_path, server.port, IGNORING) as proxy, open_client(base_url=proxy.url) as client:
        states = [(await ask(client, path, key, "ada")).headers["X-Cache"] for _ in range(2)]
        assert states == ["MISS", "HIT"]
        assert (await ask(client, path, "", "ada")).status_code == 401


async def test_the_proxy_stores_what_may_be_stored(server: ServerProcess, tmp_path: Path) -> None:
    async with StoringNginx(tmp_path, server.port) as proxy, open_client(base_url=proxy.url) as client:
        page = await client.get("/", headers={"accept": "text/html"})
        asset = page.text.partition('src="/assets/')[2].partition('"')[0]
        states = [(await client.get(f"/assets/{asset}")).headers["X-Cache"] for _ in range(2)]
        assert states == ["MISS", "HIT"]
