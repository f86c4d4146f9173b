"""Compressed answers."""

import gzip
import json
from collections.abc import Sequence
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from flagstaff.http.compression import Compression
from tests.support.api import Caller, Json, environment_path, flag_path

SMALL, LARGE = b'{"a": 1}', json.dumps(list(range(20_000))).encode()
JSON = (b"content-type", b"application/json")


async def answer(
    body: bytes, *headers: tuple[bytes, bytes], accepted: Sequence[str] = ("gzip",), pieces: int = 1, **scope: str
) -> tuple[dict[str, str], bytes]:
    """Return the headers and the body that a client gets from an application that answers in pieces."""
    sent: list[Message] = []

    async def application(scope: Scope, receive: Receive, send: Send) -> None:
        length = (b"content-length", b"%d" % len(body))
        await send({"type": "http.response.start", "status": 200, "headers": [length, *headers]})
        size = -(-len(body) // pieces)
        for start in range(0, len(body), size):
            piece = body[start : start + size]
            await send({"type": "http.response.body", "body": piece, "more_body": start + size < len(body)})

    async def keep(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        raise AssertionError("the application reads nothing")

    accepting = [(b"accept-encoding", each.encode()) for each in accepted]
    request = {"type": "http", "method": "GET", "headers": accepting, **scope}
    await Compression(application)(request, receive, keep)
    received = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return received, b"".join(message["body"] for message in sent[1:])


@pytest.mark.parametrize("accepted", ["", "br", "identity", "gzip;q=0", "gzip" + ", gzip" * 100])
async def test_a_client_that_does_not_accept_it_gets_plain_text(accepted: str) -> None:
    headers, body = await answer(LARGE, JSON, accepted=[accepted])
    assert "content-encoding" not in headers
    assert body == LARGE


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (SMALL, [JSON]),
        (LARGE, [(b"content-type", b"image/png")]),
        (LARGE, [(b"content-type", b"text/event-stream")]),
        (LARGE, [JSON, (b"content-encoding", b"br")]),
    ],
    ids=["small", "an image", "events", "compressed already"],
)
async def test_what_would_not_get_smaller_stays_as_it_is(body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    received, sent = await answer(body, *headers)
    assert received.get("content-encoding") != "gzip"
    assert sent == body
    assert received["content-length"] == str(len(body))


@pytest.mark.parametrize("scope", [{"method": "HEAD"}, {"http_version": "1.0"}], ids=["HEAD", "HTTP/1.0"])
async def test_an_answer_that_needs_its_length_stays_as_it_is(scope: dict[str, Any]) -> None:
    received, _ = await answer(LARGE, JSON, **scope)
    assert "content-encoding" not in received
    assert received["content-length"] == str(len(LARGE))


@pytest.mark.parametrize("pieces", [1, 2, 7])
async def test_a_compressed_answer_is_the_same_text_with_its_own_length_and_a_weak_etag(pieces: int) -> None:
    received, sent = await answer(LARGE, JSON, (b"etag", b'"abc"'), pieces=pieces)
    assert received["content-encoding"] == "gzip"
    assert received["vary"] == "Accept-Encoding"
    assert received["etag"] == 'W/"abc"'
    assert received.get("content-length") == (str(len(sent)) if pieces == 1 else None)
    assert len(sent) < len(LARGE) / 2
    assert gzip.decompress(sent) == LARGE


@pytest.mark.parametrize("accepted", [["identity", "gzip"], ["gzip", "br"]])
async def test_a_client_may_accept_it_in_one_of_several_headers(accepted: list[str]) -> None:
    received, sent = await answer(LARGE, JSON, accepted=accepted)
    assert (received["content-encoding"], received["vary"]) == ("gzip", "Accept-Encoding")
    assert gzip.decompress(sent) == LARGE


async def test_a_list_of_flags_is_compressed_and_an_evaluation_is_not(
    ada: Caller, project: Json, environment: Json
) -> None:
    for number in range(8):
        await ada.create_flag(environment, key=f"flag-{number}")
    flags = await ada.get(f"{environment_path(environment)}/flags")
    assert flags.headers["content-encoding"] == "gzip"
    assert [each["key"] for each in flags.json()] == [f"flag-{number}" for number in reversed(range(8))]
    one = await ada.get(flag_path(flags.json()[0]))
    assert "content-encoding" not in one.headers
    evaluated = await ada.post(
        "/sdk/v1/evaluate", json={"environment": environment["key"]}, headers={"X-SDK-Key": project["sdk_key"]}
    )
    assert evaluated.status_code == 200
    assert "content-encoding" not in evaluated.headers
