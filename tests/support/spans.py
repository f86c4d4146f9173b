"""Spans that are kept in memory after their end."""

from collections.abc import Sequence

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from flagstaff.telemetry.otel.assembly import make_propagator
from flagstaff.telemetry.otel.tracing import Beginning, Sampling, TraceIds, Tracing

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def sampling(ratio: float, *, follows_parent: bool = True) -> Sampling:
    """Return a sampling decision with the usual propagators."""
    return Sampling(ratio, make_propagator(["tracecontext", "baggage"]), follows_parent=follows_parent)


class Spans:
    """Creates spans, and keeps those that have ended."""

    def __init__(self) -> None:
        self._kept = InMemorySpanExporter()
        ids, decision = TraceIds(), sampling(1.0)
        provider = TracerProvider(decision.sampler, shutdown_on_exit=False, id_generator=ids)
        provider.add_span_processor(SimpleSpanProcessor(self._kept))
        self.tracing = Tracing(provider, ids, decision, {"server.address": "flags.test"})

    @property
    def ended(self) -> Sequence[ReadableSpan]:
        return self._kept.get_finished_spans()

    def begin(self, traceparent: str = f"00-{TRACE}-{CALLER}-01") -> Beginning:
        beginning = self.tracing.draw([(b"traceparent", traceparent.encode())])
        assert beginning is not None
        return beginning
