"""Large bodies are read a few at a time."""

import asyncio

from starlette.types import Message, Scope

from flagstaff.http.bodies import LargeBodies


def scope_of(length: int | None) -> Scope:
    return {"type": "http", "headers": [] if length is None else [(b"content-length", b"%d" % length)]}


async def receive() -> Message:
    return {"type": "http.request", "body": b"x"}


async def test_so_many_large_bodies_are_in_memory_and_short_ones_pass_them() -> None:
    bodies = LargeBodies(at_once=2)
    inside: list[int | None] = []
    may_end = asyncio.Event()

    async def handle(length: int | None) -> None:
        async with bodies.reading(scope_of(length), receive):
            inside.append(length)
            await may_end.wait()

    async with asyncio.TaskGroup() as group:
        for length in (100_000, None, 200_000, 64 * 1024):
            group.create_task(handle(length))
        while len(inside) < 3:
            await asyncio.sleep(0)
        assert inside == [100_000, None, 64 * 1024]
        may_end.set()
    assert inside[-1] == 200_000
