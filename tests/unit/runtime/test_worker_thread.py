"""The thread for long work: the event loop goes on, callers take turns, and nobody works for those who have left."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from threading import Event, get_ident
from time import sleep
from typing import Any

import pytest

from flagstaff.concurrency.pacing import until
from flagstaff.concurrency.worker import (
    TURN_SECONDS,
    exhaust,
    in_change_worker,
    in_worker,
    in_write_worker,
    joined_in_worker,
)

Run = Callable[..., Awaitable[Any]]


async def test_an_error_is_raised_where_the_result_is_awaited() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_worker(divmod, 1, 0)


async def test_the_work_of_a_caller_that_left_before_it_began_is_not_done() -> None:
    done: list[str] = []
    go_on = Event()
    first = asyncio.ensure_future(in_worker(go_on.wait))
    second = asyncio.ensure_future(in_worker(done.append, "second"))
    third = asyncio.ensure_future(in_worker(done.append, "third"))
    await asyncio.sleep(0)
    second.cancel()
    await asyncio.wait([second])
    go_on.set()
    await asyncio.wait([first, third])
    assert done == ["third"]


async def test_work_ends_before_its_next_turn_when_nobody_waits_for_it() -> None:
    done: list[int] = []
    with until(lambda: len(done) == 2):
        for number in range(5):
            await in_worker(done.append, number)
    assert done == [0, 1]


async def test_the_event_loop_goes_on_meanwhile() -> None:
    seen, looked = Event(), Event()

    def work() -> int:
        seen.set()
        while not looked.is_set():  # keeps the interpreter until the event loop takes it
            pass
        return get_ident()

    working = asyncio.ensure_future(in_worker(work))
    while not seen.is_set():
        await asyncio.sleep(0)
    looked.set()
    assert await working != get_ident()


async def test_long_responses_are_made_in_turns() -> None:
    order: list[str] = []

    def pieces(name: str) -> Iterator[bytes]:
        for _ in range(3):
            order.append(name)
            yield b"1234"

    async def join(name: str) -> list[bytes]:
        return [part async for part in joined_in_worker(pieces(name), 4)]

    found = await asyncio.gather(join("a"), join("b"))
    assert order == ["a", "b"] * 3
    assert [b"".join(each) for each in found] == [b"1234" * 3] * 2


@pytest.mark.parametrize("run", [in_write_worker, in_change_worker])
async def test_what_a_change_waits_for_does_not_wait_for_other_work(run: Run) -> None:
    go_on = Event()
    working = asyncio.ensure_future(in_worker(go_on.wait))
    try:
        async with asyncio.timeout(10):
            assert await run(int, "7") == 7
    finally:
        go_on.set()
        await working


async def test_steps_are_taken_in_turns_until_none_is_left() -> None:
    order: list[str] = []

    def steps(name: str) -> Iterator[None]:
        for _ in range(3):
            order.append(name)
            sleep(TURN_SECONDS)  # a step that takes a whole turn
            yield

    await asyncio.gather(exhaust(in_worker, steps("first")), exhaust(in_worker, steps("second")))
    assert order == ["first", "second"] * 3
