"""Metrics for Prometheus. The hot path only adds to plain integers, which are read on request."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import version

from prometheus_client import CollectorRegistry, Counter, Histogram, Info, ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Metrics:
    """The metrics of one process, in their own registry."""

    def __init__(self) -> None:
        self.evaluate_responses: defaultdict[int, int] = defaultdict(int)  # a Counter's += is a call into Python
        """Answers to evaluations by status: `metrics.evaluate_responses[200] += 1`."""
        self.protocol_refusals: defaultdict[int, int] = defaultdict(int)
        """Requests and connections that were refused before they reached the application, by status."""
        self._read_figures: list[Callable[[], Metric]] = []
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "flagstaff_http_requests",
            "Requests answered, except evaluations.",
            ["method", "route", "status"],
            registry=self._registry,
        )
        self._request_seconds = Histogram(
            "flagstaff_http_request_duration_seconds",
            "How long requests took, except evaluations.",
            ["method", "route"],
            registry=self._registry,
        )
        Info("flagstaff_build", "The version of Flagstaff.", registry=self._registry).info(
            {"version": version("flagstaff")}
        )
        ProcessCollector(registry=self._registry)
        self._registry.register(self)

    def observe_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count a request; `route` is the template of its path, not the path itself."""
        # Clients may send invented methods, and each new label would stay in memory forever.
        method = method if method in _METHODS else "other"
        self._requests.labels(method, route, str(status)).inc()
        self._request_seconds.labels(method, route).observe(seconds)

    def add_counter(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Export the result of `read`, which must never decrease, as `flagstaff_{name}_total`."""
        self._read_figures.append(lambda: CounterMetricFamily(f"flagstaff_{name}", meaning, value=read()))

    def add_gauge(self, name: str, meaning: str, read: Callable[[], float]) -> None:
        """Export the current result of `read` as `flagstaff_{name}`."""
        self._read_figures.append(lambda: GaugeMetricFamily(f"flagstaff_{name}", meaning, value=read()))

    def add_labelled_counter(
        self, name: str, meaning: str, label: str, read: Callable[[], Mapping[str, float]]
    ) -> None:
        """Export what `read` returns, by the label's values, as `flagstaff_{name}_total`; the values only ever grow."""
        self._read_figures.append(
            lambda: _labelled(CounterMetricFamily(f"flagstaff_{name}", meaning, labels=[label]), read())
        )

    def add_labelled_gauge(self, name: str, meaning: str, label: str, read: Callable[[], Mapping[str, float]]) -> None:
        """Export what `read` returns at the moment, by the label's values, as `flagstaff_{name}`."""
        self._read_figures.append(
            lambda: _labelled(GaugeMetricFamily(f"flagstaff_{name}", meaning, labels=[label]), read())
        )

    def collect(self) -> Iterator[Metric]:
        """The metrics that are read on demand. The registry calls this method."""
        evaluations = CounterMetricFamily(
            "flagstaff_evaluate_responses", "Evaluations answered, by status.", labels=["status"]
        )
        for status, count in sorted(self.evaluate_responses.items()):
            evaluations.add_metric([str(status)], count)
        yield evaluations
        refusals = CounterMetricFamily(
            "flagstaff_protocol_refusals",
            "Requests and connections refused before they reached the application, by status.",
            labels=["status"],
        )
        for status, count in sorted(self.protocol_refusals.items()):
            refusals.add_metric([str(status)], count)
        yield refusals
        for read in self._read_figures:
            yield read()

    def render(self) -> tuple[bytes, str]:
        """The metrics in Prometheus's text format, and the content type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST


def _labelled(family: CounterMetricFamily | GaugeMetricFamily, values: Mapping[str, float]) -> Metric:
    for label, value in values.items():
        family.add_metric([label], value)
    return family
