"""Unloads the projects that nobody has asked for within some time.

Evaluations pay nothing for it: a request whose SDK key is known is not noted. Instead, each sweep forgets the texts of
all keys, so that the first use of a key after it asks for the key's project again. A project with open streams counts
as asked for.
"""

from collections.abc import Callable, Generator
from uuid import UUID

from flagstaff.concurrency.pacing import in_pieces
from flagstaff.evaluation.snapshot import ProjectSnapshot
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.known_sdk_keys import SdkKeys
from flagstaff.telemetry.metrics import Metrics

SWEEPS = 4
"""A project that was not asked for in so many sweeps is unloaded: up to a quarter of the time later than it could."""


class IdleProjects:
    """Finds and unloads idle projects. `unloaded` counts them."""

    def __init__(
        self,
        snapshots: Snapshots,
        sdk_keys: SdkKeys,
        *,
        has_streams: Callable[[UUID], bool],
        may_unload: Callable[[], bool],
        forget: Callable[[ProjectSnapshot], None],
    ) -> None:
        """`has_streams` returns whether streams of a project are open.

        `may_unload` returns whether projects could be loaded again now. `forget` is called with each unloaded project.
        """
        self.unloaded = 0
        self._snapshots = snapshots
        self._sdk_keys = sdk_keys
        self._has_streams = has_streams
        self._may_unload = may_unload
        self._forget = forget
        self._sweeps = 0
        self._asked_in: dict[UUID, int] = {}  # loaded projects, by the number of the sweep

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the number of projects that were unloaded."""
        metrics.add_counter(
            "snapshots_unloaded", "Projects unloaded because they were not used.", lambda: self.unloaded
        )

    async def sweep(self) -> None:
        """Note which projects were asked for since the last sweep, and unload those that have been idle for long."""
        await in_pieces(self._sweep())

    def _sweep(self) -> Generator[None, None, None]:
        self._sweeps += 1
        self._sdk_keys.forget_texts()
        asked = self._snapshots.take_asked()
        for project_id in tuple(self._snapshots.loaded):
            if project_id in asked or self._has_streams(project_id):
                self._asked_in[project_id] = self._sweeps
            idle_for = self._sweeps - self._asked_in.setdefault(project_id, self._sweeps)
            if idle_for >= SWEEPS and self._may_unload():
                self._unload(project_id)
            yield
        for project_id in self._asked_in.keys() - self._snapshots.loaded.keys():
            del self._asked_in[project_id]

    def _unload(self, project_id: UUID) -> None:
        project = self._snapshots.unload(project_id)
        if project is not None:
            self._sdk_keys.unload(project_id)
            self._forget(project)
            self.unloaded += 1
