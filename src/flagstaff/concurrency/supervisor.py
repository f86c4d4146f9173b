"""All tasks of the process: long-lived ones are restarted when they fail, short ones are finished by a stop.

No other module creates a task, so that none can end without being noticed.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import structlog

from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Error

log = structlog.get_logger(__name__)

FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 3.0  # other instances wait 5 seconds for an answer, and a restart should take less
STEADY_SECONDS = 10.0  # a task that has run for this long is working again
MANY_FAILURES = 3
CANCEL_SECONDS = 0.5  # a driver waits longer than this before it gives up a connection to a database that hangs

Result = TypeVar("Result")


@dataclass(slots=True)
class _Service:
    """A long-lived task."""

    name: str
    work: Callable[[], Awaitable[None]]
    purpose: str | None
    is_working: Callable[[], bool] | None
    ending: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    is_periodic: bool = False  # done again and again, rather than once for as long as the process lives
    is_running: bool = True  # but while it waits for its restart
    since: float = 0.0  # by the loop's clock
    failures: int = 0  # in a row
    logged: str = ""  # the failure of periodic work that was logged last, while it lasts
    restarts: int = 0

    @property
    def is_up(self) -> bool:
        if self.is_periodic:  # one failure is not yet a problem, and the pause before the next run is none
            return self.failures < MANY_FAILURES
        return self.is_running and (self.is_working is None or self.is_working())


class Supervisor:
    """Runs the tasks of one event loop and reports their state."""

    def __init__(
        self,
        *,
        first_pause_seconds: float = FIRST_PAUSE_SECONDS,
        longest_pause_seconds: float = LONGEST_PAUSE_SECONDS,
        steady_seconds: float = STEADY_SECONDS,
    ) -> None:
        self._first_pause_seconds = first_pause_seconds
        self._longest_pause_seconds = longest_pause_seconds
        self._steady_seconds = steady_seconds
        self._services: dict[str, _Service] = {}
        self._jobs: set[asyncio.Task[Any]] = set()

    def run(
        self,
        name: str,
        work: Callable[[], Awaitable[None]],
        *,
        purpose: str | None = None,
        is_working: Callable[[], bool] | None = None,
    ) -> None:
        """Keep a long-lived task running: when `work` raises, it is called again after a pause that grows.

        `purpose` is a phrase such as "records evaluations"; with one, the instance is not ready while the task is down.
        `is_working` may check more than whether the task runs; while it returns True, earlier failures do not matter. A
        `work` that returns is not restarted.
        """
        self._begin(_Service(name, work, purpose, is_working))

    def run_every(
        self, name: str, every_seconds: float, work: Callable[[], Awaitable[object]], *, purpose: str | None = None
    ) -> None:
        """Await `work` repeatedly, with a pause of this length before each run; after a failure, with a restart's.

        The log has a failure once, and again when its reason is another one or a run has succeeded in between.

        The task is down when three runs in a row have failed, until one succeeds. With a `purpose`, as in `run`, the
        instance is then not ready.
        """

        async def repeat() -> None:
            while service.failures or not await is_set_within(service.ending, every_seconds):
                await work()
                if service.logged:
                    log.info("task_works_again", task=name)
                service.failures, service.logged = 0, ""

        service = _Service(name, repeat, purpose, None, is_periodic=True)
        self._begin(service)

    def spawn(self, name: str, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Start a short task whose result a caller awaits, shielded from the caller's cancellation if necessary."""
        task = asyncio.create_task(work, name=name)
        self._jobs.add(task)
        task.add_done_callback(self._forget)
        return task

    def start(self, name: str, work: Coroutine[Any, Any, object]) -> None:
        """Start a short task that no caller awaits, such as a mail; its failure is logged."""
        self.spawn(name, self._log_failure(name, work))

    async def drain(self, deadline_seconds: float) -> None:
        """Wait for the running short tasks; those not done by the deadline are cancelled."""
        if not self._jobs:
            return
        _, late = await asyncio.wait(self._jobs, timeout=deadline_seconds)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=CANCEL_SECONDS)

    async def finish(self, name: str, deadline_seconds: float) -> None:
        """Wait for a long-lived task that has been told to end, and cancel it at the deadline.

        This call tells `run_every` to end. A task that is waiting for its restart is cancelled at once.
        """
        service = self._services.pop(name, None)
        if service is None or service.task is None:
            return
        service.ending.set()
        try:
            if service.is_running:
                _, late = await asyncio.wait([service.task], timeout=deadline_seconds)
                if late and deadline_seconds:
                    log.warning("task_cancelled", task=name)
        finally:
            service.task.cancel()  # also when this call itself is cancelled
        await asyncio.wait([service.task], timeout=CANCEL_SECONDS)

    @property
    def up(self) -> dict[str, bool]:
        """The state of each long-lived task: True while it is working."""
        return {service.name: service.is_up for service in self._services.values()}

    @property
    def restarts(self) -> dict[str, int]:
        """The restarts of each long-lived task."""
        return {service.name: service.restarts for service in self._services.values()}

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the state and the restarts of each long-lived task."""
        metrics.add_labelled_gauge("task_up", "Whether a task works: 1 or 0.", "task", lambda: self.up, min)
        metrics.add_labelled_counter("task_restarts", "Restarts of a task.", "task", lambda: self.restarts)

    def problems(self) -> list[str]:
        """One sentence for each task with a purpose that is down or keeps failing."""
        return [
            f"The task {service.name}, which {service.purpose}, "
            + (
                f"has failed {service.failures} times in a row."
                if service.is_periodic or service.is_up
                else "is not running."
            )
            for service in self._services.values()
            if service.purpose and (not service.is_up or self._keeps_failing(service))
        ]

    def _begin(self, service: _Service) -> None:
        assert service.name not in self._services, f"{service.name} is running already"
        self._services[service.name] = service
        service.task = asyncio.create_task(self._keep_running(service), name=service.name)

    def _keeps_failing(self, service: _Service) -> bool:
        if service.is_working is not None:
            return False  # it knows better than a rule about the past
        return service.failures >= MANY_FAILURES and not self._has_been_steady(service)

    def _has_been_steady(self, service: _Service) -> bool:
        """Return whether a failure is old enough to forget. Periodic work forgets its failures when a run succeeds."""
        return not service.is_periodic and asyncio.get_running_loop().time() - service.since >= self._steady_seconds

    async def _keep_running(self, service: _Service) -> None:
        while not await self._run_once(service):
            if self._has_been_steady(service):
                service.failures = 0
            service.failures += 1
            service.restarts += 1
            pause = self._first_pause_seconds * 2 ** min(service.failures - 1, 10)
            await asyncio.sleep(min(pause, self._longest_pause_seconds))

    async def _run_once(self, service: _Service) -> bool:
        """Return whether the work returned instead of failing."""
        service.since = asyncio.get_running_loop().time()
        service.is_running = True
        try:
            await service.work()
        except asyncio.CancelledError as error:
            if _is_being_cancelled():
                raise
            _log_of(service, error)  # something that the work awaited was cancelled
            return False
        except Exception as error:  # noqa: BLE001 - the edge of a background loop: nothing stands above it
            _log_of(service, error)
            return False
        else:
            return True
        finally:
            service.is_running = False

    async def _log_failure(self, name: str, work: Coroutine[Any, Any, object]) -> None:
        try:
            await work
        except asyncio.CancelledError:
            log.warning("background_work_cancelled", task=name)
            raise
        except Exception as error:  # noqa: BLE001 - nobody is left to be told
            _log("background_work_failed", name, error)

    def _forget(self, task: asyncio.Task[Any]) -> None:
        self._jobs.discard(task)
        if not task.cancelled():
            task.exception()  # the caller may have given up; asyncio would warn that the exception was never retrieved


async def is_set_within(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event at most this long; return whether it is set."""
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return event.is_set()


def _is_being_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _log_of(service: _Service, error: BaseException) -> None:
    """Log the failure of a long-lived task, but not the same one of periodic work again."""
    failure = f"{type(error).__name__}: {error}"
    if not service.is_periodic or failure != service.logged:
        service.logged = failure
        _log("task_failed", service.name, error)


def _log(event: str, name: str, error: BaseException) -> None:
    if isinstance(error, Error):  # expected, such as an outage, which would fill the log with tracebacks
        log.warning(event, task=name, reason=error.message)
    else:
        log.error(event, task=name, exc_info=error)
