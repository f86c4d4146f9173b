"""The tasks of the process: a task that ends for any reason is restarted, and the state of each is reported."""

import ast
import asyncio
from collections.abc import AsyncIterator, Callable
from itertools import pairwise
from pathlib import Path

import pytest
from structlog.testing import capture_logs

import flagstaff
from flagstaff.concurrency import supervisor as supervisor_module
from flagstaff.concurrency.supervisor import MANY_FAILURES, Supervisor
from flagstaff.values.errors import unavailable
from tests.support.errand import Errand

FAILURES = [RuntimeError("out of luck"), TimeoutError(), asyncio.QueueFull(), KeyError("x"), asyncio.CancelledError()]


class Work:
    """Fails the given number of times, and then runs until it is cancelled."""

    def __init__(self, failures: int, failure: BaseException | None = None) -> None:
        self.runs = 0
        self._failures = failures
        self._failure = failure or RuntimeError("out of luck")

    async def __call__(self) -> None:
        self.runs += 1
        if self.runs <= self._failures:
            raise self._failure
        await asyncio.Event().wait()


@pytest.fixture
async def supervisor() -> AsyncIterator[Supervisor]:
    """A supervisor with short pauses. It ends its tasks; leftover tasks fail the test."""
    made = Supervisor(first_pause_seconds=0.001, longest_pause_seconds=0.001, steady_seconds=3600)
    yield made
    for name in made.up:
        await made.finish(name, 0)
    await made.drain(0)
    left_over = asyncio.all_tasks() - {asyncio.current_task()}
    assert not left_over, f"tasks were left over: {left_over}"


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():
            await asyncio.sleep(0.001)


def test_no_other_module_creates_a_task() -> None:
    ways = {"create_task", "ensure_future", "run_coroutine_threadsafe", "TaskGroup", "create_task_group", "Task"}
    source = Path(flagstaff.__file__).parent
    found = [
        f"{path.relative_to(source)}:{node.lineno}"
        for path in source.rglob("*.py")
        if path != Path(supervisor_module.__file__)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and (getattr(node.func, "attr", None) or getattr(node.func, "id", None)) in ways
    ]
    assert not found, "use the supervisor"


@pytest.mark.parametrize("failure", FAILURES, ids=repr)
async def test_a_task_that_fails_is_logged_counted_and_started_again(
    supervisor: Supervisor, failure: BaseException
) -> None:
    work = Work(2, failure)
    with capture_logs() as entries:
        supervisor.run("feed", work)
        await until(lambda: work.runs == 3)
    assert [(entry["event"], entry["task"], entry["log_level"]) for entry in entries] == [
        ("task_failed", "feed", "error")
    ] * 2
    assert entries[0]["exc_info"] is failure
    assert supervisor.restarts == {"feed": 2}
    assert supervisor.up == {"feed": True}


async def test_an_outage_is_logged_in_one_line(supervisor: Supervisor) -> None:
    work = Work(1, unavailable("away"))
    with capture_logs() as entries:
        supervisor.run("feed", work)
        await until(lambda: work.runs == 2)
    assert entries == [{"event": "task_failed", "task": "feed", "reason": "away", "log_level": "warning"}]


async def test_a_task_that_waits_for_its_restart_is_down() -> None:
    slow = Supervisor(first_pause_seconds=3600, longest_pause_seconds=3600)
    slow.run("feed", Work(1), purpose="hears changes")
    slow.run("purge", Work(1))
    await until(lambda: slow.restarts == {"feed": 1, "purge": 1})
    assert slow.up == {"feed": False, "purge": False}
    assert slow.problems() == ["The task feed, which hears changes, is not running."]
    for name in ("feed", "purge"):
        await asyncio.wait_for(slow.finish(name, 3600), 30)


async def test_a_task_that_reports_that_it_does_not_work_is_down(supervisor: Supervisor) -> None:
    supervisor.run("feed", Work(0), purpose="hears changes", is_working=lambda: False)
    assert supervisor.up == {"feed": False}
    assert supervisor.problems() == ["The task feed, which hears changes, is not running."]


