"""Work after the response: it is finished by a stop, ended at the deadline, and its failure is only logged."""

import asyncio

from structlog.testing import capture_logs

from flagstaff.runtime.background import Background
from tests.support.errand import Errand


async def test_a_failure_is_logged_under_the_works_name_and_reaches_nobody() -> None:
    background = Background()

    async def fail() -> None:
        raise RuntimeError("out of luck")

    with capture_logs() as entries:
        background.start("mail", fail())
        await background.drain(5)
    assert [(entry["event"], entry["work"]) for entry in entries] == [("background_work_failed", "mail")]
    assert entries[0]["exc_info"]


async def test_to_start_does_not_wait_for_the_work() -> None:
    background, errand = Background(), Errand()
    background.start("mail", errand())
    assert not errand.begun.is_set()
    errand.let_go.set()
    await background.drain(5)


async def test_a_drain_waits_for_all_that_is_under_way() -> None:
    background, errands = Background(), [Errand() for _ in range(3)]
    for errand in errands:
        background.start("mail", errand())
    drain = asyncio.create_task(background.drain(5))
    for errand in errands:
        await errand.begun.wait()
        assert not drain.done()
        errand.let_go.set()
    await drain
    assert [errand.end for errand in errands] == ["finished"] * 3


async def test_what_outlives_the_deadline_is_cancelled_and_the_rest_is_finished() -> None:
    background, quick, slow = Background(), Errand(), Errand()
    quick.let_go.set()
    for errand in (quick, slow):
        background.start("mail", errand())
    await background.drain(0.01)
    assert (quick.end, slow.end) == ("finished", "cancelled")
    assert len(asyncio.all_tasks()) == 1


async def test_a_drain_of_nothing_returns_at_once() -> None:
    await asyncio.wait_for(Background().drain(60), 1)


async def test_finished_work_is_not_kept() -> None:
    background, errand = Background(), Errand()
    errand.let_go.set()
    background.start("mail", errand())
    await background.drain(5)
    assert not background._tasks
