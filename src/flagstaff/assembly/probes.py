"""Builds what monitoring asks: whether this process is ready, and its metrics."""

from collections.abc import Callable

from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.concurrency.shared_answers import Shared
from flagstaff.database.readiness import Readiness
from flagstaff.http.probes import Probes
from flagstaff.values.errors import unavailable

_FIGURES_SECONDS = 1.0


def build_probes(
    foundation: Foundation,
    find_problems: Callable[[], list[str]],
    find_warnings: Callable[[], list[str]],
    answers_evaluations: Callable[[], bool],
) -> None:
    """The checks behind `/ready` and `/metrics`.

    `find_problems` returns sentences about what does not work, and `find_warnings` about what will not after a restart.
    """
    metrics, tasks, worker = foundation.metrics, foundation.supervisor, foundation.worker

    def require_staying() -> None:
        if foundation.is_stopping:
            raise unavailable("The server is stopping.")

    def find_all_problems() -> list[str]:
        return [*tasks.problems(), *find_problems(), *(worker.board.problems() if worker else [])]

    async def render() -> tuple[bytes, str]:
        return metrics.render()

    async def publish() -> None:
        metrics.publish()

    readiness = Readiness(foundation.database, answers_evaluations, find_all_problems, find_warnings)
    foundation.services.append(Probes(require_staying, Shared(readiness.check), Shared(render)))
    if worker:
        foundation.periodic_tasks.append(
            PeriodicTask("worker-figures", _FIGURES_SECONDS, publish, "tells the other workers this one's metrics")
        )
    _export_metrics(foundation)


def _export_metrics(foundation: Foundation) -> None:
    for each in (foundation.database, foundation.supervisor, foundation.telemetry):
        if each is not None:
            each.export_metrics(foundation.metrics)
