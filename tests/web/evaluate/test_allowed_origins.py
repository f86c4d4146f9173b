"""Browser keys with a list of origins, in every protocol, by the fast path and by the route."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx
import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json
from tests.support.connections import Listener
from tests.support.releases import create_metric, list_stored, until_stored
from tests.support.sdk_keys import create_key, keys_path

SHOP, EVIL = "https://shop.example.com", "https://evil.example"
EVALUATION, EVENTS = {"environment": "production"}, {"environment": "production", "events": []}
REFUSAL = (
    "This SDK key is not for pages at the origin {}. Add it to the key's allowed origins, in the dashboard under SDK "
    "keys, or use a key that allows it."
)
OF_NO_ORIGIN = "This SDK key has a list of allowed origins, and this page hides its origin or has none (Origin: null), "


@dataclass(frozen=True)
class Protocol:
    """What a page sends with a key in `header`, or else in the body, and the status of what is accepted."""

    method: str
    path: str
    header: str | None
    body: Json | None = None
    status: int = 200

    async def ask(self, client: Caller, key: str, origin: str | None) -> httpx.Response:
        headers = {} if origin is None else {"origin": origin}
        body = self.body
        if self.header is None:
            body = {**(body or {}), "sdk_key": key}
        else:
            headers[self.header] = f"Bearer {key}" if self.header == "authorization" else key
        content = None if body is None else json.dumps(body)
        return await client.request(self.method, self.path, headers=headers, content=content)


PROTOCOLS = {
    "evaluate": Protocol("POST", "/sdk/v1/evaluate", "x-sdk-key", EVALUATION),
    "evaluate one": Protocol("POST", "/sdk/v1/evaluate/new-checkout", "x-sdk-key", EVALUATION),
    "events": Protocol("POST", "/sdk/v1/events", "x-sdk-key", EVENTS, 202),
    "beacon": Protocol("POST", "/sdk/v1/events", None, EVENTS, 202),
    "ofrep": Protocol("POST", "/ofrep/v1/evaluate/flags", "authorization", {}),
    "ofrep with its other header": Protocol("POST", "/ofrep/v1/evaluate/flags", "x-api-key", {}),
    "ofrep with a stream": Protocol("POST", "/ofrep/v1/evaluate/flags?stream=sse", "x-api-key", {}),
    "ofrep one": Protocol("POST", "/ofrep/v1/evaluate/flags/new-checkout", "authorization", {}),
    "frontend": Protocol("GET", "/unleash/api/frontend?userId=ada", "authorization"),
    "frontend by POST": Protocol("POST", "/unleash/api/frontend", "authorization", {}),
    "frontend's counts": Protocol("POST", "/unleash/api/frontend/client/metrics", "authorization", {"appName": "shop"}),
    "frontend's start": Protocol("POST", "/unleash/api/frontend/client/register", "authorization", {"appName": "shop"}),
}


@pytest.fixture
def environ() -> dict[str, str]:
    """No limits, except in tests about them."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
async def project(ada: Caller) -> Json:
    """A project with a flag of `production`."""
    made = await ada.create_project()
    await ada.create_flag(await ada.get_environment(made))
    return made


async def set_origins(ada: Caller, project: Json, key: Json, *origins: str) -> None:
    path = f"{keys_path(project)}/{key['id']}"
    assert (await ada.put(path, json={"allowed_origins": origins})).status_code == 200


@pytest.mark.both_databases
@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
async def test_a_page_elsewhere_is_refused_and_may_read_why_until_the_list_allows_it(
    client: Caller, ada: Caller, project: Json, protocol: Protocol
) -> None:
    key = await create_key(ada, project, kind="browser", allowed_origins=[SHOP, "http://localhost:5173"])
    text = key["key"]
    for origin in (EVIL, "null", f"{SHOP}:8443", f"{SHOP}.evil.example", SHOP.upper(), "", f"{SHOP}, {EVIL}"):
        refused = await protocol.ask(client, text, origin)
        assert refused.status_code == 403, origin
        assert refused.headers["access-control-allow-origin"] == "*"
        assert (OF_NO_ORIGIN if origin == "null" else REFUSAL.format(origin)) in refused.text, origin
    for accepted in (SHOP, "http://localhost:5173", None):
        assert (await protocol.ask(client, text, accepted)).status_code == protocol.status, accepted
    await set_origins(ada, project, key, "https://*.example.com")
    assert (await protocol.ask(client, text, SHOP)).status_code == protocol.status
    await set_origins(ada, project, key, EVIL)
    assert [(await protocol.ask(client, text, each)).status_code for each in (SHOP, EVIL)] == [403, protocol.status]
    await set_origins(ada, project, key)
    for origin in (SHOP, EVIL, "null"):
        assert (await protocol.ask(client, text, origin)).status_code == protocol.status


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
async def test_a_preflight_is_answered_as_for_any_key(client: Caller, protocol: Protocol) -> None:
    asked = {"origin": EVIL, "access-control-request-method": protocol.method}
    assert (await client.options(protocol.path, headers=asked)).status_code == 204


