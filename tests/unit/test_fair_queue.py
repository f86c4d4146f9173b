"""The queue in which clients take turns: no turn is lost, and none is given to two clients."""

import asyncio

import pytest

from flagstaff.concurrency.claims import Priority
from flagstaff.concurrency.fair_queue import IN_A_ROW, FairQueue
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


async def test_beside_ten_clients_with_long_work_a_kill_gets_the_next_turn() -> None:
    queue = make_queue(64)
    granted: list[str] = []
    attacks = [asyncio.create_task(_repeat(queue, f"eve{each}", Priority.LONG, granted)) for each in range(10)]
    await _until(granted, 40)
    for _ in range(20):
        before = len(granted)
        await _work(queue, "ada", Priority.KILL, granted)
        assert granted.index("ada", before) - before <= 1, "only the turn that was under way comes before"
        await _until(granted, len(granted) + 3)
    await _end(attacks)


async def test_a_kill_does_not_wait_because_short_work_has_overtaken_long_work() -> None:
    queue = make_queue(64)
    granted: list[str] = []
    attacks = [asyncio.create_task(_repeat(queue, f"eve{each}", Priority.SHORT, granted)) for each in range(10)]
    attacks.append(asyncio.create_task(_repeat(queue, "mallory", Priority.LONG, granted)))
    for _ in range(30):
        await _until(granted, len(granted) + 5)
        before = len(granted)
        await _work(queue, "ada", Priority.KILL, granted)
        assert granted.index("ada", before) - before <= 1
    await _end(attacks)


async def test_clients_take_turns_within_a_class() -> None:
    queue = make_queue(64)
    granted: list[str] = []
    async with queue.take("nobody", Priority.KILL):
        names = [*["eve"] * 5, *["mallory"] * 5, "ada", "bob"]
        tasks = [asyncio.create_task(_work(queue, name, Priority.KILL, granted)) for name in names]
        await asyncio.sleep(0)
    await asyncio.gather(*tasks)
    assert granted[:4] == ["eve", "mallory", "ada", "bob"]
    assert granted[4:] == ["eve", "mallory"] * 4


async def test_no_class_starves_however_many_kills_and_short_requests_wait() -> None:
    queue = make_queue(64)
    granted: list[str] = []
    attacks = [asyncio.create_task(_repeat(queue, f"eve{each}", Priority.KILL, granted)) for each in range(5)]
    attacks += [asyncio.create_task(_repeat(queue, f"bob{each}", Priority.SHORT, granted)) for each in range(5)]
    await _until(granted, 20)
    before = len(granted)
    await _work(queue, "ada", Priority.LONG, granted)
    assert granted.index("ada", before) - before <= (IN_A_ROW + 1) * (IN_A_ROW + 1)
    before = len(granted)
    await _work(queue, "carol", Priority.SHORT, granted)
    # A turn in nine is of the short class or below, in which five others take turns with this one.
    assert granted.index("carol", before) - before <= (IN_A_ROW + 1) * 8
    await _end(attacks)


async def test_what_is_kept_for_kills_is_never_given_to_others() -> None:
    queue = FairQueue(at_once=4, waiting=64, waiting_of_one=64, too_many="Full.", too_many_of_one="", kept=(0, 1, 2))
    granted: list[str] = []
    hold = asyncio.Event()
    tasks = [asyncio.create_task(_work(queue, f"eve{at}", Priority.LONG, granted, hold)) for at in range(5)]
    tasks += [asyncio.create_task(_work(queue, f"bob{at}", Priority.SHORT, granted, hold)) for at in range(5)]
    await asyncio.sleep(0)
    assert granted == ["eve0", "eve1", "bob0"]
    await asyncio.wait_for(_work(queue, "ada", Priority.KILL, granted), 30)
    assert granted == ["eve0", "eve1", "bob0", "ada"]
    assert queue.waiting == {"kill": 0, "short": 4, "long": 3}
    hold.set()
    await asyncio.gather(*tasks)
    assert sorted(granted) == sorted(["ada", *(f"{name}{at}" for name in ("eve", "bob") for at in range(5))])


async def test_a_kill_that_is_cancelled_while_it_waits_or_with_its_turn_loses_none() -> None:
    queue = make_queue(64)
    granted: list[str] = []
    async with queue.take("eve", Priority.LONG):
        first, second = (asyncio.create_task(_work(queue, "ada", Priority.KILL, granted)) for _ in range(2))
        last = asyncio.create_task(_work(queue, "bob", Priority.LONG, granted))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
    second.cancel()  # it has been given the turn, but has not run yet
    await asyncio.wait_for(last, 30)
    assert granted == ["bob"]
    assert queue.waiting == {"kill": 0, "short": 0, "long": 0}


async def test_a_full_queue_refuses_long_work_for_a_kill_and_no_kill_for_long_work() -> None:
    queue = make_queue(2)
    granted: list[str] = []
    async with queue.take("eve", Priority.LONG):
        waiting = [asyncio.create_task(_work(queue, "eve", Priority.LONG, granted)) for _ in range(2)]
        await asyncio.sleep(0)
        kills = [asyncio.create_task(_work(queue, "ada", Priority.KILL, granted)) for _ in range(2)]
        await asyncio.sleep(0)
        with pytest.raises(Error) as refused:
            await _work(queue, "bob", Priority.LONG, granted)
    assert refused.value.code is Code.UNAVAILABLE
    await asyncio.gather(*kills)
    assert granted == ["ada", "ada"]
    for each in await asyncio.gather(*waiting, return_exceptions=True):
        assert isinstance(each, Error)


async def _work(
    queue: FairQueue, client: str, priority: Priority, granted: list[str], hold: asyncio.Event | None = None
) -> None:
    async with queue.take(client, priority):
        granted.append(client)
        if hold is not None:
            await hold.wait()
        for _ in range(3):
            await asyncio.sleep(0)


async def _repeat(queue: FairQueue, client: str, priority: Priority, granted: list[str]) -> None:
    while True:
        await _work(queue, client, priority, granted)


async def _until(granted: list[str], count: int) -> None:
    while len(granted) < count:
        await asyncio.sleep(0)


async def _end(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
