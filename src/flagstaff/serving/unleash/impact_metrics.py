"""Measurements that Unleash's SDKs send with their reports, which are kept as request metrics.

The form is "impact metrics" in Unleash's client specification. Values that cannot be read or are beyond a bound are
left out and counted: a report that is refused would also lose the counts of flags, and its client would stop reporting.
"""

from collections.abc import Sequence
from itertools import islice, pairwise
from math import inf, isfinite, isnan
from typing import NamedTuple

import msgspec

from flagstaff.history.applications import COUNT_MAX, claimed
from flagstaff.http.slices import slices
from flagstaff.metrics.request_metrics import (
    BUCKETS_MAX,
    INFINITE,
    LABELS_MAX,
    LABELS_MAX_BYTES,
    WHOLE,
    Measured,
    RequestKind,
    Sample,
)
from flagstaff.serving.context import UNREADABLE
from flagstaff.values.errors import Error

SAMPLES_MAX = 5_000  # of all request metrics in a report
_METRICS_MAX = 200
_SERIES_MAX = 500
_AMOUNT_MAX = 1e15
_APPLICATION, _ENVIRONMENT = "appName", "environment"


class _Bucket(msgspec.Struct):
    le: float | str
    count: int


class _Sample(msgspec.Struct):
    labels: dict[str, str] | None = None
    value: float | None = None
    count: int = 0
    sum: float = 0.0
    buckets: list[_Bucket] = []


class _Metric(msgspec.Struct, rename="camel"):
    name: str
    type: RequestKind
    samples: msgspec.Raw
    help: str = ""
    app_name: str | None = None
    environment: str | None = None


class Readings(NamedTuple):
    """The measurements of a report, and how many further samples could not be kept."""

    measured: list[Measured]
    dropped: int


_read_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_read_samples_of = msgspec.json.Decoder(list[_Sample]).decode
_read_metric = msgspec.json.Decoder(_Metric).decode
_write_labels = msgspec.json.Encoder().encode
NOTHING = Readings([], 0)


def read_measured(given: msgspec.Raw, application: str, environment: str | None = None) -> Readings:
    """Read the metrics of a report; `application` is the name that the sender gives itself.

    With an environment's key, metrics of other environments are skipped: an Edge reports for several.
    """
    if not given or given == b"null":
        return NOTHING
    found: list[Measured] = []
    samples = 0
    metrics, dropped = _list_metrics(given)
    for raw in metrics:
        try:
            metric = _read_metric(raw)
            given_samples = _list_samples(metric)
        except (Error, *UNREADABLE):
            dropped += 1
            continue
        for each in given_samples:
            labels = {_APPLICATION: metric.app_name or application, **(each.labels or {})}
            if environment is not None and environment != (metric.environment or labels.get(_ENVIRONMENT, environment)):
                continue
            kept = _kept_labels(labels)
            read = _read_samples(metric.type, each)
            if kept is None or read is None or len(found) >= _SERIES_MAX or samples + len(read) > SAMPLES_MAX:
                dropped += 1
                continue
            samples += len(read)
            found.append(Measured(claimed(metric.name), metric.type, claimed(metric.help), kept, read))
    return Readings(found, dropped)


def _list_metrics(given: msgspec.Raw) -> tuple[list[msgspec.Raw], int]:
    """Read the first metrics of a list, and count the others."""
    metrics: list[msgspec.Raw] = []
    dropped = 0
    for part in slices(bytes(given), item_max_bytes=len(given)):  # metrics are not read yet, however long
        try:
            items = _read_list(part)
        except UNREADABLE:
            return [], 1
        room = _METRICS_MAX - len(metrics)
        metrics += items[:room]
        dropped += len(items[room:])
    return metrics, dropped


def _list_samples(metric: _Metric) -> list[_Sample]:
    """Read a metric's samples.

    Raises:
        Error, msgspec.MsgspecError: for one that is too long, and for anything else.
    """
    samples: list[_Sample] = []
    for part in slices(bytes(metric.samples)):
        samples += _read_samples_of(part)
    return samples


def _kept_labels(labels: dict[str, str]) -> tuple[tuple[str, str], ...] | None:
    """The labels in the order of their names, without the environment's; None if they are too many or too long."""
    kept = {claimed(name): claimed(value) for name, value in islice(labels.items(), LABELS_MAX + 2)}
    kept.pop(_ENVIRONMENT, None)
    if len(kept) > LABELS_MAX or len(_write_labels(kept)) > LABELS_MAX_BYTES:
        return None
    return tuple(sorted(kept.items()))


def _read_samples(kind: RequestKind, given: _Sample) -> tuple[Sample, ...] | None:
    """Read a sample; None if it cannot be read."""
    if kind is RequestKind.HISTOGRAM:
        buckets = _read_buckets(given.buckets)
        if buckets is None or given.count < 0 or not isfinite(given.sum):
            return None
        return (Sample(WHOLE, _bounded(given.sum), min(given.count, COUNT_MAX)), *buckets)
    if given.value is None or not isfinite(given.value) or (kind is RequestKind.COUNTER and given.value < 0):
        return None
    return (Sample(WHOLE, _bounded(given.value), 1),)


def _read_buckets(given: Sequence[_Bucket]) -> list[Sample] | None:
    """The buckets with the observations in each alone; None if they cannot be read.

    Empty ones are left out, except below one that is not: it says where that begins.
    """
    if len(given) > BUCKETS_MAX:
        return None
    counts: dict[float, int] = {}
    for each in given:
        bound = inf if each.le == INFINITE else each.le
        if isinstance(bound, str) or isnan(bound) or bound < -_AMOUNT_MAX or _AMOUNT_MAX < bound < inf:
            return None
        counts[bound] = min(max(each.count, 0), COUNT_MAX)
    ordered = [(-inf, 0), *sorted(counts.items())]
    alone = [(bound, max(0, count - before)) for (_, before), (bound, count) in pairwise(ordered)]
    return [
        Sample(INFINITE if bound == inf else repr(bound), 0.0, count)
        for (bound, count), (_, above) in pairwise([*alone, (inf, 0)])
        if count or above
    ]


def _bounded(amount: float) -> float:
    return min(max(amount, -_AMOUNT_MAX), _AMOUNT_MAX)
