"""Builds what monitoring asks: whether this process is ready, and its metrics."""

from collections.abc import Callable

from flagstaff.assembly.foundation import Foundation, PeriodicTask
from flagstaff.assembly.health import Shared
from flagstaff.database.readiness import Readiness
from flagstaff.http.probes import Probes
from flagstaff.values.errors import unavailable

_FIGURES_SECONDS = 1.0


def build_probes(
    foundation: Foundation, find_problems: Callable[[], list[str]], answers_evaluations: Callable[[], bool]
) -> None:
    """The checks behind `/ready` and `/metrics`. `find_problems` returns sentences about what does not work."""
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

    readiness = Readiness(foundation.database, answers_evaluations, find_all_problems)
    foundation.services.append(Probes(require_staying, Shared(readiness.check), Shared(render)))
    if worker:
        foundation.periodic_tasks.append(
            PeriodicTask("worker-figures", _FIGURES_SECONDS, publish, "tells the other workers this one's metrics")
        )
    _add_metrics(foundation)


def _add_metrics(foundation: Foundation) -> None:
    metrics, health, tasks = foundation.metrics, foundation.database.health, foundation.supervisor
    metrics.add_labelled_gauge(
        "store_up", "Whether the store is there and undamaged: 1 or 0.", "store", lambda: health.up, min
    )
    metrics.add_gauge(
        "writes_refused", "Whether the database refused the last write: 1 or 0.", lambda: health.is_refusing_writes, max
    )
    metrics.add_labelled_gauge("task_up", "Whether a task works: 1 or 0.", "task", lambda: tasks.up, min)
    metrics.add_labelled_counter("task_restarts", "Restarts of a task.", "task", lambda: tasks.restarts)
    if telemetry := foundation.telemetry:
        metrics.add_counter(
            "otlp_spans_sent", "Spans that OpenTelemetry's receiver has accepted.", lambda: telemetry.sent
        )
        metrics.add_counter("otlp_spans_dropped", "Spans that were not sent.", lambda: telemetry.dropped)
        metrics.add_labelled_counter(
            "otlp_failures", "What the receiver did not accept.", "signal", telemetry.count_failures
        )
