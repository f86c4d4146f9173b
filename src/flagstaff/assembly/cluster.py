"""Builds what knows of the other instances and workers, and has them serve a change before its response is sent."""

import os
import socket
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial

from flagstaff import __version__
from flagstaff.assembly.foundation import Foundation
from flagstaff.audit.propagation import Propagation, changed_places
from flagstaff.changes.changes import Committed
from flagstaff.cluster.instance_reports_store import Reporting
from flagstaff.cluster.instances import LeaseState, ListedInstance, Load, Report
from flagstaff.cluster.instances_service import ServingInstances, read_newest_change
from flagstaff.cluster.instances_store import Feed, Instances, Serving
from flagstaff.cluster.lease import Lease
from flagstaff.cluster.leases_store import Member
from flagstaff.cluster.postgresql_feed import PostgresqlFeed
from flagstaff.cluster.secret_keys import fingerprint_of
from flagstaff.cluster.worker_feed import WorkerFeed, worker_name
from flagstaff.machine.load import LAG_BUCKETS, LoadMeter, memory_bytes
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.known_sdk_keys import SdkKeys
from flagstaff.settings import Settings
from flagstaff.telemetry.metrics import Metrics

_FEED = "feed"


class Cluster:
    """The other instances, if there can be any, and what this one tells them of itself."""

    def __init__(self, foundation: Foundation, confirm_seconds: float) -> None:
        """`confirm_seconds` is how long a change waits for this instance, and then for the others."""
        self.lease = Lease()
        self.load = LoadMeter(
            count_evaluations=lambda: sum(foundation.metrics.evaluate_responses.values()),
            observe_lag=foundation.metrics.add_histogram(
                "event_loop_lag_seconds", "How late a timer of the event loop was.", LAG_BUCKETS
            ),
        )
        self._foundation, self._confirm_seconds = foundation, confirm_seconds
        self._name = instance_name(foundation.settings)
        self._started_at = datetime.now(UTC)
        self._key_fingerprint = fingerprint_of(foundation.secret_key)
        self._instances: Instances | None = None

    def join(self, snapshots: Snapshots, sdk_keys: SdkKeys, count_connections: Callable[[], tuple[int, int]]) -> None:
        """Connect what is served with the other instances. `count_connections` returns open connections and streams."""
        self._snapshots, self._count_connections = snapshots, count_connections
        self._instances = self._make_instances(snapshots, sdk_keys)
        self._propagation = Propagation(
            refresh=snapshots.refresh,
            catch_up=snapshots.catch_up,
            others=self._instances,
            load_seconds=self._confirm_seconds,
        )
        foundation = self._foundation
        foundation.database.announce_to(self._announce)
        self.serving_instances = ServingInstances(foundation.database, foundation.now, self.list_instances)
        foundation.services.append(self.serving_instances)
        self._export_metrics(foundation.metrics)

    def is_following(self) -> bool:
        """Return whether the changes of the other instances reach this one."""
        return self._instances is None or (self._instances.is_connected() and not self.lease.has_lapsed())

    async def start(self) -> None:
        """Begin to follow the changes of the other instances."""
        if self._instances:
            self._foundation.supervisor.run(
                _FEED,
                self._instances.follow,
                purpose="applies the changes of other instances",
                is_working=self.is_following,
            )
            await self._instances.wait_until_connected()

    async def leave(self) -> None:
        """Tell the other instances that this one serves no more."""
        if self._instances:
            self.lease.end()
            await self._instances.leave()
        await self._foundation.supervisor.finish(_FEED, 0)

    def _make_instances(self, snapshots: Snapshots, sdk_keys: SdkKeys) -> Instances | None:
        feed = self._make_feed()
        if feed is None:
            return None
        self.lease.end()
        database, worker = self._foundation.database, self._foundation.worker
        own_name = worker_name(self._name, worker.slot) if worker else self._name
        return Instances(
            feed,
            Member(database.instance, own_name, __version__),
            Serving(
                snapshots.begin_refresh,
                sdk_keys.refresh_all,
                snapshots.is_served,
                snapshots.find_served,
                is_stale=snapshots.is_stale,
                is_loading=snapshots.is_loading,
            ),
            extend_lease=self.lease.extend,
            reporting=Reporting(self._describe, partial(read_newest_change, database)),
            reach=database.reach,
            start_task=self._foundation.supervisor.start,
            confirm_seconds=self._confirm_seconds,
        )

    def _make_feed(self) -> Feed | None:
        url, worker = self._foundation.settings.database_url, self._foundation.worker
        instance = self._foundation.database.instance
        if url is not None:
            return PostgresqlFeed(url, instance)
        if worker is not None:
            return WorkerFeed(worker.parent, worker.board, worker.slot, Member(instance, self._name, __version__))
        return None

    def _describe(self, change: int | None) -> Report:
        worker = self._foundation.worker
        load = Load(*self.load.rates, *self._count_connections(), memory_bytes())
        workers = worker.board.count if worker else 1
        return Report(
            self._started_at,
            workers,
            self._foundation.is_stopping,
            change,
            load,
            acknowledges=True,
            key_fingerprint=self._key_fingerprint,
        )

    async def list_instances(self) -> list[ListedInstance]:
        """All instances that serve from the database, this one included; raises Error UNAVAILABLE."""
        if self._instances:
            return await self._instances.list_instances()
        # With one process, changes are served before their responses are sent.
        database = self._foundation.database
        report = self._describe(None if self._snapshots.is_stale() else await read_newest_change(database))
        return [
            ListedInstance(database.instance, self._name, __version__, report.started_at, LeaseState.NONE, None, report)
        ]

    def _announce(self, committed: Committed) -> Awaitable[None]:
        for listener in self._foundation.commit_listeners:
            listener()
        supervisor = self._foundation.supervisor
        if self._instances and not self._foundation.database.is_postgresql:  # which tells them in the transaction
            supervisor.start("tell", self._instances.tell(changed_places(committed.changes)))
        return supervisor.spawn("announcement", self._propagation.propagate(committed))

    def _export_metrics(self, metrics: Metrics) -> None:
        self.lease.export_metrics(metrics)
        if self._instances:
            self._instances.export_metrics(metrics)
        if worker := self._foundation.worker:
            worker.board.export_metrics(metrics)


def instance_name(settings: Settings) -> str:
    """The name of this instance where instances are listed."""
    return settings.instance_name or f"{socket.gethostname()}:{settings.port or os.getpid()}"
