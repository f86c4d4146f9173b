"""Work that is done again and again, whatever happens to one run."""

import asyncio

import pytest
from structlog.testing import capture_logs

from flagstaff.domain.errors import unavailable
from flagstaff.runtime.periodic import Periodic
from tests.support.errand import Errand


class Work:
    """Counts its runs and tells when there were enough of them."""

    def __init__(self, enough: int = 3, failure: Exception | None = None) -> None:
        self.runs = 0
        self.was_enough = asyncio.Event()
        self._enough = enough
        self._failure = failure

    async def __call__(self) -> None:
        self.runs += 1
        if self.runs >= self._enough:
            self.was_enough.set()
        if self._failure:
            raise self._failure


@pytest.mark.parametrize("failure", [RuntimeError("out of luck"), TimeoutError(), asyncio.QueueFull(), KeyError("x")])
async def test_a_failed_run_is_logged_and_the_next_one_comes(failure: Exception) -> None:
    work = Work(failure=failure)
    periodic = Periodic("purge", 0.001, work)
    with capture_logs() as entries:
        periodic.start()
        await asyncio.wait_for(work.was_enough.wait(), 5)
        await periodic.stop()
    assert len(entries) == work.runs >= 3
    assert {(entry["event"], entry["work"], entry["log_level"]) for entry in entries} == {
        ("periodic_run_failed", "purge", "error")
    }
    assert entries[0]["exc_info"]


async def test_an_outage_is_logged_in_one_line_and_the_next_run_comes() -> None:
    work = Work(failure=unavailable())
    periodic = Periodic("retry", 0.001, work)
    with capture_logs() as entries:
        periodic.start()
        await asyncio.wait_for(work.was_enough.wait(), 5)
        await periodic.stop()
    assert {(entry["event"], entry["log_level"]) for entry in entries} == {("periodic_run_failed", "warning")}
    assert "exc_info" not in entries[0]


async def test_a_stop_waits_for_the_run_under_way() -> None:
    work = Errand()
    periodic = Periodic("purge", 0, work)
    periodic.start()
    await asyncio.wait_for(work.begun.wait(), 5)
    stop = asyncio.create_task(periodic.stop())
    await asyncio.wait([stop], timeout=0.01)
    assert not stop.done()
    work.let_go.set()
    await asyncio.wait_for(stop, 5)
    assert work.end == "finished"


async def test_a_run_that_outlives_the_deadline_is_cancelled() -> None:
    work = Errand()
    periodic = Periodic("purge", 0, work)
    periodic.start()
    await asyncio.wait_for(work.begun.wait(), 5)
    with capture_logs() as entries:
        await asyncio.wait_for(periodic.stop(deadline_seconds=0.01), 5)
    assert work.end == "cancelled"
    assert [entry["event"] for entry in entries] == ["periodic_run_cancelled"]


async def test_a_cancelled_stop_leaves_no_run_behind() -> None:
    work = Errand()
    periodic = Periodic("purge", 0, work)
    periodic.start()
    await asyncio.wait_for(work.begun.wait(), 5)
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(periodic.stop(), 0.01)
    while len(asyncio.all_tasks()) > 1:
        await asyncio.sleep(0)
    assert work.end == "cancelled"


async def test_a_stop_between_two_runs_is_immediate_and_no_run_follows() -> None:
    work = Work()
    periodic = Periodic("purge", 3_600, work)
    periodic.start()
    await asyncio.wait_for(periodic.stop(), 1)
    assert work.runs == 0
    assert len(asyncio.all_tasks()) == 1


async def test_stopping_what_never_started_or_twice_does_nothing() -> None:
    periodic = Periodic("purge", 1, Work())
    await periodic.stop()
    periodic.start()
    await periodic.stop()
    await periodic.stop()


async def test_it_can_be_started_again() -> None:
    work = Work(enough=2)
    periodic = Periodic("purge", 0.001, work)
    periodic.start()
    await periodic.stop()
    periodic.start()
    await asyncio.wait_for(work.was_enough.wait(), 5)
    await periodic.stop()


async def test_its_task_bears_its_name() -> None:
    periodic = Periodic("purge", 3_600, Work())
    periodic.start()
    assert "purge" in {task.get_name() for task in asyncio.all_tasks()}
    await periodic.stop()
