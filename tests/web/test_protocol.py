"""The part of a request's head that reaches the application."""

from starlette.types import Receive, Scope, Send

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.serving.fast_path.fast_path import connection_class
from tests.support.connections import Listener


async def test_cookies_which_nothing_here_uses_are_not_passed_on(flagstaff: Flagstaff) -> None:
    seen: list[bytes] = []

    async def application(scope: Scope, _receive: Receive, send: Send) -> None:
        seen.extend(name for name, _ in scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    cookies = b'COOKIE: a="' + rb"\\" * 20_000 + b'"\r\nCookie: b=c\r\n'
    async with Listener(application, connection_class(flagstaff.edge.rejections, None)) as server:
        connection = await server.connect()
        await connection.send(b"GET /health HTTP/1.1\r\nHost: flags\r\n" + cookies + b"X-Other: 1\r\n\r\n")
        assert (await connection.receive()).status == 200
    assert seen == [b"host", b"x-other"]


async def test_an_unread_body_is_dropped_with_its_answer(flagstaff: Flagstaff) -> None:
    async def application(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 429, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body"})

    async with Listener(application, connection_class(flagstaff.edge.rejections, None)) as server:
        connection = await server.connect()
        await connection.send(b"POST /x HTTP/1.1\r\nHost: flags\r\nContent-Length: 50001\r\n\r\n" + b" " * 50_000)
        assert (await connection.receive()).status == 429
        assert len(connection.server.cycle.body) == 0
