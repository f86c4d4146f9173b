"""Builds what serves applications that evaluate flags themselves, and stores what they report."""

from dataclasses import dataclass
from datetime import timedelta

from flagstaff.applications.applications_service import ApplicationReports
from flagstaff.applications.exports_service import Exports
from flagstaff.applications.local_flags import LocalFlagsCache
from flagstaff.applications.local_flags_service import LocalFlagsSource
from flagstaff.applications.reports_collector import Applications, Noted
from flagstaff.applications.request_metrics_service import RequestMetrics
from flagstaff.assembly.foundation import Foundation
from flagstaff.history.store.reports import CountsBound


@dataclass(frozen=True, slots=True)
class LocalApplications:
    """The flags that applications get, and what they report."""

    local_flags: LocalFlagsCache
    reports: ApplicationReports
    collector: Applications
    exports: Exports


def build_applications(foundation: Foundation) -> LocalApplications:
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

    collector = Applications(store, supervisor, foundation.now)
    exports = Exports(database)
    foundation.services += [reports, RequestMetrics(database, foundation.now), exports]
    foundation.metrics.add_counter(
        "reports_dropped", "Reported counts that were not stored.", lambda: collector.dropped
    )
    return LocalApplications(LocalFlagsCache(LocalFlagsSource(database).load, supervisor), reports, collector, exports)
