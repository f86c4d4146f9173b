"""Doubled slashes in the paths of applications, whose clients append a path to an address that ends in a slash."""

import io
import json
from collections.abc import AsyncIterator

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http.connections.request_head import merge_slashes
from tests.support.api import Json
from tests.support.connections import Answer, Client, Listener
from tests.support.sdk_keys import KeyMaker

APPLICATIONS = (
    ("POST", "/sdk/v1/evaluate"),
    ("POST", "/sdk/v1/evaluate/checkout"),
    ("POST", "/sdk/v1/events"),
    ("POST", "/ofrep/v1/evaluate/flags"),
    ("POST", "/ofrep/v1/evaluate/flags?stream=sse"),
    ("POST", "/ofrep/v1/evaluate/flags/checkout"),
    ("GET", "/unleash/api/frontend?userId=ada//"),
    ("POST", "/unleash/api/frontend/client/metrics"),
    ("GET", "/unleash/api/client/features"),
    ("POST", "/unleash/api/client/metrics"),
    ("POST", "/unleash/edge/validate"),
)
OTHERS = ("/metrics", "/health", "/api/projects", "/auth/login", "/openapi.json", "/docs")
BODIES: dict[str, Json] = {
    "/sdk/v1/evaluate": {"environment": "production"},
    "/sdk/v1/events": {"environment": "production", "events": []},
    "/unleash/api": {"appName": "shop"},
    "/unleash/edge": {"tokens": []},
}


@pytest.fixture
async def server(flagstaff: Flagstaff) -> AsyncIterator[Listener]:
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener:
        yield listener


@pytest.fixture
async def key(keys: KeyMaker, environment: Json) -> str:
    return await keys.create(environment)


async def ask(server: Listener, method: str, url: str, key: str = "", document: Json | None = None) -> Answer:
    body = json.dumps(document or {}).encode()
    lines = (
        f"{method} {url} HTTP/1.1",
        "Host: flags",
        f"X-SDK-Key: {key}",
        f"Authorization: {key}" if "/unleash/" in url.replace("//", "/") else f"X-API-Key: {key}",
        f"Content-Length: {len(body)}",
        "",
        "",
    )
    async with await Client.connect(server.port) as client:
        await client.send("\r\n".join(lines).encode() + body)
        return await client.receive()


@pytest.mark.parametrize("path", OTHERS)
async def test_other_paths_have_one_form(server: Listener, path: str) -> None:
    once = await ask(server, "GET", path)
    for doubled in (f"/{path}", path.replace("/", "//"), f"//sdk/../{path[1:]}"):
        answer = await ask(server, "GET", doubled)
        assert answer.status in (404, 405), doubled
        assert answer.body != once.body


@pytest.mark.parametrize(("method", "url"), APPLICATIONS)
async def test_doubled_slashes_reach_what_one_slash_reaches(server: Listener, key: str, method: str, url: str) -> None:
    path, question, query = url.partition("?")
    document = next((body for start, body in BODIES.items() if path.startswith(start)), {})
    once = await ask(server, method, url, key, document)
    assert once.status not in (401, 405)
    for doubled in (f"/{path}", path.replace("/", "///"), path.replace("/v1/", "//v1/").replace("/api/", "/api//")):
        answer = await ask(server, method, f"{doubled}{question}{query}", key, document)
        assert answer.status == once.status, doubled
        assert answer.header("access-control-allow-origin") == "*"
        assert sorted(name for name, _ in answer.headers) == sorted(name for name, _ in once.headers)


async def test_a_query_keeps_its_slashes_and_the_log_has_one_path(
    server: Listener, key: str, log_stream: io.StringIO
) -> None:
    answer = await ask(server, "GET", "//unleash/api//client/features?namePrefix=a//b", key)
    assert answer.status == 200
    (entry,) = [each for each in map(json.loads, log_stream.getvalue().splitlines()) if each["event"] == "request"]
    assert entry["path"] == "/unleash/api/client/features"
    assert merge_slashes(b"//unleash/api?namePrefix=a//b") == b"/unleash/api?namePrefix=a//b"
