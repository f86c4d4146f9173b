"""Flagstaff's metrics in OpenTelemetry's form: the names, labels and values are the same as in `/metrics`."""

import asyncio
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from importlib.metadata import version
from time import time_ns
from typing import Any

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from flagstaff.telemetry.metrics import Metrics
from flagstaff.telemetry.otel.receiver import Receiver
from flagstaff.telemetry.sums import Family

_CUMULATIVE = AggregationTemporality.CUMULATIVE
_UNKNOWN: Any = None  # may be left out, although the SDK's own histograms always know them
_NANOSECONDS = 1_000_000_000


class MetricFeed:
    """Sends the metrics again and again."""

    def __init__(self, receiver: Receiver[MetricsData], resource: Resource, *, every_seconds: float) -> None:
        self.receiver = receiver
        self._resource, self._scope = resource, InstrumentationScope("flagstaff", version("flagstaff"))
        self._every_seconds = every_seconds
        self._ending = asyncio.Event()

    async def run(self, metrics: Metrics) -> None:
        """Send until `end` is called, and then once more."""
        is_last = False
        while not is_last:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every_seconds):
                    await self._ending.wait()
            is_last = self._ending.is_set()
            await self.receiver.send(self._convert(metrics))

    def end(self) -> None:
        """Let `run` send the last figures and return."""
        self._ending.set()

    def close(self) -> None:
        """Close the connections."""
        self.receiver.close()

    def _convert(self, metrics: Metrics) -> MetricsData:
        began, now = int(metrics.began * _NANOSECONDS), time_ns()
        converted = [each for family in metrics.families() for each in _convert(family, began, now)]
        return MetricsData([ResourceMetrics(self._resource, [ScopeMetrics(self._scope, converted, "")], "")])


def _convert(family: Family, began: int, now: int) -> Iterator[Metric]:
    if family.kind == "histogram":
        if points := list(_histogram_points(family, began, now)):
            yield Metric(family.name, family.meaning, family.unit, Histogram(points, _CUMULATIVE))
        return
    named: dict[str, list[NumberDataPoint]] = {}
    is_counter = family.kind == "counter"
    for name, labels, value in family.samples:
        if not (is_counter and name.endswith("_created")):  # each point has the time since which it counts
            named.setdefault(name, []).append(NumberDataPoint(labels, began if is_counter else 0, now, value))
    for name, numbers in named.items():
        data = Sum(numbers, _CUMULATIVE, is_monotonic=True) if is_counter else Gauge(numbers)
        yield Metric(name, family.meaning, family.unit, data)


def _histogram_points(family: Family, began: int, now: int) -> Iterator[HistogramDataPoint]:
    by_labels: dict[tuple[tuple[str, str], ...], _Distribution] = {}
    for name, labels, value in family.samples:
        key = tuple(sorted((label, text) for label, text in labels.items() if label != "le"))
        distribution = by_labels.setdefault(key, _Distribution())
        if name.endswith("_bucket"):
            distribution.up_to[float(labels["le"])] = int(value)
        elif name.endswith("_sum"):
            distribution.sum = value
    for key, distribution in by_labels.items():
        yield distribution.point(dict(key), began, now)


class _Distribution:
    """A histogram with certain labels: how many values there were up to each bound."""

    def __init__(self) -> None:
        self.up_to: dict[float, int] = {}
        self.sum = 0.0

    def point(self, labels: Mapping[str, str], began: int, now: int) -> HistogramDataPoint:
        bounds = sorted(self.up_to)
        counts = [self.up_to[bound] for bound in bounds]
        return HistogramDataPoint(
            attributes=labels,
            start_time_unix_nano=began,
            time_unix_nano=now,
            count=counts[-1],
            sum=self.sum,
            bucket_counts=list(_differences(counts)),
            explicit_bounds=[bound for bound in bounds if bound != math.inf],
            min=_UNKNOWN,
            max=_UNKNOWN,
        )


def _differences(counts: Iterable[int]) -> Iterator[int]:
    before = 0
    for count in counts:
        yield count - before
        before = count
