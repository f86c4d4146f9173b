"""A server that shares its host with another application, behind a real nginx that passes paths on as they are."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.api import Json
from tests.support.clients import open_client
from tests.support.command import run_flagstaff
from tests.support.event_streams import EventStream
from tests.support.nginx import PATH_PREFIX, SharedNginx
from tests.support.oidc import SECRET, IdentityProvider
from tests.support.ports import free_port
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

EVE = "eve@example.com"


@pytest.fixture
def store(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


@pytest.fixture
def proxy_port() -> int:
    return free_port()


@pytest.fixture
def providers() -> str:
    """The identity providers; none, except where a test needs one."""
    return "[]"


@pytest.fixture
async def server(store: Store, tmp_path: Path, proxy_port: int, providers: str) -> AsyncIterator[ServerProcess]:
    """The server, whose URL is the proxy's."""
    url = f"http://127.0.0.1:{proxy_port}{PATH_PREFIX}"
    started = ServerProcess(store, {"FLAGSTAFF_PUBLIC_URL": f"{url}/", "FLAGSTAFF_OIDC_PROVIDERS": providers})
    started.url = url
    async with SharedNginx(tmp_path, proxy_port, started.port), started:
        yield started


@pytest.mark.parametrize("path", ["//flags", "/flags/../x", "/fl%61gs", "/a b"])
def test_a_path_that_is_not_supported_stops_the_start_in_one_line(tmp_path: Path, path: str) -> None:
    environ = {"FLAGSTAFF_DATA_DIR": str(tmp_path / "data"), "FLAGSTAFF_PUBLIC_URL": f"https://example.com{path}"}
    outcome = run_flagstaff("serve", environ=environ)
    (line,) = outcome.stderr.splitlines()
    assert outcome.returncode == 1
    assert line.startswith("flagstaff: FLAGSTAFF_PUBLIC_URL must ")
    assert not (tmp_path / "data").exists()


async def test_no_part_of_the_server_is_beside_the_prefix(server: ServerProcess) -> None:
    host = server.url.removesuffix(PATH_PREFIX)
    async with open_client(host) as client:
        for path in ("/", "/health", "/api/me", "/sdk/v1/evaluate"):
            assert "Another application" in (await client.get(path)).text
        for path in (f"{PATH_PREFIX}/metrics", "/tools/fl%61gs/metrics", "/tools//flags/metrics"):
            assert (await client.get(path)).status_code == 403
    async with open_client(f"http://127.0.0.1:{server.port}") as client:
        for path in ("/metrics", "/health", f"{PATH_PREFIX}{PATH_PREFIX}/metrics", "/"):
            assert (await client.get(path)).status_code == 404


async def test_service_pages_are_below_it(server: ServerProcess) -> None:
    async with open_client(server.url) as client:
        for path in ("/health", "/ready", "/docs", "/docs/start.js", "/docs/assets/swagger-ui.css", "/openapi.json"):
            assert (await client.get(path)).status_code == 200, path


async def make_environment(ada: RemoteCaller) -> tuple[Json, Json, str]:
    """Create a project with a flag; return its environment, the flag and an SDK key."""
    await ada.sign_up()
    project = await ada.create_project()
    environment = await ada.create_environment(project)
    flag = await ada.create_flag(environment, key="checkout")
    path = f"/api/projects/{project['id']}/sdk-keys"
    made = await ada.post(path, json={"name": "web", "kind": "server", "environment": environment["key"]})
    assert made.status_code == 201, made.text
    return environment, flag, made.json()["key"]


async def test_sdks_evaluate_and_follow_changes_below_it(server: ServerProcess) -> None:
    async with RemoteCaller(server.url) as ada, open_client(server.url) as app:
        environment, flag, key = await make_environment(ada)
        keys = {"x-sdk-key": key, "x-api-key": key, "authorization": key}
        evaluated = await app.post("/sdk/v1/evaluate", json={"environment": environment["key"]}, headers=keys)
        assert "checkout" in evaluated.json()["flags"]
        offered = await app.post("/ofrep/v1/evaluate/flags?stream=sse", json={}, headers=keys)
        uri = offered.json()["eventStreams"][0]["endpoint"]["requestUri"]
        host = server.url.removesuffix(PATH_PREFIX)
        async with (
            app.stream("GET", f"{host}{uri}") as refetches,
            app.stream("GET", "/unleash/api/client/streaming", headers=keys) as features,
        ):
            hints, changes = EventStream(refetches), EventStream(features)
            assert (await changes.next())["event"] == "unleash-connected"
            path = f"/api/projects/{environment['project_id']}/environments/{environment['id']}/flags/{flag['id']}"
            assert (await ada.post(f"{path}/toggle", json={})).status_code == 200
            assert (await hints.next())["data"]["type"] == "refetchEvaluation"
            assert (await changes.next())["event"] == "unleash-updated"


class TestWithAProvider:
    @pytest.fixture
    async def provider(self, proxy_port: int) -> AsyncIterator[IdentityProvider]:
        with IdentityProvider(f"http://127.0.0.1:{proxy_port}{PATH_PREFIX}") as started:
            await started.set(people={EVE: {"email": EVE, "email_verified": True}})
            yield started

    @pytest.fixture
    def providers(self, provider: IdentityProvider) -> str:
        acme = {"key": "acme", "name": "Acme", "issuer": provider.issuer, "client_id": "flagstaff"}
        return json.dumps([{**acme, "client_secret": SECRET}])

    async def test_people_come_back_below_it(self, server: ServerProcess, provider: IdentityProvider) -> None:
        async with RemoteCaller(server.url) as eve:
            begun = (await eve.post("/auth/sso/acme/begin", json={})).json()
            answer = await provider.answer(begun["authorization_url"], EVE)  # which is sent to the redirect URI
            body = {name: answer[name] for name in ("state", "code", "iss")}
            completed = await eve.post("/auth/sso/complete", json={**body, "binding": begun["binding"]})
            assert completed.status_code == 200, completed.text