async def test_a_task_that_returned_unexpectedly_is_down(supervisor: Supervisor) -> None:
    errand = Errand()
    errand.let_go.set()
    supervisor.run("feed", errand, purpose="hears changes")
    await until(lambda: not supervisor.up["feed"])
    assert supervisor.problems()


async def test_a_task_that_keeps_failing_is_a_problem_until_it_has_run_for_a_while() -> None:
    for steady_seconds, is_problem in ((3600, True), (0.001, False)):
        supervisor = Supervisor(first_pause_seconds=0, steady_seconds=steady_seconds)
        work = Work(MANY_FAILURES)
        supervisor.run("feed", work, purpose="hears changes")
        await until(lambda work=work: work.runs == MANY_FAILURES + 1)  # type: ignore[misc]
        if is_problem:
            assert supervisor.problems() == ["The task feed, which hears changes, has failed 3 times in a row."]
        else:
            await until(lambda supervisor=supervisor: not supervisor.problems())  # type: ignore[misc]
        await supervisor.finish("feed", 0)


async def test_pauses_grow_up_to_a_bound() -> None:
    supervisor = Supervisor(first_pause_seconds=0.01, longest_pause_seconds=0.04, steady_seconds=3600)
    moments: list[float] = []

    async def fail() -> None:
        moments.append(asyncio.get_running_loop().time())
        raise RuntimeError

    supervisor.run("feed", fail)
    await until(lambda: len(moments) == 6)
    await supervisor.finish("feed", 0)
    pauses = [after - before for before, after in pairwise(moments)]
    assert all(pause >= least for pause, least in zip(pauses, (0.01, 0.02, 0.04, 0.04, 0.04), strict=True))


async def test_a_task_that_is_told_to_end_is_waited_for(supervisor: Supervisor) -> None:
    errand = Errand()
    supervisor.run("recorder", errand)
    ending = asyncio.create_task(supervisor.finish("recorder", 5))
    await errand.begun.wait()
    await asyncio.wait([ending], timeout=0.01)
    assert not ending.done()
    errand.let_go.set()
    await ending
    assert errand.end == "finished"


async def test_a_task_that_outlives_the_deadline_is_cancelled(supervisor: Supervisor) -> None:
    errand = Errand()
    supervisor.run("recorder", errand)
    await errand.begun.wait()
    with capture_logs() as entries:
        await supervisor.finish("recorder", 0.01)
    assert errand.end == "cancelled"
    assert [entry["event"] for entry in entries] == ["task_cancelled"]


async def test_a_cancelled_wait_leaves_no_task_behind(supervisor: Supervisor) -> None:
    errand = Errand()
    supervisor.run("recorder", errand)
    await errand.begun.wait()
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(supervisor.finish("recorder", 3600), 0.01)
    await until(lambda: errand.end == "cancelled")


async def test_to_end_what_does_not_run_does_nothing(supervisor: Supervisor) -> None:
    await supervisor.finish("recorder", 5)


@pytest.mark.parametrize("failure", [RuntimeError("out of luck"), unavailable()], ids=repr)
async def test_work_that_is_done_every_so_often_comes_again_after_a_failure(
    supervisor: Supervisor, failure: Exception
) -> None:
    runs = 0

    async def fail_at_first() -> None:
        nonlocal runs
        runs += 1
        if runs < 3:
            raise failure

    with capture_logs() as entries:
        supervisor.run_every("purge", 0.001, fail_at_first)
        await until(lambda: runs >= 5)
    assert supervisor.restarts["purge"] == 2
    assert [entry["event"] for entry in entries] == ["task_failed", "task_works_again"]


