"""Addresses that are spelled otherwise than a proxy's rule expects name nothing: each resource has one spelling."""

import json
from collections.abc import AsyncIterator
from contextlib import nullcontext

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.http.addresses import require_plain
from flagstaff.http.dashboard.pages import DIRECTORY
from flagstaff.values.errors import Error
from tests.support.api import Caller, Json
from tests.support.connections import Answer, Listener, ask_as_written
from tests.support.sdk_keys import KeyMaker

UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
REFUSED = {*UNRESERVED, *range(0x20), 0x7F, ord("/")}

PATHS = {
    "GET": (
        "/metrics",
        "/health",
        "/ready",
        "/docs",
        "/docs/start.js",
        "/openapi.json",
        "/openapi/ofrep.json",
        "/",
        "/favicon.svg",
        "/scheme.js",
        "/api/me",
        "/api/projects",
        "/auth/sso",
        "/ofrep/v1/streams",
        "/unleash/api/client/features",
        "/unleash/api/frontend",
    ),
    "POST": (
        "/sdk/v1/evaluate",
        "/sdk/v1/evaluate/checkout",
        "/sdk/v1/events",
        "/ofrep/v1/evaluate/flags",
        "/ofrep/v1/evaluate/flags/checkout",
        "/unleash/api/frontend",
        "/auth/login",
        "/auth/register",
    ),
}
EVERY = [(method, path) for method, paths in PATHS.items() for path in paths]


@pytest.fixture
async def server(flagstaff: Flagstaff) -> AsyncIterator[Listener]:
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener:
        yield listener


@pytest.fixture
async def key(ada: Caller, keys: KeyMaker, environment: Json) -> str:
    await ada.create_flag(environment, key="checkout")
    return await keys.create(environment)


async def ask(server: Listener, method: str, path: str, key: str, accept: str = "*/*") -> Answer:
    body = json.dumps({"environment": "production"}).encode()
    return await ask_as_written(server.port, method, path, key=key, accept=accept, body=body)


def respelled(path: str) -> list[str]:
    """The path with one character in another spelling, for the first, a middle and the last one, and all of them."""
    ends = [f"{path}%0A", f"{path}%00"]
    if path == "/":
        return ends
    places = {1, len(path) // 2, len(path) - 1, path.find("/", 1)} - {-1}
    one = [f"{path[:place]}%{ord(path[place]):02X}{path[place + 1 :]}" for place in sorted(places)]
    return [*one, "/" + "".join(f"%{ord(each):02x}" for each in path[1:]), *ends]


@pytest.mark.parametrize(("method", "path"), EVERY)
async def test_another_spelling_of_a_path_is_not_found(server: Listener, key: str, method: str, path: str) -> None:
    plain = await ask(server, method, path, key)
    assert plain.status != 404
    for spelled in respelled(path):
        for accept in ("*/*", "text/html"):
            answer = await ask(server, method, spelled, key, accept)
            assert answer.status == 404, spelled
            assert "%" in answer.json()["detail"]


async def test_another_spelling_of_a_file_is_not_found(server: Listener) -> None:
    files = sorted((DIRECTORY / "assets").glob("*.js"))
    assert files
    path = f"/assets/{files[0].name}"
    assert (await ask(server, "GET", path, "")).status == 200
    for spelled in (f"/%61{path[2:]}", path.replace(".js", "%2Ejs"), path.replace("ts/", "ts%2F"), f"{path}%0a"):
        assert (await ask(server, "GET", spelled, "")).status == 404


async def test_a_fragment_which_a_proxys_rule_may_see_is_refused(server: Listener) -> None:
    for path in ("/metrics#", "/metrics#x", "/metrics?x#y", "/#/metrics"):
        answer = await ask(server, "GET", path, "")
        assert answer.status == 400
        assert "#" in answer.json()["detail"]


async def test_the_refusal_says_what_to_write(server: Listener, key: str) -> None:
    answer = await ask(server, "POST", "/sdk/v1/evaluate/new%2Dcheckout", key)
    assert answer.status == 404
    assert answer.json()["detail"] == "There is nothing at this address. Write - instead of %2D in its path."
    assert answer.header("access-control-allow-origin") == "*"
    answer = await ask(server, "POST", "/ofrep/v1/evaluate/flags/a%2fb", key)
    assert answer.json()["errorDetails"] == "There is nothing at this address. Its path cannot have %2F."


def test_only_characters_that_need_it_are_spelled_with_a_percent_sign() -> None:
    for byte in range(256):
        for spelled in (f"%{byte:02x}", f"%{byte:02X}"):
            with pytest.raises(Error, match=spelled.upper()) if byte in REFUSED else nullcontext():
                require_plain(f"/a{spelled}b".encode())
    for plain in (b"/", b"/a-b._~/c", b"/%", b"/%6", b"/%zz", b"/%256D", b"/%C3%A9%20"):
        require_plain(plain)
