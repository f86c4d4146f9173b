"""The callers of evaluate and OFREP, counted by the fast path and by the route."""

from pathlib import Path

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.history.callers import Caller as Asking
from tests.support.api import Caller, Json
from tests.support.connections import BODY, Connection, Listener, request
from tests.support.sdk_keys import create_key

STAGING = BODY.replace(b"production", b"staging")


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: the storage tests use both databases."""
    return sqlite_template


@pytest.fixture
def environ() -> dict[str, str]:
    """No limits."""
    return {"FLAGSTAFF_EVALUATE_RATE_LIMIT": "off", "FLAGSTAFF_API_RATE_LIMIT": "off", "FLAGSTAFF_ACCESS_LOG": "off"}


@pytest.fixture
async def key(ada: Caller, project: Json) -> Json:
    """A server's key of `production`."""
    return await create_key(ada, project)


def agent(name: str) -> bytes:
    return b"User-Agent: " + name.encode()


def plain(sdk_key: bytes, name: str, body: bytes = BODY) -> bytes:
    """Return a plain request without an id, whose head the fast path recognises."""
    return request(sdk_key, body, agent(name)).replace(b"X-Request-ID: r1\r\n", b"")


async def statuses(connection: Connection, *requests: bytes) -> list[int]:
    found = []
    for each in requests:
        connection.feed(each)
        found.append((await connection.receive()).status)
    return found


async def counted(flagstaff: Flagstaff) -> dict[Asking, int]:
    return dict(await flagstaff.applications.caller_counts.take(1000))


async def test_each_request_of_a_connection_counts_once(
    flagstaff: Flagstaff, connection: Connection, key: Json
) -> None:
    sdk_key = key["key"].encode()
    for make in (plain, lambda *given: request(given[0], BODY, agent(given[1]))):
        assert await statuses(connection, *[make(sdk_key, "shop")] * 5) == [200] * 5
        ((caller, requests),) = (await counted(flagstaff)).items()
        assert requests == 5
        assert (str(caller.key_id), caller.protocol, caller.user_agent) == (key["id"], "evaluate", "shop")
        assert (str(caller.environment_id), caller.network) == (key_environment(flagstaff, key), "127.0.0.0/24")
        assert await statuses(connection, make(sdk_key, "shop")) == [200]
        assert list((await counted(flagstaff)).values()) == [1]  # the collected tally is not lost


async def test_another_user_agent_key_or_environment_is_another_caller_on_the_same_connection(
    flagstaff: Flagstaff, connection: Connection, ada: Caller, project: Json, key: Json
) -> None:
    other, own = await create_key(ada, project), project["sdk_key"].encode()
    first = key["key"].encode()
    made = [plain(first, "a"), plain(first, "b"), plain(other["key"].encode(), "a"), plain(own, "a")]
    made.append(plain(own, "a", STAGING))
    assert await statuses(connection, *made, *made, made[0]) == [200] * 11
    found = await counted(flagstaff)
    assert sorted(found.values()) == [2, 2, 2, 2, 3]
    assert {(each.key_id and str(each.key_id), each.user_agent) for each in found} == {
        (key["id"], "a"),
        (key["id"], "b"),
        (other["id"], "a"),
        (None, "a"),
    }


async def test_it_goes_on_when_a_flag_changes(
    flagstaff: Flagstaff, connection: Connection, ada: Caller, project: Json, key: Json
) -> None:
    sdk_key = key["key"].encode()
    assert await statuses(connection, plain(sdk_key, "a")) == [200]
    await ada.create_flag(await ada.get_environment(project))
    assert await statuses(connection, plain(sdk_key, "a")) == [200]
    assert list((await counted(flagstaff)).values()) == [2]


async def test_a_refused_request_counts_if_its_key_is_accepted(
    flagstaff: Flagstaff, connection: Connection, key: Json
) -> None:
    sdk_key = key["key"].encode()
    made = (plain(sdk_key, "a"), plain(sdk_key, "a", b"[1]"), plain(sdk_key, "a", STAGING), plain(b"none", "a"))
    assert await statuses(connection, *made) == [200, 400, 403, 401]
    assert list((await counted(flagstaff)).values()) == [3]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_EVALUATE_RATE_LIMIT": "2/minute", "FLAGSTAFF_ACCESS_LOG": "off"}])
async def test_what_is_beyond_a_limit_does_not_count(flagstaff: Flagstaff, connection: Connection, key: Json) -> None:
    assert await statuses(connection, *[plain(key["key"].encode(), "a")] * 4) == [200, 200, 429, 429]
    assert list((await counted(flagstaff)).values()) == [2]


@pytest.mark.parametrize("environ", [{"FLAGSTAFF_TRUSTED_PROXIES": "127.0.0.0/8", "FLAGSTAFF_ACCESS_LOG": "off"}])
async def test_behind_a_trusted_proxy_each_client_is_a_caller(
    flagstaff: Flagstaff, connection: Connection, key: Json
) -> None:
    for address in ("203.0.113.7", "2001:db8:1:2::3", "203.0.113.7"):
        forwarded = b"X-Forwarded-For: " + address.encode()
        connection.feed(request(key["key"].encode(), BODY, forwarded))
        assert (await connection.receive()).status == 200
    found = {each.network: requests for each, requests in (await counted(flagstaff)).items()}
    assert found == {"203.0.113.0/24": 2, "2001:db8:1::/48": 1}


async def test_ofrep_is_a_protocol_of_its_own(flagstaff: Flagstaff, server: Listener, key: Json) -> None:
    connection = await server.connect()
    ask = request(
        key["key"].encode(),
        b'{"context":{"targetingKey":"a"}}',
        agent("web"),
        b"Authorization: Bearer " + key["key"].encode(),
        line=b"POST /ofrep/v1/evaluate/flags HTTP/1.1",
    )
    assert await statuses(connection, *[ask] * 3) == [200] * 3
    ((caller, requests),) = (await counted(flagstaff)).items()
    assert (caller.protocol, caller.user_agent, requests) == ("ofrep", "web", 3)


def key_environment(flagstaff: Flagstaff, key: Json) -> str:
    """Return the id of the environment of a key that was used."""
    access = flagstaff.serving.sdk_keys.known[key["key"]]
    assert access.environment is not None
    return str(access.environment.environment_id)
