"""Builds what makes and sends traces and metrics, out of the SDK. Threads and connections begin later, with `run`."""

import logging
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import partial
from importlib.metadata import entry_points

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.propagators.composite import CompositePropagator
from opentelemetry.propagators.textmap import TextMapPropagator
from opentelemetry.sdk.metrics.export import MetricExportResult, MetricsData
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import SpanExportResult

from flagstaff.telemetry.metrics import Metrics
from flagstaff.telemetry.otel.figures import MetricFeed
from flagstaff.telemetry.otel.receiver import Receiver
from flagstaff.telemetry.otel.session import make_session
from flagstaff.telemetry.otel.spans import SpanQueue
from flagstaff.telemetry.otel.tracing import Attributes, Sampling, TraceIds, Tracing

_QUOTE_CALLERS = ("opentelemetry.baggage", "opentelemetry.trace.propagation", "opentelemetry.trace.span")
_LIMITS = SpanLimits()  # reads OTEL_*_LIMIT here, so that the import fails before anything has begun


class Telemetry:
    """Makes and sends traces, metrics, or both."""

    def __init__(self, traces: tuple[Tracing, SpanQueue] | None, metrics: MetricFeed | None) -> None:
        self.tracing: Tracing | None = traces[0] if traces else None
        self._spans: SpanQueue | None = traces[1] if traces else None
        self._feed = metrics

    def senders(self, metrics: Metrics) -> Iterator[tuple[str, Callable[[], Awaitable[None]], Callable[[], bool]]]:
        """Return the senders that run as long as the process: the name, the work, and whether it succeeds."""
        if spans := self._spans:
            yield "otlp-traces", spans.run, lambda: spans.receiver.is_working
        if feed := self._feed:
            yield "otlp-metrics", partial(feed.run, metrics), lambda: feed.receiver.is_working

    def end(self) -> None:
        """Let the senders send what is left and return."""
        if self._spans:
            self._spans.end()
        if self._feed:
            self._feed.end()

    def close(self) -> None:
        """Drop what the senders have not sent in time."""
        if self._spans:
            self._spans.close()
        if self._feed:
            self._feed.close()

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the counts of spans and of failures."""
        metrics.add_counter("otlp_spans_sent", "Spans that OpenTelemetry's receiver has accepted.", lambda: self.sent)
        metrics.add_counter("otlp_spans_dropped", "Spans that were not sent.", lambda: self.dropped)
        metrics.add_labelled_counter(
            "otlp_failures", "Requests that the receiver did not accept.", "signal", self.count_failures
        )

    @property
    def sent(self) -> int:
        """The number of spans that the receiver has accepted."""
        return self._spans.sent if self._spans else 0

    @property
    def dropped(self) -> int:
        """The number of spans that were not sent."""
        return self._spans.dropped if self._spans else 0

    def count_failures(self) -> dict[str, int]:
        """The number of times that each signal was not accepted."""
        receivers = {"traces": self._spans and self._spans.receiver, "metrics": self._feed and self._feed.receiver}
        return {signal: receiver.failures for signal, receiver in receivers.items() if receiver}


def make_resource(attributes: Attributes) -> Resource:
    """The attributes of everything that is sent. The variables OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME win."""
    return Resource.create(dict(attributes)).merge(OTELResourceDetector().detect())


def make_propagator(names: Sequence[str]) -> TextMapPropagator:
    """Make the reader of callers' traces, from installed propagators. Nothing that callers send is logged.

    Baggage is not read: nothing here uses it, and reading it takes any caller's header a time that is quadratic.
    """
    for logger in _QUOTE_CALLERS:
        logging.getLogger(logger).setLevel(logging.ERROR)
    found = (entry_points(group="opentelemetry_propagator", name=name) for name in names if name != "baggage")
    return CompositePropagator([next(iter(points)).load()() for points in found])


def make_traces(  # noqa: PLR0913 - all of them are settings
    resource: Resource,
    server: Attributes,
    *,
    ratio: float,
    follows_parent: bool,
    propagators: Sequence[str],
    timeout_seconds: float,
    every_seconds: float,
    batch_spans: int,
    queue_spans: int,
) -> tuple[Tracing, SpanQueue]:
    """Make the tracer, and the queue in which spans wait; `server` has the attributes of every request's span."""
    exporter = OTLPSpanExporter(timeout=timeout_seconds, session=make_session())

    def export(spans: Sequence[ReadableSpan]) -> bool:
        return exporter.export(spans) is SpanExportResult.SUCCESS

    receiver = Receiver(
        "traces",
        export,
        close=exporter.shutdown,
        logger=OTLPSpanExporter.__module__,
        timeout_seconds=timeout_seconds,
    )
    queue = SpanQueue(receiver, most=queue_spans, batch=batch_spans, every_seconds=every_seconds)
    ids, sampling = TraceIds(), Sampling(ratio, make_propagator(propagators), follows_parent=follows_parent)
    # Not registered as the global one, which libraries would use for spans of their own.
    provider = TracerProvider(sampling.sampler, resource, shutdown_on_exit=False, id_generator=ids, span_limits=_LIMITS)
    provider.add_span_processor(queue)
    return Tracing(provider, ids, sampling, server), queue


def make_metrics(resource: Resource, *, timeout_seconds: float, every_seconds: float) -> MetricFeed:
    """Make the sender of metrics."""
    exporter = OTLPMetricExporter(timeout=timeout_seconds, session=make_session())

    def export(data: MetricsData) -> bool:
        return exporter.export(data) is MetricExportResult.SUCCESS

    receiver = Receiver(
        "metrics",
        export,
        close=exporter.shutdown,
        logger=OTLPMetricExporter.__module__,
        timeout_seconds=timeout_seconds,
    )
    return MetricFeed(receiver, resource, every_seconds=every_seconds)
