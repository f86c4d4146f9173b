"""Request metrics: what applications measure themselves and report in sums, without users.

Unleash's SDKs call them impact metrics. They have charts and thresholds, and never a guard: a guard compares users.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from math import inf
from typing import Literal, NamedTuple

SERIES_MAX = 500
"""The number of series of an environment that are kept: request metrics with their different labels."""
LABELS_MAX = 20
LABELS_MAX_BYTES = 1_000  # as JSON
BUCKETS_MAX = 30
KEPT = timedelta(days=7)
WHOLE = ""
"""The bound of the sample that stands for all observations, and not for those in a bucket."""
INFINITE = "+Inf"


class RequestKind(StrEnum):
    """The kind of a measurement: how often something happened, how much there is, or how sizes are distributed."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


MeasureName = Literal["per_minute", "mean", "p50", "p90", "p95", "p99"]
"""The values of `Measure`."""


class Measure(StrEnum):
    """The number that a chart or a threshold has of a request metric in a span of time."""

    PER_MINUTE = "per_minute"
    """Of a counter its increase, and of a histogram its observations, divided by the minutes."""
    MEAN = "mean"
    """Of a gauge the mean of the reported values, and of a histogram that of its observations."""
    P50 = "p50"
    P90 = "p90"
    P95 = "p95"
    P99 = "p99"
    """Quantiles of a histogram."""


_QUANTILES = {Measure.P50: 0.5, Measure.P90: 0.9, Measure.P95: 0.95, Measure.P99: 0.99}
MEASURES: Mapping[RequestKind, Sequence[Measure]] = {
    RequestKind.COUNTER: (Measure.PER_MINUTE,),
    RequestKind.GAUGE: (Measure.MEAN,),
    RequestKind.HISTOGRAM: (Measure.MEAN, *_QUANTILES, Measure.PER_MINUTE),
}
"""The measures of each kind; the first one is shown unless another is asked for."""


class Sample(NamedTuple):
    """A part of what one series has measured.

    `bound` is `WHOLE`, or the upper bound of a bucket, of which only `times` counts: the observations in this bucket
    alone. Of the whole, `amount` is the increase of a counter, the value of a gauge or the sum of a histogram's
    observations, and `times` the number of observations.
    """

    bound: str
    amount: float
    times: int


@dataclass(frozen=True, slots=True)
class Measured:
    """An application's measurements of one series since its last report. `labels` are sorted by their names."""

    name: str
    kind: RequestKind
    help: str
    labels: tuple[tuple[str, str], ...]
    samples: tuple[Sample, ...]

    @property
    def series(self) -> tuple[str, RequestKind, tuple[tuple[str, str], ...]]:
        """The key that tells it apart from other series of its environment."""
        return self.name, self.kind, self.labels


@dataclass(frozen=True, slots=True)
class Series:
    """A series that is kept. `seen_at` is when it was last reported, to within ten minutes."""

    id: int
    name: str
    kind: RequestKind
    help: str
    labels: Mapping[str, str]
    seen_at: datetime


@dataclass(frozen=True, slots=True)
class RequestMetric:
    """A request metric of an environment, with the values that each of its labels has had."""

    name: str
    kind: RequestKind
    help: str
    labels: Mapping[str, Sequence[str]]
    seen_at: datetime

    @property
    def measures(self) -> Sequence[Measure]:
        """The measures that can be shown of it."""
        return MEASURES[self.kind]


def list_request_metrics(series: Sequence[Series]) -> list[RequestMetric]:
    """The request metrics that these series are of, by name and kind."""
    found: dict[tuple[str, RequestKind], list[Series]] = {}
    for each in series:
        found.setdefault((each.name, each.kind), []).append(each)
    return [
        RequestMetric(
            name,
            kind,
            max(of_metric, key=lambda each: each.seen_at).help,
            {
                label: sorted({each.labels[label] for each in of_metric if label in each.labels})
                for label in sorted({label for each in of_metric for label in each.labels})
            },
            max(each.seen_at for each in of_metric),
        )
        for (name, kind), of_metric in sorted(found.items())
    ]


def of_latest_kind(series: Sequence[Series]) -> list[Series]:
    """The series of the kind that was reported last: an application can change the kind of a request metric."""
    kind = max(series, key=lambda each: each.seen_at).kind
    return [each for each in series if each.kind is kind]


def has_labels(series: Series, wanted: Mapping[str, str]) -> bool:
    """Return whether a series has all of these labels."""
    return all(series.labels.get(label) == value for label, value in wanted.items())


def measure_of(measure: Measure, kind: RequestKind, samples: Sequence[Sample], minutes: float) -> float | None:
    """A measure of what was reported in a span of minutes; None if nothing was, or nothing of which it could be told.

    `samples` may be of several series and reports: they are added up.
    """
    if not samples:
        return None
    amount = sum(each.amount for each in samples if each.bound == WHOLE)
    times = sum(each.times for each in samples if each.bound == WHOLE)
    if measure is Measure.PER_MINUTE:
        return (amount if kind is RequestKind.COUNTER else times) / minutes
    if not times:
        return None
    if measure is Measure.MEAN:
        return amount / times
    return quantile(_QUANTILES[measure], samples)


def quantile(share: float, samples: Sequence[Sample]) -> float | None:
    """The value below which a share of a histogram's observations lies; None if no bucket has any.

    Within a bucket, observations count as spread evenly, and the lowest bucket with a positive bound as starting at 0.
    Of those above the highest bound only that is known, which is returned. So does `histogram_quantile` of Prometheus,
    from whose documentation the rule is taken.
    """
    buckets: dict[float, int] = {}
    for each in samples:
        if each.bound != WHOLE:
            bound = inf if each.bound == INFINITE else float(each.bound)
            buckets[bound] = buckets.get(bound, 0) + each.times
    wanted = share * sum(buckets.values())
    if not wanted:
        return None
    below, lower = 0, None
    for bound in sorted(buckets):
        if below + buckets[bound] >= wanted:
            if bound == inf:
                return lower
            start = (0.0 if bound > 0 else bound) if lower is None else lower
            return min(bound, start + (bound - start) * (wanted - below) / buckets[bound])  # without the last rounding
        below += buckets[bound]
        lower = bound
    return lower
