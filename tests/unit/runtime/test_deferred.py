"""An application that is made after the start: requests wait for it."""

import asyncio
import threading

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.http.deferred import Deferred
from flagstaff.values.errors import Error


class Making:
    """Makes an application that notes the paths that it is asked for, once it may."""

    def __init__(self) -> None:
        self.times = 0
        self.may_end = threading.Event()
        self.asked: list[str] = []

    def __call__(self) -> ASGIApp:
        self.times += 1
        assert self.may_end.wait(5)

        async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
            self.asked.append(scope["path"])

        return app


async def receive() -> dict[str, object]:
    raise AssertionError


async def send(_message: object) -> None:
    raise AssertionError


async def test_every_request_is_told_that_the_application_cannot_be_made() -> None:
    def make() -> ASGIApp:
        raise ImportError

    deferred = Deferred(make)
    with pytest.raises(ImportError):
        await deferred.load()
    for _ in range(2):
        with pytest.raises(Error, match="cannot be loaded"):
            await deferred({"path": "/"}, receive, send)


async def test_a_request_that_is_given_up_does_not_end_the_making_for_the_others() -> None:
    making = Making()
    deferred = Deferred(making)
    given_up = asyncio.create_task(deferred({"path": "/given-up"}, receive, send))
    waits = asyncio.create_task(deferred({"path": "/waits"}, receive, send))
    await asyncio.sleep(0)

    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    making.may_end.set()
    await waits
    await deferred({"path": "/later"}, receive, send)

    assert (making.times, making.asked) == (1, ["/waits", "/later"])
