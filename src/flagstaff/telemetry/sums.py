"""Figures of several processes as one: counters, histograms and most gauges are added up."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import add

import msgspec
from prometheus_client.core import Metric

Combine = Callable[[float, float], float]

_GROWING = ("counter", "histogram")


class Family(msgspec.Struct, array_like=True):
    """A metric of one process: its samples are names, labels and values."""

    name: str
    kind: str
    meaning: str
    unit: str
    samples: list[tuple[str, dict[str, str], float]]


def families_of(metrics: Iterable[Metric]) -> list[Family]:
    """The metrics in a form that can be sent."""
    return [
        Family(
            each.name,
            each.type,
            each.documentation,
            each.unit,
            [(sample.name, dict(sample.labels), float(sample.value)) for sample in each.samples],
        )
        for each in metrics
    ]


def growing(families: Iterable[Family]) -> list[Family]:
    """Return the figures that only grow, and so must count on when a process is replaced."""
    return [each for each in families if each.kind in _GROWING]


def add_up(parts: Iterable[Sequence[Family]], combine: Mapping[str, Combine]) -> list[Family]:
    """The families of all parts as one list. `combine` has the families whose values are not added but combined.

    Of the times at which counting started, the sum has the earliest.
    """
    sums: dict[str, tuple[Family, dict[tuple[str, tuple[tuple[str, str], ...]], float]]] = {}
    for family in (each for part in parts for each in part):
        _, values = sums.setdefault(family.name, (family, {}))
        for name, labels, value in family.samples:
            key = name, tuple(labels.items())
            join = min if name.endswith("_created") else combine.get(family.name, add)
            values[key] = join(values[key], value) if key in values else value
    return [
        Family(
            family.name,
            family.kind,
            family.meaning,
            family.unit,
            [(name, dict(labels), value) for (name, labels), value in values.items()],
        )
        for family, values in sums.values()
    ]


class Collected:
    """Families as a collector, which Prometheus's library renders."""

    def __init__(self, families: Iterable[Family]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        """The metrics."""
        for family in self._families:
            metric = Metric(family.name, family.meaning, family.kind, family.unit)
            for name, labels, value in family.samples:
                metric.add_sample(name, labels, value)
            yield metric


encode = msgspec.msgpack.Encoder().encode
decode = msgspec.msgpack.Decoder(list[Family]).decode
