"""Entity tags: a client that already has an answer gets a 304."""

from collections.abc import Iterable

from starlette.types import Send

Headers = Iterable[tuple[bytes, bytes]]


def has_answer(headers: Headers, tag: str) -> bool:
    """Whether a request's `If-None-Match` has this tag, weak or not, as proxies make tags weak."""
    given = b",".join([value for name, value in headers if name == b"if-none-match"]) if headers else b""
    return bool(given) and f'"{tag}"' in {
        each.strip().removeprefix("W/") for each in given.decode("latin-1").split(",")
    }


async def send_tagged(body: bytes, tag: str, request_headers: Headers, send: Send, headers: Headers = ()) -> None:
    """Send an answer with its tag, or a 304 to a client that has it."""
    own = [(b"etag", b'"%b"' % tag.encode()), *headers]
    if has_answer(request_headers, tag):
        await send({"type": "http.response.start", "status": 304, "headers": own})
        await send({"type": "http.response.body", "body": b""})
    else:
        await send_json(body, send, own)


async def send_json(body: bytes, send: Send, headers: Headers = ()) -> None:
    """Send a 200."""
    own = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": 200, "headers": own})
    await send({"type": "http.response.body", "body": body})
