"""Large bodies are read a few at a time, and those of one owner leave room for others."""

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
        async with bodies.reading(scope_of(length), receive, length):
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


async def test_slow_bodies_of_one_owner_leave_room_for_those_of_others() -> None:
    bodies = LargeBodies(at_once=4, of_one=2)
    inside: list[str] = []
    may_end = asyncio.Event()

    async def handle(owner: str) -> None:
        async with bodies.reading(scope_of(None), receive, owner):
            inside.append(owner)
            await may_end.wait()

    async with asyncio.TaskGroup() as group:
        for owner in ("slow", "slow", "slow", "slow", "other"):
            group.create_task(handle(owner))
        while "other" not in inside:
            await asyncio.sleep(0)
        assert inside == ["slow", "slow", "other"]
        may_end.set()
    assert inside == ["slow", "slow", "other", "slow", "slow"]
