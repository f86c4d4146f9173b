"""The dashboard's page and files, as a browser requests them."""

import gzip
from pathlib import Path

import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send

from flagstaff.http.dashboard.pages import Dashboard
from tests.support.api import Caller

GZIP = gzip.compress(b"plain", mtime=0)
HTML = {"accept": "text/html,application/xhtml+xml"}


async def words(_scope: Scope) -> dict[str, str]:
    return {"FLAGSTAFF_REGISTRATION": "open", "FLAGSTAFF_DOCS": "here"}


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """The output of a build."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(
        '<script src="/assets/a-1.js" nonce="FLAGSTAFF_NONCE" data-x="FLAGSTAFF_REGISTRATION"></script>'
    )
    (tmp_path / "scheme.js").write_text("scheme")
    (tmp_path / "sources.sha256").write_text("stamp")
    for suffix, content in (("", b"plain"), (".br", b"brotli"), (".gz", GZIP)):
        (tmp_path / "assets" / f"a-1.js{suffix}").write_bytes(content)
    return tmp_path


async def not_found(_scope: Scope, _receive: Receive, send: Send) -> None:
    """The application that answers what the dashboard does not."""
    await send({"type": "http.response.start", "status": 404, "headers": []})
    await send({"type": "http.response.body", "body": b"not found"})


@pytest.fixture
def browser(built: Path) -> httpx.AsyncClient:
    """A client of the dashboard alone, which requests pages."""
    transport = httpx.ASGITransport(app=Dashboard(not_found, built, find_words=words))
    return httpx.AsyncClient(transport=transport, base_url="http://flagstaff.test", headers=HTML)


@pytest.mark.parametrize(
    "path", ["/api", "/api/nope", "/auth/nope", "/sdk/v1/nope", "/docs/nope", "/health/nope", "/assets/gone.js"]
)
async def test_foreign_and_deleted_resources_have_no_page(browser: httpx.AsyncClient, path: str) -> None:
    assert (await browser.get(path)).status_code == 404


async def test_requests_for_other_content_get_no_page(browser: httpx.AsyncClient) -> None:
    for accepted in ("*/*", "application/json", ""):
        assert (await browser.get("/projects/1", headers={"accept": accepted})).status_code == 404


async def test_a_page_is_only_read(browser: httpx.AsyncClient) -> None:
    for method in ("POST", "PUT", "DELETE"):
        assert (await browser.request(method, "/")).status_code == 404


@pytest.mark.parametrize("path", ["/index.html.br", "/sources.sha256", "/assets/a-1.js.br", "/../pyproject.toml"])
async def test_only_what_a_page_needs_is_served(browser: httpx.AsyncClient, path: str) -> None:
    answer = await browser.get(path, headers={"accept": "*/*"})
    assert answer.status_code == 404


@pytest.mark.parametrize("accepted", ["*/*", "application/json", ""])
async def test_the_root_is_the_page_for_everyone(browser: httpx.AsyncClient, accepted: str) -> None:
    answer = await browser.get("/", headers={"accept": accepted})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")


@pytest.mark.parametrize("path", ["/", "/sign-in", "/projects/1/environments/2/flags/3", "/documents", "/apiary"])
async def test_every_other_address_is_the_page_never_kept_and_always_policed(
    browser: httpx.AsyncClient, path: str
) -> None:
    answer = await browser.get(path)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-cache")
    policy = answer.headers["content-security-policy"]
    for part in ("default-src 'none'", "script-src 'self';", "frame-ancestors 'none'", "base-uri 'none'"):
        assert part in policy
    assert "unsafe" not in policy


async def test_the_nonce_is_the_policys_and_fresh_each_time(browser: httpx.AsyncClient) -> None:
    pages = [await browser.get("/") for _ in range(2)]
    nonces = [page.text.split('nonce="')[1].split('"')[0] for page in pages]
    assert nonces[0] != nonces[1]
    for page, nonce in zip(pages, nonces, strict=True):
        assert f"'nonce-{nonce}'" in page.headers["content-security-policy"]


async def ask(built: Path, method: str, *accepted: str) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body with which the dashboard answers a request for a file that is not small."""
    messages = []

    async def keep(message: Message) -> None:
        messages.append(message)

    scope: Scope = {"type": "http", "method": method, "path": "/assets/a-1.js", "asgi": {"spec_version": "2.4"}}
    scope["headers"] = [(b"accept-encoding", each.encode()) for each in accepted]
    await Dashboard(not_found, built, find_words=words)(scope, receive, keep)
    headers = {name.decode(): value.decode() for name, value in messages[0]["headers"]}
    return headers, b"".join(message["body"] for message in messages[1:])


