"""Bodies that do not arrive completely: whoever has no valid key gets a refusal, and cannot fill the memory."""

import asyncio
from pathlib import Path

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.concurrency.loop_turns import LoopClient, Rank
from flagstaff.http.connections.body_memory import OF_ONE_STRANGER, OF_STRANGERS, SHORT_BYTES, BodyMemory
from tests.support.api import Caller, Json
from tests.support.connections import Listener

PIECE = b"x" * 60_000
WITH_KEYS = {
    "/sdk/v1/evaluate": b"X-SDK-Key: unknown",
    "/sdk/v1/evaluate/a-flag": b"X-SDK-Key: unknown",
    "/sdk/v1/events": b"X-SDK-Key: unknown",
    "/ofrep/v1/evaluate/flags": b"Authorization: Bearer unknown",
    "/ofrep/v1/evaluate/flags/a-flag": b"X-API-Key: unknown",
    "/unleash/api/frontend": b"Authorization: unknown",
    "/unleash/api/frontend/client/metrics": b"Authorization: unknown",
    "/unleash/api/client/metrics": b"Authorization: unknown",
    "/unleash/api/client/register": b"Authorization: unknown",
    "/api/projects": b"Authorization: Bearer unknown",
}


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: what is tested does not reach the database."""
    return sqlite_template


def begin(path: str, header: bytes, length: int) -> bytes:
    """Return the head of a request with a body of this length."""
    lines = (b"POST %b HTTP/1.1" % path.encode(), b"Host: flags", header, b"Content-Length: %d" % length, b"", b"")
    return b"\r\n".join(lines)


@pytest.mark.parametrize("path", WITH_KEYS)
async def test_a_key_that_is_not_valid_is_refused_before_the_body_has_arrived(flagstaff: Flagstaff, path: str) -> None:
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener:
        connection = await listener.connect()
        await connection.send(begin(path, WITH_KEYS[path], 10_000) + b"{")
        answer = await connection.receive()
    assert answer.status == 401


async def test_the_bodies_of_strangers_have_a_bound_for_each_address_and_in_all(flagstaff: Flagstaff) -> None:
    memory = flagstaff.edge.connection_class.bodies
    assert memory is not None
    statuses = []
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener:
        connections = [await listener.connect() for _ in range(OF_ONE_STRANGER // len(PIECE) + 3)]
        for each in connections:
            each.feed(begin("/sdk/v1/events", b"Accept: */*", 256 * 1024 - 1) + PIECE)
            statuses.append(each.server.transport.is_closing())
        assert memory.refused == 3
        assert statuses == [False] * (len(connections) - 3) + [True] * 3
        refused = await connections[-1].receive()
        assert refused.status == 503
        assert refused.header("retry-after")
        for each in connections:
            await each.close()
        async with asyncio.timeout(10):
            while memory._of_all.total():
                await asyncio.sleep(0)
        assert not memory._of_one
        again = await listener.connect()
        again.feed(begin("/sdk/v1/events", b"Accept: */*", len(PIECE)) + PIECE)
        assert (await again.receive()).status in (400, 401)

    strangers = [LoopClient(Rank.STRANGER, f"192.0.2.{number}") for number in range(1, 10)]
    full = [memory.take(each, OF_ONE_STRANGER) for each in strangers]
    assert full == [True] * (OF_STRANGERS // OF_ONE_STRANGER) + [False]
    assert memory.take(LoopClient(Rank.KNOWN, "a key"), 1_000_000), "clients that are known have room of their own"


async def test_a_short_body_of_an_account_is_accepted_whatever_others_send(
    flagstaff: Flagstaff, ada: Caller, project: Json
) -> None:
    memory: BodyMemory | None = flagstaff.edge.connection_class.bodies
    assert memory is not None
    for number in range(9):
        memory.take(LoopClient(Rank.KNOWN, number), 64 * 1024 * 1024)
    head = begin(f"/api/projects/{project['id']}/segments", b"Authorization: Bearer %b" % str(ada.token).encode(), 2)
    async with Listener(flagstaff.edge.asgi, flagstaff.edge.connection_class) as listener:
        connection = await listener.connect()
        await connection.send(head + b"{}")
        assert (await connection.receive()).status == 400
        long = await listener.connect()
        await long.send(head.replace(b": 2\r\n", b": %d\r\n" % (SHORT_BYTES + 2)) + b"{" + b" " * SHORT_BYTES + b"}")
        assert (await long.receive()).status in (413, 503)
