"""The nginx of docs/operations/proxy.md before a server: it compresses answers, and lets the server refuse requests."""

import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from flagstaff.assembly.bootstrap import open_service
from flagstaff.settings import Settings
from tests.sdks.test_ofrep import EMAIL, PASSWORD, make_key
from tests.support.api import check_manners
from tests.support.builders import make_environment, make_flag, make_project, store_all
from tests.support.nginx import DocumentedNginx
from tests.support.server import ServerProcess
from tests.support.stores import Store, sqlite_store

NAME = "localhost"
FLAGS = 500
EVALUATE, OFREP, FRONTEND = "/sdk/v1/evaluate", "/ofrep/v1/evaluate/flags", "/unleash/api/frontend"
BODIES: dict[str, Any] = {EVALUATE: {"environment": "production"}, OFREP: {}, FRONTEND: {}}


@pytest.fixture
def store(sqlite_template: Path, data_directory: Path) -> Store:
    return sqlite_store(sqlite_template, data_directory)


@pytest.fixture
async def key(store: Store) -> str:
    """A key of an environment with many flags that are on."""
    async with open_service(Settings.load(store.environ)) as flagstaff:
        account = await flagstaff.identity.accounts.register(email=EMAIL, password=PASSWORD)
        project = make_project(account.id)
        environment = make_environment(project.id)
        flags = (make_flag(environment, key=f"checkout-step-{number}") for number in range(FLAGS))
        await store_all(flagstaff.database, project, environment, *flags)
        return await make_key(flagstaff, account, environment)


@pytest.fixture
async def client(store: Store, key: str, tmp_path: Path) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the proxy, with the key."""
    async with (
        ServerProcess(store, {"FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.1"}) as server,
        DocumentedNginx(tmp_path, server.port, name=NAME) as proxy,
        httpx.AsyncClient(
            verify=ssl.create_default_context(cafile=proxy.authority.path),
            base_url=f"https://{NAME}:{proxy.port}",
            headers={"x-sdk-key": key, "authorization": f"Bearer {key}"},
        ) as caller,
    ):
        yield caller


@pytest.mark.parametrize("path", BODIES)
async def test_answers_with_flags_are_compressed_to_a_tenth(client: httpx.AsyncClient, path: str) -> None:
    plain, compressed = [
        await client.post(path, json=BODIES[path], headers={"accept-encoding": accepted})
        for accepted in ("identity", "gzip")
    ]
    assert plain.content == compressed.content
    assert plain.text.count("checkout-step-") == FLAGS
    assert [each.headers.get("content-encoding") for each in (plain, compressed)] == [None, "gzip"]
    assert all("Accept-Encoding" in each.headers["vary"] for each in (plain, compressed))
    assert plain.num_bytes_downloaded == len(plain.content) > 30_000
    assert compressed.num_bytes_downloaded < len(plain.content) / 10


async def test_the_weak_tag_of_a_compressed_answer_confirms_it(client: httpx.AsyncClient) -> None:
    tag = (await client.post(OFREP, json={})).headers["etag"]
    assert tag.startswith('W/"')
    assert (await client.post(OFREP, json={}, headers={"if-none-match": tag})).status_code == 304


async def test_requests_that_are_too_large_are_refused_by_the_server(client: httpx.AsyncClient) -> None:
    too_large = await client.post(EVALUATE, content=b" " * 600_000)
    too_long = await client.post(f"{EVALUATE}?{'x' * 9_000}", json=BODIES[EVALUATE])
    assert (too_large.status_code, too_long.status_code) == (413, 414)
    for refused in (too_large, too_long):
        await check_manners(refused)