@pytest.mark.parametrize(
    ("accepted", "body", "encoding"),
    [
        (["gzip, deflate, br"], b"brotli", "br"),
        (["gzip"], GZIP, "gzip"),
        (["br;q=0, gzip;q=0.5"], GZIP, "gzip"),
        (["identity", "gzip"], GZIP, "gzip"),
        (["identity"], b"plain", None),
        (["br" + ", br" * 200], b"plain", None),  # too long to be parsed
        ([], b"plain", None),
    ],
)
async def test_files_come_in_the_best_encoding_that_is_accepted(
    built: Path, accepted: list[str], body: bytes, encoding: str | None
) -> None:
    headers, sent = await ask(built, "GET", *accepted)
    assert sent == body
    assert headers["content-length"] == str(len(body))
    assert headers.get("content-encoding") == encoding
    assert headers["content-type"] == "text/javascript; charset=utf-8"
    assert headers["cache-control"] == "public, max-age=31536000, immutable"
    assert headers["vary"] == "Accept-Encoding"


async def test_head_gets_the_headers_of_a_file_that_is_not_decompressed_for_it(built: Path) -> None:
    expected, _ = await ask(built, "GET")
    assert await ask(built, "HEAD") == (expected, b"")


async def receive() -> dict[str, object]:
    """Receive nothing."""
    raise AssertionError


async def test_files_without_a_fingerprint_are_revalidated(browser: httpx.AsyncClient) -> None:
    assert (await browser.get("/scheme.js")).headers["cache-control"] == "no-cache"


async def test_without_a_build_the_page_says_how_to_make_one(tmp_path: Path) -> None:
    transport = httpx.ASGITransport(app=Dashboard(not_found, tmp_path, find_words=words))
    async with httpx.AsyncClient(transport=transport, base_url="http://flagstaff.test", headers=HTML) as client:
        answer = await client.get("/")
    assert answer.status_code == 503
    assert "make dashboard" in answer.text


async def test_in_the_whole_service_unknown_addresses_stay_problems(client: Caller) -> None:
    for path in ("/auth/nope", "/sdk/nope", "/docs/assets/nope.js", "/openapi.json/nope"):
        assert (await client.get(path, headers=HTML)).status_code == 404
    assert (await client.get("/nowhere")).status_code == 404
    assert (await client.get("/nowhere", headers=HTML)).headers["content-type"].startswith("text/html")


@pytest.mark.parametrize(
    ("environ", "registration", "docs"),
    [
        ({}, "open", "here"),
        ({"FLAGSTAFF_REGISTRATION": "closed"}, "closed", "here"),
        ({"FLAGSTAFF_INTERNAL_PORT": "8001"}, "open", "elsewhere"),
    ],
)
async def test_the_page_says_what_the_server_offers(client: Caller, registration: str, docs: str) -> None:
    page = (await client.get("/sign-in", headers=HTML)).text
    assert f'<meta name="flagstaff-registration" content="{registration}"' in page
    assert f'<meta name="flagstaff-docs" content="{docs}"' in page
    assert "FLAGSTAFF_" not in page
