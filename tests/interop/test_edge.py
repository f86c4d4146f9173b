"""A released Unleash Edge in front of a server, unmodified, with a released SDK and a browser's request behind it."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.interop.edge import EdgeProcess
from tests.sdks.test_unleash import Shop, questions_of, signed_in, store_cases, toggle, until_it_is
from tests.support.api import Json
from tests.support.applications import Application, until
from tests.support.proxies import Proxies
from tests.support.remote import RemoteCaller
from tests.support.server import ServerProcess
from tests.support.stores import Store

FEATURES, FRONTEND = "/unleash/api/client/features", "/unleash/api/frontend"
each_mode = pytest.mark.parametrize("mode", ["strict", "dynamic"])


@asynccontextmanager
async def running(
    store: Store, shop: Shop, folder: Path, mode: str = "strict", way: str | None = None
) -> AsyncIterator[tuple[ServerProcess, EdgeProcess, Application]]:
    """A server, an Edge with the key of the shop, and an application behind it; `way` is of a proxy between the two."""
    async with ServerProcess(store) as server, AsyncExitStack() as stack:
        proxies = await stack.enter_async_context(Proxies(folder, server.port, [way])) if way else None
        url = proxies.url(way) if proxies and way else server.url
        edge = await stack.enter_async_context(EdgeProcess(url, folder, mode, [shop.key]))
        app = await stack.enter_async_context(Application("python", edge.url))
        await until_it_has_flags(edge, shop.key)
        yield server, edge, app


async def ask(edge: EdgeProcess, path: str, key: str) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(f"{edge.url}{path}", headers={"Authorization": key})


async def until_it_has_flags(edge: EdgeProcess, key: str) -> None:
    """Wait until an Edge has fetched the flags of a key. It reports that it is ready before that."""

    async def has() -> bool:
        answer = await ask(edge, FEATURES, key)
        return answer.is_success and bool(answer.json()["features"])

    await until(has)


async def create_key(caller: RemoteCaller, shop: Shop, kind: str, environment: str = "production") -> Json:
    given = {"name": "Another", "environment": environment, "kind": kind}
    answer = await caller.post(f"/api/projects/{shop.environment.project_id}/sdk-keys", json=given)
    assert answer.status_code == 201, answer.text
    created: Json = answer.json()
    return created


async def test_every_case_is_answered_as_the_specification_says(sqlite: Store, tmp_path: Path) -> None:
    documents: dict[str, tuple[Any, str]] = await store_cases(sqlite)
    keys = [key for _, key in documents.values()]
    count = 0
    async with (
        ServerProcess(sqlite) as server,
        EdgeProcess(server.url, tmp_path, "strict", keys) as edge,
        Application("python", edge.url) as app,
    ):
        for name, (document, key) in documents.items():
            if document["flags"]:
                await until_it_has_flags(edge, key)
                assert await app.connect(key, name)
            questions = list(questions_of(document, "python")) if document["flags"] else []
            answers = await app.ask([(flag, context) for flag, context, _, _ in questions], name) if questions else []
            for theirs, (flag, context, ours, is_exact) in zip(answers, questions, strict=True):
                if theirs.enabled or is_exact:
                    assert theirs == ours, (name, flag, context)
            count += len(questions)
        assert count > 1_000


@pytest.mark.parametrize("way", [None, "refusing", "buffering"])
async def test_a_flag_that_is_killed_is_off_soon(sqlite: Store, shop: Shop, tmp_path: Path, way: str | None) -> None:
    async with running(sqlite, shop, tmp_path, way=way) as (server, _, app), signed_in(server) as caller:
        assert await app.connect(shop.key)
        assert await app.is_on(shop.flag.key)
        await toggle(caller, shop)
        await until_it_is(app, shop, on=False)


async def test_applications_keep_their_flags_while_the_server_restarts(
    sqlite: Store, shop: Shop, tmp_path: Path
) -> None:
    async with running(sqlite, shop, tmp_path) as (server, _, app):
        await server.stop()
        assert await app.connect(shop.key)
        assert await app.is_on(shop.flag.key)
        await server.start()
        async with signed_in(server) as caller:
            await toggle(caller, shop)
        await until_it_is(app, shop, on=False)


async def test_a_revoked_key_gives_nothing(sqlite: Store, shop: Shop, tmp_path: Path) -> None:
    async with running(sqlite, shop, tmp_path) as (server, edge, _), signed_in(server) as caller:
        path = f"/api/projects/{shop.environment.project_id}/sdk-keys"
        (key,) = (await caller.get(path)).json()
        assert (await caller.delete(f"{path}/{key['id']}")).is_success

        async def is_refused() -> bool:
            return (await ask(edge, FEATURES, shop.key)).status_code == 403

        await until(is_refused)


@each_mode
async def test_a_key_that_is_not_valid_is_refused(sqlite: Store, shop: Shop, tmp_path: Path, mode: str) -> None:
    async with running(sqlite, shop, tmp_path, mode) as (_, edge, _):
        for key in ("nobody", f"{shop.key}x", shop.key.replace(":production.", ":staging.")):
            assert (await ask(edge, FEATURES, key)).status_code == 403


@each_mode
async def test_another_key_of_the_environment_is_accepted(sqlite: Store, shop: Shop, tmp_path: Path, mode: str) -> None:
    async with running(sqlite, shop, tmp_path, mode) as (server, edge, app), signed_in(server) as caller:
        key = (await create_key(caller, shop, "server"))["key"]
        await until_it_has_flags(edge, key)
        assert await app.connect(key)
        assert await app.is_on(shop.flag.key)


async def test_a_browsers_key_gets_the_flags_that_are_on_and_no_rules(
    sqlite: Store, shop: Shop, tmp_path: Path
) -> None:
    async with running(sqlite, shop, tmp_path) as (server, edge, _), signed_in(server) as caller:
        key = (await create_key(caller, shop, "browser"))["key"]
        answer = await ask(edge, f"{FRONTEND}?userId=ada", key)
        assert [each["name"] for each in answer.json()["toggles"]] == [shop.flag.key]
        assert (await ask(edge, FEATURES, key)).status_code == 403


async def test_what_applications_count_behind_it_is_reported(sqlite: Store, shop: Shop, tmp_path: Path) -> None:
    async with running(sqlite, shop, tmp_path) as (server, _, app), signed_in(server) as caller:
        assert await app.connect(shop.key)

        async def is_reported() -> bool:
            await app.is_on(shop.flag.key)
            answer = await caller.get(f"{shop.path}/reports")
            return any(each["flag_key"] == shop.flag.key and each["yes"] >= 3 for each in answer.json()["flags"])

        await until(is_reported)
        assert '"path": "/unleash/api/client/metrics/bulk", "status": 202' in server.log
        assert '"path": "/unleash/edge/validate", "status": 200' in server.log
        assert shop.key not in server.log