async def test_a_failure_of_periodic_work_is_logged_again_only_when_its_reason_changes(supervisor: Supervisor) -> None:
    reasons = ["gone", "gone", "gone", "away", "away", "gone", None, "gone", "gone", None]
    runs = 0

    async def work() -> None:
        nonlocal runs
        runs += 1
        if runs <= len(reasons) and (reason := reasons[runs - 1]):
            raise unavailable(reason)

    with capture_logs() as entries:
        supervisor.run_every("disk", 0.001, work)
        await until(lambda: runs > len(reasons))
        await supervisor.finish("disk", 5)
    assert [entry.get("reason", entry["event"]) for entry in entries] == [
        *("gone", "away", "gone"),
        "task_works_again",
        "gone",
        "task_works_again",
    ]


async def test_an_end_between_two_runs_is_immediate_and_no_run_follows(supervisor: Supervisor) -> None:
    errand = Errand()
    supervisor.run_every("purge", 3600, errand)
    await asyncio.sleep(0)
    await asyncio.wait_for(supervisor.finish("purge", 3600), 30)
    assert not errand.begun.is_set()


async def test_an_end_waits_for_the_current_run(supervisor: Supervisor) -> None:
    errand = Errand()
    supervisor.run_every("purge", 0, errand)
    await errand.begun.wait()
    ending = asyncio.create_task(supervisor.finish("purge", 5))
    await asyncio.wait([ending], timeout=0.01)
    assert not ending.done()
    errand.let_go.set()
    await ending
    assert errand.end == "finished"


async def test_a_failure_that_no_caller_awaits_is_logged_under_the_works_name(supervisor: Supervisor) -> None:
    async def fail() -> None:
        raise RuntimeError("out of luck")

    with capture_logs() as entries:
        supervisor.start("reset mail", fail())
        await supervisor.drain(5)
    assert [(entry["event"], entry["task"]) for entry in entries] == [("background_work_failed", "reset mail")]
    assert entries[0]["exc_info"]


async def test_a_failure_that_a_caller_awaits_is_raised_only_there(supervisor: Supervisor) -> None:
    async def fail() -> None:
        raise RuntimeError("out of luck")

    with capture_logs() as entries, pytest.raises(RuntimeError, match="out of luck"):
        await supervisor.spawn("load", fail())
    assert not entries


async def test_a_drain_waits_for_all_running_tasks(supervisor: Supervisor) -> None:
    errands = [Errand() for _ in range(3)]
    for errand in errands:
        supervisor.start("mail", errand())
    drain = asyncio.create_task(supervisor.drain(5))
    for errand in errands:
        await errand.begun.wait()
        assert not drain.done()
        errand.let_go.set()
    await drain
    assert [errand.end for errand in errands] == ["finished"] * 3


async def test_what_outlives_the_deadline_of_a_drain_is_cancelled_and_the_rest_is_finished(
    supervisor: Supervisor,
) -> None:
    quick, slow = Errand(), Errand()
    quick.let_go.set()
    for errand in (quick, slow):
        supervisor.start("mail", errand())
    with capture_logs() as entries:
        await supervisor.drain(0.01)
    assert (quick.end, slow.end) == ("finished", "cancelled")
    assert [(entry["event"], entry["task"]) for entry in entries] == [("background_work_cancelled", "mail")]


async def test_periodic_work_is_a_problem_when_three_runs_in_a_row_have_failed_until_one_succeeds() -> None:
    # Each run counts, although the pauses are longer than the time after which other tasks count as steady again.
    supervisor = Supervisor(first_pause_seconds=0.002, longest_pause_seconds=0.002, steady_seconds=0.001)
    runs, is_mended = 0, False

    async def work() -> None:
        nonlocal runs
        runs += 1
        if not is_mended:
            raise RuntimeError("out of luck")

    supervisor.run_every("purge", 0.002, work, purpose="deletes old evaluations")
    await until(lambda: runs >= 1)
    assert supervisor.up == {"purge": True}
    assert not supervisor.problems()
    await until(lambda: not supervisor.up["purge"])
    assert runs == MANY_FAILURES
    assert supervisor.problems() == ["The task purge, which deletes old evaluations, has failed 3 times in a row."]
    is_mended = True
    await until(lambda: supervisor.up["purge"])
    assert not supervisor.problems()
    await supervisor.finish("purge", 5)
