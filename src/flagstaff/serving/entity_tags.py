"""Entity tags: a client that already has an answer gets a 304."""

from collections.abc import Iterable

from starlette.types import Send

from flagstaff.concurrency.pacing import pause

Header = tuple[bytes, bytes]
Headers = Iterable[Header]


def given_tags(headers: Headers) -> set[str]:
    """The tags in a request's `If-None-Match`, without quotes, weak or not, as proxies make tags weak."""
    given = b",".join([value for name, value in headers if name == b"if-none-match"])
    if not given:
        return set()
    found = [each.strip().removeprefix("W/") for each in given.decode("latin-1").split(",")]
    return {each[1:-1] for each in found if each[:1] == each[-1:] == '"'}


def has_answer(headers: Headers, tag: str) -> bool:
    """Return whether a request's `If-None-Match` has this tag."""
    return tag in given_tags(headers)


async def send_tagged(
    body: bytes, tag: str, request_headers: Headers, send: Send, headers: Headers = (), *, is_weak: bool = False
) -> None:
    """Send an answer with its tag, or a 304 to a client that has it. A weak tag leaves out some bytes of the answer."""
    if has_answer(request_headers, tag):
        await send_unchanged(tag, send, headers, is_weak=is_weak)
    else:
        await send_json(body, send, [tag_header(tag, is_weak=is_weak), *headers])


async def send_chunks(chunks: Iterable[bytes], length: int, send: Send, headers: Headers = ()) -> None:
    """Send a 200 whose JSON has this length in chunks, each when the client has taken enough of those before it."""
    own = [(b"content-type", b"application/json"), (b"content-length", b"%d" % length), *headers]
    await send({"type": "http.response.start", "status": 200, "headers": own})
    for chunk in chunks:
        length -= len(chunk)
        await send({"type": "http.response.body", "body": chunk, "more_body": length > 0})
        if length > 0:
            await pause()


async def send_unchanged(tag: str, send: Send, headers: Headers = (), *, is_weak: bool = False) -> None:
    """Send a 304."""
    own = tag_header(tag, is_weak=is_weak)
    await send({"type": "http.response.start", "status": 304, "headers": [own, *headers]})
    await send({"type": "http.response.body", "body": b""})


def tag_header(tag: str, *, is_weak: bool = False) -> tuple[bytes, bytes]:
    """The header with the tag of an answer."""
    return (b"etag", (b'W/"%b"' if is_weak else b'"%b"') % tag.encode())


async def send_json(body: bytes, send: Send, headers: Headers = ()) -> None:
    """Send a 200."""
    own = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": 200, "headers": own})
    await send({"type": "http.response.body", "body": body})


async def send_accepted(body: bytes, send: Send, headers: Headers = ()) -> None:
    """Send a 202."""
    own = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": 202, "headers": own})
    await send({"type": "http.response.body", "body": body})
