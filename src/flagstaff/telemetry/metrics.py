"""Metrics for Prometheus. The hot path only adds to plain integers, which are read on request."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

import structlog
from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from flagstaff import __version__
from flagstaff.telemetry import sums

log = structlog.get_logger(__name__)

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Board(Protocol):
    """Shared memory in which processes that serve as one leave their figures, by slot."""

    count: int
    began: float
    """The time at which counting began, in seconds since 1970."""

    @property
    def serving(self) -> list[int]:
        """The slots of those that run."""

    def write_figures(self, slot: int, figures: bytes) -> bool:
        """Replace the figures of a slot; False if there is no room for them."""

    def read_figures(self, slot: int) -> bytes:
        """Read the last figures; empty if there are none."""


class Metrics:
    """The metrics of one process, in their own registry, or the sums of all workers' metrics."""

    def __init__(self, board: Board | None = None, slot: int = 0) -> None:
        """On a `board` this process continues the counters of the one that had the slot before."""
        self._board, self._slot = board, slot
        self.began = board.began if board else time.time()
        """The time at which all counters were 0, in seconds since 1970."""
        self._combine: dict[str, sums.Combine] = {"flagstaff_build": max, "process_start_time_seconds": min}
        self._before = sums.growing(sums.decode(board.read_figures(slot) or sums.encode([]))) if board else []
        self.evaluate_responses: defaultdict[int, int] = defaultdict(int)  # a Counter's += is a call into Python
        """Answers to evaluations by status: `metrics.evaluate_responses[200] += 1`."""
        self.event_responses: defaultdict[int, int] = defaultdict(int)
        """Answers to requests with events of metrics, by status."""
        self.protocol_refusals: defaultdict[int, int] = defaultdict(int)
        """Requests and connections that were refused before they reached the application, by status."""
        self._read_figures: list[Callable[[], Metric]] = []
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "flagstaff_http_requests",
            "Requests answered, except evaluations and events of metrics.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._request_seconds = Histogram(
            "flagstaff_http_request_duration_seconds",
            "How long requests took, except evaluations.",
            ["method", "route"],
            registry=self._registry,
        )
        Info("flagstaff_build", "The version of Flagstaff.", registry=self._registry).info({"version": __version__})
        ProcessCollector(registry=self._registry)
        self._registry.register(self)

    def observe_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the template of its path, not the path itself."""
        # Clients may send invented methods, and each new label would stay in memory forever.
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(method, route).observe(seconds)

    def add_counter(
        self, name: str, meaning: str, read: Callable[[], float], combine: sums.Combine | None = None
    ) -> None:
        """Export the result of `read`, which must never decrease, as `flagstaff_{name}_total`.

        `combine` combines the values of two workers; otherwise they are added up.
        """
        self._record_combination(name, combine)
        self._read_figures.append(lambda: CounterMetricFamily(f"flagstaff_{name}", meaning, value=read()))

    def add_gauge(
        self, name: str, meaning: str, read: Callable[[], float], combine: sums.Combine | None = None
    ) -> None:
        """Export the current result of `read` as `flagstaff_{name}`, with `combine` as in `add_counter`."""
        self._record_combination(name, combine)
        self._read_figures.append(lambda: GaugeMetricFamily(f"flagstaff_{name}", meaning, value=read()))

    def add_labelled_counter(
        self, name: str, meaning: str, label: str, read: Callable[[], Mapping[str, float]]
    ) -> None:
        """Export what `read` returns, by the label's values, as `flagstaff_{name}_total`; the values only ever grow."""
        self._read_figures.append(
            lambda: _labelled(CounterMetricFamily(f"flagstaff_{name}", meaning, labels=[label]), read())
        )

    def add_labelled_gauge(
        self,
        name: str,
        meaning: str,
        label: str,
        read: Callable[[], Mapping[str, float]],
        combine: sums.Combine | None = None,
    ) -> None:
        """Export what `read` returns at the moment, by the label's values, as `flagstaff_{name}`."""
        self._record_combination(name, combine)
        self._read_figures.append(
            lambda: _labelled(GaugeMetricFamily(f"flagstaff_{name}", meaning, labels=[label]), read())
        )

    def add_histogram(self, name: str, meaning: str, buckets: Sequence[float]) -> Callable[[float], None]:
        """Export the values with which the result is called as `flagstaff_{name}`; `buckets` are their upper bounds."""
        return Histogram(f"flagstaff_{name}", meaning, buckets=buckets, registry=self._registry).observe

    def add_labelled_histogram(
        self, name: str, meaning: str, label: str, buckets: Sequence[float]
    ) -> Callable[[str, float], None]:
        """Do as `add_histogram`; the result is called with the label's value and the measured one."""
        histogram = Histogram(f"flagstaff_{name}", meaning, [label], buckets=buckets, registry=self._registry)
        return lambda given, value: histogram.labels(given).observe(value)

    def collect(self) -> Iterator[Metric]:
        """The metrics that are read on demand. The registry calls this method."""
        for name, meaning, counts in (
            ("evaluate_responses", "Evaluations answered, by status.", self.evaluate_responses),
            ("event_responses", "Requests with events of metrics answered, by status.", self.event_responses),
            (
                "protocol_refusals",
                "Requests and connections refused before they reached the application, by status.",
                self.protocol_refusals,
            ),
        ):
            family = CounterMetricFamily(f"flagstaff_{name}", meaning, labels=["status"])
            for status, count in sorted(counts.items()):
                family.add_metric([str(status)], count)
            yield family
        for read in self._read_figures:
            yield read()

    def render(self) -> tuple[bytes, str]:
        """The metrics in Prometheus's text format, and the content type."""
        if self._board is None:
            return generate_latest(self._registry), CONTENT_TYPE_LATEST
        return generate_latest(sums.Collected(self.families())), CONTENT_TYPE_LATEST

    def families(self) -> list[sums.Family]:
        """The metrics as plain values."""
        if self._board is None:
            return sums.families_of(self._registry.collect())
        self.publish()  # what was once seen must be counted on if this process is killed
        return sums.add_up((self._figures_at(slot) for slot in range(self._board.count)), self._combine)

    def publish(self) -> None:
        """Leave the figures of this process for the others."""
        if self._board is None:
            return
        own = sums.families_of(self._registry.collect())
        # Without `combine`, which is for processes that run at the same time: a counter goes on from where it was.
        if not self._board.write_figures(self._slot, sums.encode(sums.add_up((own, self._before), {}))):
            log.error("figures_too_large", advice="/metrics shows older figures of this worker")

    def _figures_at(self, slot: int) -> list[sums.Family]:
        """Read the figures of a slot: of a worker that has ended, the counters, which its successor continues."""
        assert self._board is not None
        families = sums.decode(self._board.read_figures(slot) or sums.encode([]))
        return families if slot in self._board.serving or slot == self._slot else sums.growing(families)

    def _record_combination(self, name: str, combine: sums.Combine | None) -> None:
        if combine is not None:
            self._combine[f"flagstaff_{name}"] = combine


def _labelled(family: CounterMetricFamily | GaugeMetricFamily, values: Mapping[str, float]) -> Metric:
    for label, value in values.items():
        family.add_metric([label], value)
    return family
