"""Unloads the projects that nobody has asked for within some time.

Evaluations pay nothing for it: a request whose SDK key is known is not noted. Instead, each sweep forgets the texts of
all keys, so that the first use of a key after it asks for the key's project again. A project with open streams counts
as asked for.
"""

from collections.abc import Callable
from uuid import UUID

from flagstaff.concurrency.pacing import paced
from flagstaff.evaluation.snapshot import ProjectSnapshot
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.known_sdk_keys import SdkKeys
from flagstaff.serving.served_project import ServedProject
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

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the number of projects that were unloaded."""
        metrics.add_counter(
            "snapshots_unloaded", "Projects unloaded because they were not used.", lambda: self.unloaded
        )

    async def sweep(self) -> None:
        """Note which projects were asked for since the last sweep, and unload those that have been idle for long."""
        self._sweeps += 1
        self._sdk_keys.forget_texts()
        async for project in paced(self._snapshots.list_known()):
            if project.snapshot is None:
                continue
            if project.used_in is None or project.is_asked_for or self._has_streams(project.project_id):
                project.used_in, project.is_asked_for = self._sweeps, False
            if self._sweeps - project.used_in >= SWEEPS and self._may_unload():
                self._unload(project)

    def _unload(self, project: ServedProject) -> None:
        snapshot = project.unload()
        if snapshot is not None:
            self._sdk_keys.unload(project.project_id)
            self._forget(snapshot)
            self.unloaded += 1
