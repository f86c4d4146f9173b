"""Work that uses only a share of the event loop's time."""

import asyncio

import pytest

from flagstaff.concurrency.pacing import Share
from flagstaff.values.errors import Code, Error


async def test_more_pieces_than_may_wait_are_refused_and_the_others_get_their_turns() -> None:
    share, done = Share(waiting_max=2), asyncio.Event()

    async def work() -> None:
        async with share.turn():
            await done.wait()

    works = [asyncio.ensure_future(work()) for _ in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(Error) as refused:
        await work()
    assert refused.value.code is Code.UNAVAILABLE
    done.set()
    await asyncio.gather(*works)
    await work()


async def test_one_piece_runs_at_a_time_and_the_next_one_waits_for_as_long_as_it_took() -> None:
    now, running, began = 0.0, 0, list[float]()
    share = Share(waiting_max=9, clock=lambda: now)

    async def work() -> None:
        nonlocal now, running
        async with share.turn():
            running += 1
            began.append(now)
            await asyncio.sleep(0)
            assert running == 1
            now += 0.001
            running -= 1

    await asyncio.gather(work(), work(), work())
    assert began == [0.0, 0.001, 0.002], "the clock of this test stands still while they wait"
    assert share._free_at == pytest.approx(0.004)


async def test_short_pieces_are_done_at_once_up_to_a_millisecond_beyond_their_share() -> None:
    now = 0.0
    share = Share(waiting_max=9, clock=lambda: now)

    def work(seconds: float) -> None:
        nonlocal now
        with share.at_once():
            now += seconds

    rooms = []
    for _ in range(3):
        rooms.append(share.has_room())
        work(0.0006)
    assert rooms == [True, True, True], "each waits for its own time, and not for those before it"
    work(0.002)
    assert not share.has_room()
    now += 0.0011
    assert share.has_room()


async def test_nothing_is_done_at_once_while_a_longer_piece_has_its_turn() -> None:
    share = Share(waiting_max=9, clock=lambda: 0.0)
    assert share.has_room()
    async with share.turn():
        assert not share.has_room()
    assert share.has_room()


async def test_a_piece_whose_client_leaves_takes_nobody_s_turn() -> None:
    share = Share(waiting_max=9)

    async def work() -> None:
        async with share.turn():
            await asyncio.sleep(0)

    async with share.turn():
        left = asyncio.ensure_future(work())
        await asyncio.sleep(0)
        left.cancel()
        await asyncio.gather(left, return_exceptions=True)
    await asyncio.wait_for(work(), 10)
