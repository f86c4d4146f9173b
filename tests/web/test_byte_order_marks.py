"""A byte-order mark before the JSON of a body, which some clients send, is ignored everywhere."""

import codecs
import json

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.serving.fast_path.fast_path import connection_class
from tests.support.api import Caller, Json
from tests.support.connections import Client, Listener
from tests.support.sdk_keys import KeyMaker
from tests.web import test_unknown_input
from tests.web.test_matrix import Place
from tests.web.test_unknown_input import JSON, NO_LIMITS, managing, refuse, state_of

place = test_unknown_input.place
MARK = codecs.BOM_UTF8
UNKNOWN_FIELD = b'{"no_such_field": 1}'
EVALUATION = {"environment": "production"}
APPLICATIONS: dict[str, Json] = {
    "/sdk/v1/evaluate": EVALUATION,
    "/sdk/v1/evaluate/checkout": EVALUATION,
    "/sdk/v1/events": {**EVALUATION, "events": []},
    "/ofrep/v1/evaluate/flags": {"context": {"targetingKey": "ada"}},
    "/ofrep/v1/evaluate/flags/checkout": {"context": {}},
    "/unleash/api/frontend": {"context": {"userId": "ada"}},
    "/unleash/api/frontend/client/metrics": {"appName": "shop"},
    "/unleash/api/frontend/client/register": {"appName": "shop"},
    "/unleash/api/client/metrics": {"appName": "shop"},
    "/unleash/api/client/metrics/bulk": {"applications": [], "metrics": []},
    "/unleash/api/client/metrics/edge": {},
    "/unleash/api/client/register": {"appName": "shop"},
    "/unleash/edge/validate": {"tokens": []},
}


@pytest.mark.parametrize("environ", [NO_LIMITS])
async def test_no_operation_refuses_a_mark_and_none_takes_two(flagstaff: Flagstaff, place: Place) -> None:
    before = await state_of(flagstaff)
    for each in managing():
        plain, marked, twice = [
            await refuse(place, each, content=marks + UNKNOWN_FIELD, headers=JSON) for marks in (b"", MARK, MARK + MARK)
        ]
        assert plain == marked, each[1]
        assert "no_such_field" in marked, each[1]
        assert "no_such_field" not in twice, each[1]
    assert await state_of(flagstaff) == before


async def test_a_project_is_created_from_a_body_with_a_mark(ada: Caller) -> None:
    answer = await ada.post("/api/projects", content=MARK + b'{"name": "Shop"}', headers=JSON)
    assert (answer.status_code, answer.json()["name"]) == (201, "Shop")


@pytest.mark.parametrize("path", APPLICATIONS)
@pytest.mark.parametrize("has_fast_path", [True, False])
async def test_applications_may_send_a_mark_in_any_pieces(
    flagstaff: Flagstaff, ada: Caller, keys: KeyMaker, environment: Json, path: str, has_fast_path: bool
) -> None:
    await ada.create_flag(environment, key="checkout")
    key = await keys.create(environment)
    connections = flagstaff.edge.connection_class
    if not has_fast_path:
        connections = connection_class(flagstaff.edge.rejections, None)
    credential = f"Authorization: {key}" if path.startswith("/unleash/") else f"X-API-Key: {key}"
    start = f"POST {path} HTTP/1.1\r\nHost: flags\r\nX-SDK-Key: {key}\r\n{credential}\r\n"
    body = json.dumps(APPLICATIONS[path]).encode()
    async with Listener(flagstaff.edge.asgi, connections) as server, await Client.connect(server.port) as client:

        async def ask(*chunks: bytes) -> int:
            length, chunked = f"Content-Length: {len(chunks[0])}", "Transfer-Encoding: chunked"
            await client.send(f"{start}{length if len(chunks) == 1 else chunked}\r\n\r\n".encode())
            for each in chunks if len(chunks) == 1 else [b"%x\r\n%s\r\n" % (len(each), each) for each in chunks]:
                await client.send(each)
            if len(chunks) > 1:
                await client.send(b"0\r\n\r\n")
            return (await client.receive()).status

        expected = await ask(body)
        assert expected in (200, 202)
        assert await ask(MARK + body) == expected
        assert await ask(MARK[:1], MARK[1:], body) == expected
        assert await ask(MARK[:1], MARK[1:2], MARK[2:] + body[:1], body[1:]) == expected
        if body != b"{}":
            assert await ask(MARK + MARK + body) == await ask(MARK[:2], body) == 400
