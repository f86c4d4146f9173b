"""The composition root: builds the subjects in their order, starts them and closes them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from flagstaff.assembly.applications import build_applications
from flagstaff.assembly.cluster import Cluster
from flagstaff.assembly.edge import Edge
from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.assembly.history import build_history
from flagstaff.assembly.hooks import build_hooks
from flagstaff.assembly.identity import LAST_USED_SECONDS, build_identity
from flagstaff.assembly.limits import build_limits
from flagstaff.assembly.mail import build_mails
from flagstaff.assembly.management import build_audit, build_flags, build_projects
from flagstaff.assembly.migrating import (
    gather_spools_of,
    migrate_alone_unless_supported,
    migrate_unless_supported,
)
from flagstaff.assembly.notices import build_notices
from flagstaff.assembly.notifications import build_notifications
from flagstaff.assembly.people import build_people
from flagstaff.assembly.probes import build_probes
from flagstaff.assembly.releases import build_releases
from flagstaff.assembly.secret_keys import build_key_watch, require_secret_key
from flagstaff.assembly.serving import build_serving
from flagstaff.cluster.instances_store import CONFIRM_SECONDS
from flagstaff.cluster.worker import Worker
from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.database import Database
from flagstaff.database.sqlite.open_files import CHECKPOINT_SECONDS
from flagstaff.identity.accounts.passwords import Passwords
from flagstaff.settings import Settings

if TYPE_CHECKING:  # imported only if the settings ask for it
    from flagstaff.telemetry.otel.assembly import Telemetry

# The time that a stop may take after the time allowed for running requests.
_DRAIN_SECONDS = 2.0
_CLOSE_SECONDS = 1.0


def utc_now() -> datetime:
    """The present moment, in UTC."""
    return datetime.now(UTC)


class Flagstaff:
    """The whole service, as its subjects. `edge` answers requests between `start` and `stop`."""

    def __init__(
        self,
        settings: Settings,
        *,
        now: Callable[[], datetime] = utc_now,
        passwords: Passwords | None = None,
        confirm_seconds: float = CONFIRM_SECONDS,
        worker: Worker | None = None,
        telemetry: "Telemetry | None" = None,
    ) -> None:
        """Build everything. Only the data directory and its secret key are opened here.

        `confirm_seconds` is how long a change waits for this instance, and then for the others. `passwords`, if given,
        is not closed by `stop`. A `worker` serves beside others from the same data directory, which their parent has
        prepared. `telemetry` makes and sends traces and metrics for OpenTelemetry.

        Raises:
            Error: UNAVAILABLE when the data directory cannot be used.
        """
        self.foundation = foundation = Foundation(settings, now, worker, telemetry)
        self.database = foundation.database
        self.limits = build_limits(foundation)
        mails = build_mails(foundation, self.limits.mails)
        self.cluster = Cluster(foundation, confirm_seconds)
        self.applications = build_applications(foundation, self.limits.requests)
        self.serving = build_serving(foundation, self.cluster.is_following, self.limits.sdk_key, self.applications)
        self.cluster.join(self.serving.snapshots, self.serving.sdk_keys, self.serving.count_connections)
        self.history = build_history(foundation, self.applications.reports)
        passed_time = self.history.passed_time.now
        self.applications.purge_callers(foundation, passed_time)
        self.identity = build_identity(foundation, mails, passwords, passed_time)
        self.sdk_keys = build_projects(foundation, mails, passed_time)
        self.hooks = build_hooks(foundation, mails, self.limits.repeats)
        build_notifications(foundation, mails)
        managed = build_flags(foundation)
        build_releases(foundation, managed.flags, managed.rules, self.history.service, passed_time)
        self.people = build_people(foundation, passed_time)
        build_notices(
            foundation,
            self.cluster.serving_instances,
            self.applications.reports,
            self.history.recorder,
            managed.cleanup,
            self.hooks.sender,
        )
        build_audit(foundation, self.serving, passed_time)
        key_watch = build_key_watch(foundation, self.cluster)
        build_probes(foundation, self._find_problems, key_watch.warnings, self._answers_evaluations)
        foundation.periodic_tasks.append(
            PeriodicTask(
                "last-seen", LAST_USED_SECONDS, self._write_last_used, "stores when credentials were last used"
            )
        )
        if not self.database.is_postgresql:
            foundation.periodic_tasks.append(PeriodicTask("checkpoint", CHECKPOINT_SECONDS, self.database.checkpoint))
        history = self.history
        self.edge = Edge(
            foundation, self.serving, history.recorder, history.events, self.applications, self.cluster.lease
        )

    async def start(self) -> None:
        """Lock the data directory, migrate the database, and load what the hot path needs.

        A worker only loads.

        Raises:
            Error: CONFLICT when another server uses the directory or a newer version has migrated the database;
                UNAVAILABLE when the database cannot be reached.
        """
        foundation = self.foundation
        if foundation.worker is None:
            foundation.directory.lock()
            foundation.directory.warn_if_open()
            await migrate_unless_supported(self.database, foundation.settings)
            gather_spools_of(foundation.settings, workers=1)
        foundation.directory.note_files(await self.database.open_files())
        await self.serving.sdk_keys.start()
        await self.cluster.start()
        if foundation.telemetry:  # without a purpose: an instance of which its receiver hears nothing is ready
            for name, send, is_working in foundation.telemetry.senders(foundation.metrics):
                foundation.supervisor.run(name, send, is_working=is_working)
        self.limits.start(foundation)
        await self.history.start()
        self.serving.streams.start()
        self.applications.collector.start()
        self.hooks.start()
        self.cluster.load.start()
        foundation.start_periodic_tasks()

    def begin_drain(self) -> None:
        """Go on serving, but end each connection with its next response, and be not ready."""
        self.foundation.is_stopping = True
        self.edge.begin_drain()

    async def stop(self) -> None:
        """Finish running work within a few seconds, and close everything, whatever of it fails."""
        foundation = self.foundation
        async with AsyncExitStack() as stack:  # the last one is called first
            stack.callback(foundation.directory.unlock)
            stack.push_async_callback(self._close_database)
            stack.push_async_callback(self.identity.close)
            stack.push_async_callback(foundation.supervisor.drain, 0)
            stack.push_async_callback(self.limits.close, foundation)
            stack.push_async_callback(self.history.close)
            stack.push_async_callback(self.hooks.close)
            stack.push_async_callback(self.cluster.leave)
            if foundation.telemetry:
                stack.callback(foundation.telemetry.close)
            stack.push_async_callback(self._finish_work)
            if foundation.telemetry:
                stack.callback(foundation.telemetry.end)
            stack.push_async_callback(self.serving.streams.stop)
            stack.callback(self.cluster.load.stop)

    async def _finish_work(self) -> None:
        foundation = self.foundation
        senders = foundation.telemetry.senders(foundation.metrics) if foundation.telemetry else ()
        for name, write in (
            ("callers-last-write", self.applications.write_callers()),
            ("last-seen-last-write", self._write_last_used()),
        ):
            foundation.supervisor.start(name, write)  # ended by the drain
        await asyncio.gather(
            foundation.supervisor.drain(_DRAIN_SECONDS),
            *(foundation.supervisor.finish(name, _DRAIN_SECONDS) for name, *_ in senders),
            foundation.finish_periodic_tasks(_DRAIN_SECONDS),
            self.hooks.finish(0),
            self.history.flush(),
            self.applications.collector.stop(_DRAIN_SECONDS),
        )

    async def _close_database(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):  # a database that hangs would delay the stop for minutes
                await self.database.close()

    async def _write_last_used(self) -> None:
        await self.identity.write_last_used()
        serving = self.serving
        await self.sdk_keys.write_last_used(serving.sdk_keys.take_used() | serving.streams.open_keys())

    def _find_problems(self) -> list[str]:
        return [*self.serving.snapshots.problems(), *self.history.spool_problems()]

    def _answers_evaluations(self) -> bool:
        return self.foundation.settings.when_cut_off != "refuse" or not self.cluster.lease.has_lapsed()


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[Database]:
    """The database for commands that need no secret key, whether or not a server is running.

    Raises:
        Error: CONFLICT when it is not at this version's revision and cannot be migrated because a server may be using
            it; UNAVAILABLE when it cannot be reached.
    """
    with DataDirectory(settings.data_dir).given_to_owner():
        database = Database(settings.database_url, settings.data_dir)
        try:
            await migrate_alone_unless_supported(database, settings)
            await database.open_files()
            yield database
        finally:
            await database.close()


@asynccontextmanager
async def open_service(settings: Settings) -> AsyncIterator[Flagstaff]:
    """The service for commands that need the secret key, not started; otherwise as `open_database`.

    Raises:
        Error: also CONFLICT when the secret key is lost.
    """
    with DataDirectory(settings.data_dir).given_to_owner():
        await require_secret_key(settings)
        flagstaff = Flagstaff(settings)
        try:
            await migrate_alone_unless_supported(flagstaff.database, settings)
            await flagstaff.database.open_files()
            yield flagstaff
        finally:
            await flagstaff.stop()
