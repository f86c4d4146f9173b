"""Builds what evaluations are answered from: snapshots, SDK keys and streams of changes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from flagstaff.assembly.applications import LocalApplications
from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.concurrency.claims import Priority
from flagstaff.database.revisions_service import load_revisions
from flagstaff.evaluation.snapshot import ProjectSnapshot
from flagstaff.http.connections.connection_bounds import ConnectionBounds
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.idle_projects import SWEEPS, IdleProjects
from flagstaff.serving.known_sdk_keys import SdkKeys
from flagstaff.serving.loaders import Loaders
from flagstaff.serving.snapshot_memory import SnapshotMemory
from flagstaff.serving.streams import Streams
from flagstaff.snapshots.snapshots_service import SnapshotSource

_RETRY_SECONDS = 1.0
_STREAMS_SECONDS = 60.0
_MEMORY_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ServedState:
    """The state that evaluations are answered from, and the connections that receive changes."""

    snapshots: Snapshots
    sdk_keys: SdkKeys
    streams: Streams
    idle_projects: IdleProjects
    connection_bounds: ConnectionBounds

    def count_connections(self) -> tuple[int, int]:
        """The numbers of open connections and of streams."""
        return self.connection_bounds.open, len(self.streams)


def build_serving(
    foundation: Foundation,
    is_following: Callable[[], bool],
    sdk_key_limit: SlidingWindow | None,
    applications: LocalApplications,
) -> ServedState:
    """Build what evaluations are answered from. `is_following` tells whether the changes of other instances arrive."""
    settings, supervisor, now = foundation.settings, foundation.supervisor, foundation.now
    source = SnapshotSource(foundation.database)
    loaders = Loaders(
        load_project=source.load_project,
        load_first=source.load_first,
        load_environment=source.load_environment,
        load_revisions=partial(load_revisions, foundation.database),
        forget=source.forget,
    )
    snapshots = Snapshots(loaders, supervisor)
    sdk_keys = SdkKeys(snapshots, load=source.load_sdk_keys, is_following=is_following, now=now, limiter=sdk_key_limit)
    most_streams = foundation.share(settings.max_connections) // 2  # the others answer requests
    streams = Streams(supervisor, now, record_told=applications.collector.record_stream, most=most_streams)
    snapshots.observe(streams.swap)
    memory = SnapshotMemory(
        snapshots, supervisor, settings.snapshot_memory and foundation.share(settings.snapshot_memory), is_following
    )

    def forget(project: ProjectSnapshot) -> None:
        applications.local_flags.forget(project)
        memory.forget(project.project_id)

    served = ServedState(
        snapshots,
        sdk_keys,
        streams,
        IdleProjects(
            snapshots,
            sdk_keys,
            has_streams=streams.has_streams,
            may_unload=is_following,
            forget=forget,
        ),
        ConnectionBounds(
            most=foundation.share(settings.max_connections),
            most_per_address=foundation.share(settings.max_connections_per_address),
            trusted_proxies=settings.trusted_proxies,
        ),
    )

    async def count_streams() -> None:
        for caller in streams.open_callers():
            applications.caller_counts.add(caller, 0)

    foundation.periodic_tasks.append(PeriodicTask("callers-streams", _STREAMS_SECONDS, count_streams))
    foundation.periodic_tasks.append(
        PeriodicTask(
            "snapshot-retry", _RETRY_SECONDS, snapshots.retry, "loads stale projects again", priority=Priority.SHORT
        )
    )
    if settings.unload_after_seconds:
        every_seconds = settings.unload_after_seconds / SWEEPS
        foundation.periodic_tasks.append(PeriodicTask("snapshot-unload", every_seconds, served.idle_projects.sweep))
    foundation.periodic_tasks.append(PeriodicTask("snapshot-memory", _MEMORY_SECONDS, memory.make_room))
    for each in (snapshots, memory, streams, served.idle_projects, served.connection_bounds):
        each.export_metrics(foundation.metrics)
    return served
