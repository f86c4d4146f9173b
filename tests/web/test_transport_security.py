"""`Strict-Transport-Security`: browsers use only https for a server whose public URL is https."""

from collections.abc import AsyncIterator

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.serving.fast_path.fast_path import connection_class
from tests.support.api import Json
from tests.support.connections import Client, Listener, request
from tests.support.sdk_keys import KeyMaker

HEADER = "strict-transport-security"
YEAR = "max-age=31536000"
SENT = {
    "an evaluation": request,
    "a refused evaluation": lambda _: request(b"sdk_wrong"),
    "a probe": lambda _: b"GET /health HTTP/1.1\r\nHost: flags\r\n\r\n",
    "the dashboard": lambda _: b"GET / HTTP/1.1\r\nHost: flags\r\nAccept: text/html\r\n\r\n",
    "the API": lambda _: b"GET /api/projects HTTP/1.1\r\nHost: flags\r\n\r\n",
    "no valid HTTP": lambda _: b"\x16\x03\x01\x02\x00\x01\x00\x01",
}


@pytest.fixture(params=["fast path", "route"])
async def server(request: pytest.FixtureRequest, flagstaff: Flagstaff) -> AsyncIterator[Listener]:
    route = connection_class(flagstaff.edge.rejections, None)
    served = flagstaff.edge.connection_class if request.param == "fast path" else route
    async with Listener(flagstaff.edge.asgi, served) as listener:
        yield listener


@pytest.fixture
async def key(keys: KeyMaker, environment: Json) -> bytes:
    return (await keys.create(environment)).encode()


async def answers(server: Listener, key: bytes) -> dict[str, str | None]:
    found = {}
    for case, make in SENT.items():
        async with await Client.connect(server.port) as client:
            await client.send(make(key))
            found[case] = (await client.receive()).header(HEADER)
    return found


async def test_a_server_that_people_reach_without_tls_does_not_ask_for_it(server: Listener, key: bytes) -> None:
    assert await answers(server, key) == dict.fromkeys(SENT)


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_PUBLIC_URL": "https://flags.example.com"}])
async def test_every_response_of_a_server_with_tls_asks_browsers_for_it(server: Listener, key: bytes) -> None:
    assert await answers(server, key) == dict.fromkeys(SENT, YEAR)
