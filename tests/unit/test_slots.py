"""A request that waits for one slot does not hold a slot that others wait for."""

import asyncio
from contextlib import AsyncExitStack
from uuid import UUID, uuid4

import pytest

from flagstaff.concurrency.claims import Priority
from flagstaff.concurrency.slots import AT_ONCE, LONG_IN_ALL, WAITING, LongSlots, Slots, write_slots
from flagstaff.values.errors import Code, Error


async def test_a_request_that_gets_no_slot_in_time_is_refused_and_takes_none() -> None:
    slots, ada = Slots(1, wait_seconds=0.01), uuid4()
    async with slots.take(ada):
        with pytest.raises(Error) as refused:
            async with slots.take(ada):
                pass
    assert refused.value.code is Code.LIMITED
    assert refused.value.retry_after_seconds
    async with slots.take(ada):
        pass


async def test_more_than_so_many_of_one_account_are_refused() -> None:
    slots, ada, eve = Slots(1), uuid4(), uuid4()

    async def take() -> None:
        async with slots.take(ada):
            pass

    async with slots.take(ada):
        waiting = [asyncio.create_task(take()) for _ in range(WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(Error) as refused:
            await take()
        assert refused.value.code is Code.LIMITED
        async with slots.take(eve):
            pass
    await asyncio.gather(*waiting)


async def test_long_requests_of_accounts_that_read_slowly_keep_no_slot_of_all_accounts() -> None:
    reads = Slots()
    long = LongSlots(reads)
    async with AsyncExitStack() as slow, asyncio.TaskGroup() as group:
        waiting = []
        for account_id in (uuid4() for _ in range(LONG_IN_ALL)):
            for _ in range(AT_ONCE):
                await slow.enter_async_context(reads.take(account_id))
            waiting.append(group.create_task(_run(long, account_id)))
        await asyncio.sleep(0)
        assert await asyncio.wait_for(_run(long, uuid4()), 30)
        assert not any(task.done() for task in waiting)
        await slow.aclose()


async def test_a_response_that_is_received_slowly_keeps_no_slot_of_all_accounts() -> None:
    long = LongSlots(Slots())
    async with AsyncExitStack() as slow:
        for _ in range(LONG_IN_ALL):
            work_is_done = await slow.enter_async_context(long.take(uuid4()))
            work_is_done()
            work_is_done()
        async with AsyncExitStack() as working:
            for _ in range(LONG_IN_ALL):
                await working.enter_async_context(long.take(uuid4()))
            another = asyncio.create_task(_run(long, uuid4()))
            await asyncio.sleep(0)
            assert not another.done()
        assert await asyncio.wait_for(another, 30)


async def test_an_account_has_one_long_request_at_a_time_and_none_is_lost() -> None:
    long, ada = LongSlots(Slots()), uuid4()
    async with long.take(ada):
        others = [asyncio.create_task(_run(long, ada)) for _ in range(3)]
        await asyncio.sleep(0)
        others[0].cancel()
        await asyncio.wait([others[0]])
        assert not any(task.done() for task in others[1:])
    assert all(await asyncio.wait_for(asyncio.gather(*others[1:]), 30))


async def _run(long: LongSlots, account_id: UUID) -> bool:
    async with long.take(account_id):
        return True


async def test_an_account_has_one_long_write_at_a_time_and_three_of_each_other_class() -> None:
    slots, ada = write_slots(wait_seconds=0.01), uuid4()
    async with AsyncExitStack() as taken:
        for priority, most in ((Priority.LONG, 1), (Priority.SHORT, 3), (Priority.KILL, 3)):
            for _ in range(most):
                await taken.enter_async_context(slots[priority].take(ada))
            with pytest.raises(Error) as refused:
                await taken.enter_async_context(slots[priority].take(ada))
            assert refused.value.code is Code.LIMITED
