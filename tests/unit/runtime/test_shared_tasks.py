"""Tasks that several callers wait for."""

import asyncio

from flagstaff.concurrency.shared_tasks import SharedTasks
from flagstaff.concurrency.supervisor import Supervisor


async def test_a_task_is_shared_only_while_it_runs() -> None:
    tasks: SharedTasks[str, int] = SharedTasks(Supervisor(), "work")
    may_end = asyncio.Event()

    async def work(result: int) -> int:
        await may_end.wait()
        assert tasks.find("one") is asyncio.current_task()
        return result

    assert tasks.find("one") is None
    first = tasks.begin("one", work(1))
    assert tasks.find("one") is first
    assert tasks.find("two") is None
    may_end.set()
    while not first.done():
        await asyncio.sleep(0)
    assert tasks.find("one") is None, "its callbacks have not run yet"
    second = tasks.begin("one", work(2))
    assert tasks.find("one") is second
    await asyncio.sleep(0)  # the callbacks of the first run, which must not forget the second
    assert (await first, await second) == (1, 2)
