"""Builds what serves applications that evaluate flags themselves, and stores what they report."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from flagstaff.applications.applications_service import ApplicationReports
from flagstaff.applications.callers_service import WRITE_SECONDS, Callers
from flagstaff.applications.local_flags_service import LocalFlagsSource
from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.history.store.reports import CountsBound
from flagstaff.http.limits import Limits
from flagstaff.serving.caller_counts import CallerCounts
from flagstaff.serving.local_flags import LocalFlagsCache
from flagstaff.serving.reports_collector import Applications, Noted

_PURGE_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class LocalApplications:
    """The flags that applications get, and what they report."""

    local_flags: LocalFlagsCache
    reports: ApplicationReports
    collector: Applications
    callers: Callers
    caller_counts: CallerCounts

    async def write_callers(self) -> None:
        """Store who asked for flags since the last time; raises Error UNAVAILABLE."""
        await self.callers.write(self.caller_counts)

    def purge_callers(self, foundation: Foundation, passed_time: Callable[[], datetime]) -> None:
        """Delete old callers from time to time."""
        foundation.periodic_tasks.append(
            PeriodicTask(
                "callers-purge",
                _PURGE_SECONDS,
                lambda: self.callers.purge(passed_time()),
                "deletes old callers",
                by_one_worker=True,
            )
        )


def build_applications(foundation: Foundation, limits: Limits) -> LocalApplications:
    """The flags that applications get, and what they report."""
    database, settings, supervisor = foundation.database, foundation.settings, foundation.supervisor
    reports = ApplicationReports(
        database,
        foundation.now,
        timedelta(days=settings.history_retention_days),
        CountsBound(settings.max_reported_counts_per_hour),
    )

    async def store(noted: Noted) -> int:
        return await reports.store(noted.connections, noted.reports, noted.asked)

    collector = Applications(store, reports.is_stored, supervisor, foundation.now)
    callers, counts = Callers(database, foundation.now), CallerCounts(limits.client)
    foundation.services += [reports, callers, counts]
    collector.export_metrics(foundation.metrics)
    local_flags = LocalFlagsCache(LocalFlagsSource(database).load, supervisor)
    applications = LocalApplications(local_flags, reports, collector, callers, counts)
    foundation.periodic_tasks.append(
        PeriodicTask("callers-write", WRITE_SECONDS, applications.write_callers, "stores the callers of environments")
    )
    return applications
