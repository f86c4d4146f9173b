"""A server whose public URL has a path: everything is below it, and nothing is beside it."""

import io
import json
from collections.abc import AsyncIterator

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http.probes import IS_INTERNAL
from flagstaff.serving.fast_path.fast_path import connection_class
from tests.support.api import Caller, Json
from tests.support.connections import Answer, Listener, ask_as_written
from tests.support.sdk_keys import KeyMaker
from tests.web.conftest import ReadMails

PREFIX = "/tools/flags"
URL = f"https://example.com{PREFIX}"
GOT = ("/", "/sign-in", "/favicon.svg", "/health", "/ready", "/metrics", "/docs", "/docs/start.js", "/openapi.json")
POSTED = ("/sdk/v1/evaluate", "/sdk/v1/evaluate/checkout", "/sdk/v1/events", "/ofrep/v1/evaluate/flags", "/auth/login")
EVERY = [
    *(("GET", path) for path in GOT),
    ("GET", "/unleash/api/client/features"),
    *(("POST", path) for path in POSTED),
]


@pytest.fixture
def environ() -> dict[str, str]:
    return {"FLAGSTAFF_PUBLIC_URL": URL}


@pytest.fixture(params=["fast path", "route"])
async def server(request: pytest.FixtureRequest, flagstaff: Flagstaff) -> AsyncIterator[Listener]:
    route = connection_class(flagstaff.edge.rejections, None, path_prefix=PREFIX.encode())
    served = flagstaff.edge.connection_class if request.param == "fast path" else route
    async with Listener(flagstaff.edge.asgi, served) as listener:
        yield listener


@pytest.fixture
async def key(ada: Caller, keys: KeyMaker, environment: Json) -> str:
    await ada.create_flag(environment, key="checkout")
    return await keys.create(environment)


async def ask(server: Listener, method: str, path: str, key: str = "", **document: object) -> Answer:
    body = json.dumps(document).encode() if method == "POST" else b""
    return await ask_as_written(server.port, method, path, key=key, accept="text/html", body=body)


@pytest.fixture
async def ada(ada: Caller) -> Caller:
    """Ada, who calls the application, which has the prefix."""
    ada.base_url = ada.base_url.join(f"{PREFIX}/")
    return ada


@pytest.mark.parametrize(("method", "path"), EVERY)
async def test_a_path_is_found_below_the_prefix_and_nowhere_else(
    server: Listener, key: str, method: str, path: str
) -> None:
    document = {"environment": "production", "events": []} if "events" in path else {"environment": "production"}
    assert (await ask(server, method, f"{PREFIX}{path}", key, **document)).status in (200, 202, 400)
    for elsewhere in (
        path,
        f"{PREFIX}{PREFIX}{path}",
        f"{PREFIX}x{path}",
        f"/tools{path}",
        f"/TOOLS/flags{path}",
        f"//flags{path}",
        f"/tools/%66lags{path}",
        f"/tools%2Fflags{path}",
    ):
        answer = await ask(server, method, elsewhere, key, **document)
        if elsewhere == f"{PREFIX}{PREFIX}{path}" and answer.status == 200:
            assert b'<div id="root">' in answer.body  # the dashboard, which has a page that says that nothing is there
            continue
        assert answer.status == 404, elsewhere


async def test_the_refusal_says_what_is_missing(server: Listener) -> None:
    for path in ("/health", "/sdk/v1/evaluate", "/ofrep/v1/evaluate/flags", "/unleash/api/client/features", "/"):
        answer = await ask(server, "GET", path)
        assert (answer.status, answer.json()["detail"]) == (
            404,
            "There is nothing at this address. Paths of this server begin with /tools/flags/.",
        )


async def test_evaluations_below_the_prefix_are_answered_by_the_fast_path(
    server: Listener, key: str, log_stream: io.StringIO, request: pytest.FixtureRequest
) -> None:
    answer = await ask(server, "POST", f"{PREFIX}/sdk/v1/evaluate", key, environment="production")
    assert answer.json()["flags"]["checkout"] is not None
    assert answer.header("access-control-allow-origin") == "*"
    again = await ask(server, "POST", f"{PREFIX}//sdk//v1/evaluate", key, environment="production")
    assert again.json() == answer.json()
    assert "sdk" not in log_stream.getvalue()


async def test_a_page_of_another_origin_can_read_that_an_address_is_too_long(server: Listener) -> None:
    answer = await ask(server, "POST", f"{PREFIX}/ofrep/v1/evaluate/flags?{'x' * 9_000}")
    assert (answer.status, answer.header("access-control-allow-origin")) == (414, "*")


async def test_the_dashboards_page_names_its_files_and_the_prefix(server: Listener) -> None:
    for path in ("", "/", "/projects/1/environments/2"):
        page = await ask(server, "GET", f"{PREFIX}{path}")
        assert page.status == 200
        text = page.body.decode()
        assert f'<meta name="flagstaff-path-prefix" content="{PREFIX}"' in text
        assert f'src="{PREFIX}/scheme.js"' in text
        assert f'src="{PREFIX}/assets/' in text
        assert '="/assets' not in text
        assert '="./' not in text


async def test_the_documentation_is_complete_below_the_prefix(server: Listener) -> None:
    page = (await ask(server, "GET", f"{PREFIX}/docs")).body.decode()
    assert 'src="docs/start.js"' in page
    assert 'url: "openapi.json"' in (await ask(server, "GET", f"{PREFIX}/docs/start.js")).body.decode()
    for path in ("/openapi.json", "/openapi/ofrep.json"):
        assert (await ask(server, "GET", f"{PREFIX}{path}")).json()["servers"] == [{"url": PREFIX}]


async def test_an_offered_stream_is_below_the_prefix(server: Listener, key: str) -> None:
    answer = await ask(server, "POST", f"{PREFIX}/ofrep/v1/evaluate/flags?stream=sse", key)
    (stream,) = answer.json()["eventStreams"]
    assert stream["endpoint"]["requestUri"].startswith(f"{PREFIX}/ofrep/v1/streams?token=")


async def test_links_in_mails_have_the_prefix(ada: Caller, read_mails: ReadMails) -> None:
    await ada.post("/auth/forgot-password", json={"email": ada.account["email"]})
    texts = [str(part) for mail in await read_mails() for part in mail.walk()]
    assert any(f"{URL}/reset-password?token" in text for text in texts)
    assert not any("https://example.com/reset-password" in text for text in texts)


async def test_a_link_that_ends_mails_leads_to_its_page(ada: Caller) -> None:
    answer = await ada.get("/auth/unsubscribe?token=x")
    assert answer.url.join(answer.headers["location"]).path == f"{PREFIX}/unsubscribe"


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_PUBLIC_URL": URL, "FLAGSTAFF_INTERNAL_PORT": "8001"}])
async def test_the_internal_port_has_no_prefix(flagstaff: Flagstaff) -> None:
    served = flagstaff.edge.internal_connection_class
    async with Listener(flagstaff.edge.asgi, served, {IS_INTERNAL: True}) as server:
        assert (await ask(server, "GET", "/health")).status == 200
        assert (await ask(server, "GET", f"{PREFIX}/health")).status == 404
