"""The queue in which clients take turns: no turn is lost, and none is given to two clients."""

import asyncio

import pytest

from flagstaff.concurrency.fair_queue import FairQueue
from flagstaff.values.errors import Code, Error


def make_queue(waiting: int) -> FairQueue:
    """Return a queue with one turn, in which this many may wait, even if all belong to one client."""
    return FairQueue(at_once=1, waiting=waiting, waiting_of_one=waiting, too_many="Full.", too_many_of_one="Enough.")


async def test_a_full_queue_has_room_for_a_client_whose_rival_has_just_left() -> None:
    queue = make_queue(3)

    async def work(client: str) -> str:
        async with queue.take(client):
            return client

    async with queue.take("ada"):
        eves = [asyncio.create_task(work("eve")) for _ in range(3)]
        await asyncio.sleep(0)
        bob = asyncio.create_task(work("bob"))
        eves[2].cancel()  # it has left, but its task learns of it only after bob has asked
        await asyncio.sleep(0)
    assert await asyncio.wait_for(bob, 30) == "bob"
    assert eves[2].cancelled()
    assert await asyncio.gather(*eves[:2]) == ["eve", "eve"]


async def test_a_request_that_is_refused_and_cancelled_at_once_frees_no_turn() -> None:
    queue = make_queue(3)
    running: list[str] = []

    async def work(client: str) -> None:
        async with queue.take(client):
            running.append(client)
            await asyncio.Event().wait()

    tasks = {name: asyncio.create_task(work(name[:-1])) for name in ("ada1", "eve1", "eve2", "eve3")}
    await asyncio.sleep(0)
    tasks["bob1"] = asyncio.create_task(work("bob"))
    asyncio.get_running_loop().call_soon(tasks["eve3"].cancel)  # before it has learned that bob took its place
    await asyncio.wait([tasks["eve3"]])

    assert running == ["ada"], "nobody has ended, so nobody else may run"
    for task in tasks.values():
        task.cancel()
    await asyncio.gather(*tasks.values(), return_exceptions=True)


async def test_a_request_that_is_cancelled_with_its_turn_passes_it_on() -> None:
    queue = make_queue(3)

    async def work(client: str) -> str:
        async with queue.take(client):
            return client

    async with queue.take("ada"):
        eve, bob = asyncio.create_task(work("eve")), asyncio.create_task(work("bob"))
        await asyncio.sleep(0)
    eve.cancel()  # it has been given a turn, but has not run yet
    assert await asyncio.wait_for(bob, 30) == "bob"


async def test_the_client_with_the_most_waiting_makes_room() -> None:
    queue = make_queue(2)

    async def work(client: str) -> None:
        async with queue.take(client):
            pass

    async with queue.take("ada"):
        tasks = [asyncio.create_task(work(client)) for client in ("eve", "eve", "bob")]
        with pytest.raises(Error) as refused:
            await asyncio.wait_for(tasks[1], 30)
    assert refused.value.code is Code.UNAVAILABLE
    await asyncio.gather(tasks[0], tasks[2])