async def test_a_key_that_is_refused_to_a_page_sends_nothing_on(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json
) -> None:
    await create_metric(ada, project)
    key = await create_key(ada, project, kind="browser", allowed_origins=[SHOP])
    event = {"metric": "errors", "user_id": "ada"}
    body = {"environment": "production", "events": [event], "sdk_key": key["key"]}
    for origin, status in ((EVIL, 403), (SHOP, 202)):
        answer = await client.post("/sdk/v1/events", content=json.dumps(body), headers={"origin": origin})
        assert answer.status_code == status
    await until_stored(flagstaff)
    assert len(await list_stored(flagstaff.database)) == 1


@pytest.mark.parametrize(
    "environ", [{"FLAGSTAFF_BROWSER_RATE_LIMIT": "2/hour", "FLAGSTAFF_EVALUATE_RATE_LIMIT": "2/hour"}]
)
@pytest.mark.parametrize("name", ["evaluate", "events", "ofrep", "frontend"])
async def test_refused_pages_count_against_the_limit_of_their_address(
    client: Caller, ada: Caller, project: Json, name: str
) -> None:
    key = await create_key(ada, project, kind="browser", allowed_origins=[SHOP])
    statuses = [(await PROTOCOLS[name].ask(client, key["key"], EVIL)).status_code for _ in range(3)]
    assert statuses == [403, 403, 429]


def raw(path: str, key: str, body: Mapping[str, object], *lines: bytes) -> bytes:
    content = json.dumps(body).encode()
    name = "X-API-Key" if path.startswith("/ofrep/") else "X-SDK-Key"
    head = (f"POST {path} HTTP/1.1", "Host: flags", f"{name}: {key}", f"Content-Length: {len(content)}")
    return b"\r\n".join((*(each.encode() for each in head), *lines, b"", content))


FAST: dict[str, tuple[str, Json, int]] = {
    "evaluate": ("/sdk/v1/evaluate", EVALUATION, 200),
    "events": ("/sdk/v1/events", EVENTS, 202),
    "ofrep": ("/ofrep/v1/evaluate/flags", {}, 200),
}


@pytest.mark.parametrize(("path", "body", "success"), FAST.values(), ids=FAST)
async def test_the_fast_path_answers_allowed_pages_and_leaves_others_to_the_route(
    flagstaff: Flagstaff, client: Caller, ada: Caller, project: Json, path: str, body: Json, success: int
) -> None:
    key = await create_key(ada, project, kind="browser", allowed_origins=[SHOP])
    for used in ("/sdk/v1/evaluate", "/ofrep/v1/evaluate/flags"):  # the key is known, and the flags are translated
        given = {"x-sdk-key": key["key"], "x-api-key": key["key"]}
        await client.post(used, json=EVALUATION if used.startswith("/sdk") else {}, headers=given)
    ask: Callable[..., bytes] = lambda *lines: raw(path, key["key"], body, *lines)  # noqa: E731
    allowed, refused = f"Origin: {SHOP}".encode(), f"oRiGiN: {EVIL}".encode()
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener:
        connection = await listener.connect()
        for data, status, by_route in (
            (ask(allowed), success, 0),
            (ask(), success, 0),
            (ask(refused), 403, 1),
            (ask(refused), 403, 1),
            (ask(b"Origin: null"), 403, 1),
            (ask(allowed, refused), 403, 1),
            (ask(allowed, allowed), 403, 1),
            (ask(allowed), success, 0),
        ):
            before = listener.requests_of_app
            connection.feed(data)
            assert (await connection.receive()).status == status, data
            assert listener.requests_of_app - before == by_route, data
        await set_origins(ada, project, key, EVIL)
        connection.feed(ask(allowed))
        assert (await connection.receive()).status == 403
        connection.feed(ask(refused))
        assert (await connection.receive()).status == success
