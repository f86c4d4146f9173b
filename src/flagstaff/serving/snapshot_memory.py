"""Bounds the memory of loaded environments: those that were used least recently make room for others.

Evaluations only note that they use an environment (`Use`). When room is needed, the environments that were used since
the last look count as used now, and the others keep their order.
"""

from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot, measure
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.telemetry.metrics import Metrics


class _Loaded(NamedTuple):
    """A loaded environment, and its bytes when it was measured last."""

    snapshot: EnvironmentSnapshot
    size: int


class SnapshotMemory:
    """Measures the loaded environments, and unloads some when they have too many bytes; `evicted` counts these."""

    def __init__(
        self, snapshots: Snapshots, supervisor: Supervisor, most_bytes: int | None, may_unload: Callable[[], bool]
    ) -> None:
        """`may_unload` returns whether environments could be loaded again now. Without `most_bytes` all stay loaded."""
        self.evicted = 0
        self.bytes = 0
        self._snapshots = snapshots
        self._most_bytes = most_bytes
        self._supervisor = supervisor
        self._may_unload = may_unload
        self._loaded: dict[UUID, _Loaded] = {}  # by their ids; least recently used first
        self._of_project: dict[UUID, set[UUID]] = {}
        self._shared: dict[UUID, int] = {}  # the bytes that the environments of a project share
        snapshots.observe(self._swap)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the bytes of the loaded environments and the number of those that made room."""
        metrics.add_gauge("snapshot_bytes", "Estimated memory of the loaded environments.", lambda: self.bytes)
        metrics.add_counter("snapshots_evicted", "Environments unloaded to make room for others.", lambda: self.evicted)

    def forget(self, project_id: UUID) -> None:
        """Forget the environments of a project that was unloaded."""
        self._swap(project_id, None)

    async def make_room(self) -> None:
        """Unload environments until the others have few enough bytes; the one that was used last stays in any case."""
        self._measure()
        for environment_id, loaded in tuple(self._loaded.items())[:-1]:
            if not self._is_full() or not self._may_unload():
                return
            if self._snapshots.unload_environment(loaded.snapshot.project_id, environment_id):
                self.evicted += 1

    def _is_full(self) -> bool:
        return self._most_bytes is not None and self.bytes > self._most_bytes

    def _measure(self) -> None:
        """Measure all again, because they remember attributes and translations, and put the used ones last."""
        for environment_id, (snapshot, _) in tuple(self._loaded.items()):
            if snapshot.use.is_recent:
                snapshot.use.is_recent = False
                self._loaded[environment_id] = self._loaded.pop(environment_id)
            self._put(snapshot)

    def _swap(self, project_id: UUID, project: ProjectSnapshot | None) -> None:
        present = {each.environment_id: each for each in project.environments.values()} if project is not None else {}
        for environment_id in self._of_project.pop(project_id, set()) - present.keys():
            self._discard(environment_id)
        self.bytes -= self._shared.pop(project_id, 0)
        if present:
            self._of_project[project_id] = set(present)
            self._shared[project_id] = max(each.shared_size for each in present.values())
            self.bytes += self._shared[project_id]
        for environment_id, snapshot in present.items():
            loaded = self._loaded.get(environment_id)
            if loaded is None or loaded.snapshot is not snapshot:
                self._put(snapshot)
        if self._is_full():  # after the swap, which other observers have not seen yet
            self._supervisor.start("snapshot memory", self.make_room())

    def _put(self, snapshot: EnvironmentSnapshot) -> None:
        before, size = self._loaded.get(snapshot.environment_id), measure(snapshot)
        self.bytes += size - (before.size if before is not None else 0)
        self._loaded[snapshot.environment_id] = _Loaded(snapshot, size)

    def _discard(self, environment_id: UUID) -> None:
        self.bytes -= self._loaded.pop(environment_id).size
