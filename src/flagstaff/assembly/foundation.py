"""The ground of every subject: the settings, the clock, the database, the tasks and the metrics."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from flagstaff.cluster.worker import Worker
from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.database import Database
from flagstaff.database.recorded_bytes_store import NO_BOUND, RecordedBytesBounds
from flagstaff.database.traced_database import TracedDatabase
from flagstaff.http.services import Services
from flagstaff.settings import Settings
from flagstaff.telemetry import Metrics

if TYPE_CHECKING:  # imported only if the settings ask for it
    from flagstaff.telemetry.otel.assembly import Telemetry
    from flagstaff.telemetry.otel.tracing import Tracing


@dataclass(frozen=True, slots=True)
class PeriodicTask:
    """Work that is repeated with pauses. With `by_one_worker`, only the first of several workers does it.

    With a purpose, such as "deletes old evaluations", the instance is not ready while the work keeps failing. It waits
    for the database behind what people do, unless somebody waits for it and its `priority` says so.
    """

    name: str
    every_seconds: float
    work: Callable[[], Awaitable[object]]
    purpose: str | None = None
    by_one_worker: bool = False
    priority: Priority = Priority.LONG


class Foundation:
    """The ground of every subject, and the collection of what they offer.

    The builder of a subject adds its repeated work to `periodic_tasks`, its metrics to `metrics`, and to `services`
    those that need more than the database, the clock and the settings. `commit_listeners` are called after each commit
    that has written in a project.
    """

    def __init__(
        self,
        settings: Settings,
        now: Callable[[], datetime],
        worker: Worker | None,
        telemetry: "Telemetry | None",
    ) -> None:
        """Open the data directory and its secret key, and nothing else.

        Raises:
            Error: UNAVAILABLE when the data directory cannot be used.
        """
        self.settings, self.now, self.worker, self.telemetry = settings, now, worker, telemetry
        self.directory = DataDirectory(settings.data_dir)
        self.directory.prepare()
        self.secret_key = worker.secret_key if worker else settings.secret_key or self.directory.secret_key()
        self.database = _database(settings, self.tracing)
        self.metrics = Metrics(worker.board, worker.slot) if worker else Metrics()
        bounds = RecordedBytesBounds(settings.audit_bytes_per_hour or NO_BOUND, settings.max_audit_bytes or NO_BOUND)
        bounds.export_metrics(self.metrics)
        self.database.record_by(self.secret_key, bounds)
        self.supervisor = Supervisor()
        self.services: list[object] = [self.supervisor, self.metrics]
        self.periodic_tasks: list[PeriodicTask] = []
        self.commit_listeners: list[Callable[[], None]] = []
        self.is_stopping = False

    def offered(self) -> Services:
        """The services that routes use: from the builders, and the services that need only this object's fields."""
        return Services(self.services, {"database": self.database, "now": self.now, "settings": self.settings})

    @property
    def tracing(self) -> "Tracing | None":
        """Makes spans, if the settings ask for them."""
        return self.telemetry.tracing if self.telemetry else None

    @property
    def is_first_worker(self) -> bool:
        """True if this process does the work that one process of the instance does."""
        return self.worker is None or self.worker.is_first

    def share(self, bound: int) -> int:
        """The share of the instance's bound that one worker gets."""
        return math.ceil(bound / self.worker.board.count) if self.worker else bound

    def start_periodic_tasks(self) -> None:
        """Begin the repeated work of all subjects."""
        for task in self.periodic_tasks:
            if task.by_one_worker and not self.is_first_worker:
                continue
            with claiming(task.name, task.priority):
                self.supervisor.run_every(task.name, task.every_seconds, task.work, purpose=task.purpose)

    async def finish_periodic_tasks(self, deadline_seconds: float) -> None:
        """Let the repeated work end, and cancel it at the deadline."""
        await asyncio.gather(*(self.supervisor.finish(task.name, deadline_seconds) for task in self.periodic_tasks))


def _database(settings: Settings, tracing: "Tracing | None") -> Database:
    if tracing is None:
        return Database(settings.database_url, settings.data_dir)
    return TracedDatabase(settings.database_url, settings.data_dir, tracing)
