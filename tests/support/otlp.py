"""A real receiver of OTLP over HTTP, which decodes requests with OpenTelemetry's own message types."""

import gzip
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self

from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from prometheus_client.parser import text_string_to_metric_families

Answer = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True, slots=True)
class ReceivedSpan:
    """A span, with the resource attributes of its process."""

    name: str
    kind: int
    trace_id: str
    span_id: str
    parent_id: str
    attributes: Mapping[str, Any]
    is_error: bool
    seconds: float
    resource: Mapping[str, Any] = field(repr=False)


class OtlpReceiver:
    """Receives traces and metrics on a free port of this machine while the context lasts."""

    def __init__(self, answer: Answer | None = None, *, port: int = 0) -> None:
        """`answer`, if given, answers instead, once the request has been read."""
        self.spans: list[ReceivedSpan] = []
        self.metrics: list[dict[str, Metric]] = []
        """Each of the requests with metrics, by name."""
        self.resources: list[Mapping[str, Any]] = []
        """The resource attributes of the senders of metrics."""
        self.headers: list[Mapping[str, str]] = []
        self.requests = 0
        self.clients: set[int] = set()
        """The other ends of the connections."""
        self._changed = threading.Condition()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler(answer))
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_for(self, condition: Callable[[], Any], seconds: float = 30) -> None:
        """Wait until something received makes the condition true."""
        with self._changed:
            assert self._changed.wait_for(condition, seconds), "it was not received"

    def trace(self, trace_id: str) -> list[ReceivedSpan]:
        """Return the spans of a trace."""
        return [span for span in self.spans if span.trace_id == trace_id]

    def _handler(self, answer: Answer | None) -> type[BaseHTTPRequestHandler]:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                with receiver._changed:
                    receiver.requests += 1
                    receiver.clients.add(self.client_address[1])
                    receiver._changed.notify_all()
                if answer is not None:
                    with suppress(OSError):  # the client may have left
                        answer(self)
                    return
                receiver._take(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
                self.send_response(200)
                self.send_header("content-type", "application/x-protobuf")
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        return Handler

    def _take(self, path: str, headers: Mapping[str, str], body: bytes) -> None:
        assert headers["content-type"] == "application/x-protobuf"
        if headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        with self._changed:
            self.headers.append(headers)
            if path == "/v1/traces":
                self.spans += _spans(ExportTraceServiceRequest.FromString(body))
            elif path == "/v1/metrics":
                request = ExportMetricsServiceRequest.FromString(body)
                for each in request.resource_metrics:
                    self.resources.append(_plain(each.resource.attributes))
                    self.metrics.append(
                        {metric.name: metric for scope in each.scope_metrics for metric in scope.metrics}
                    )
            self._changed.notify_all()


def _spans(request: ExportTraceServiceRequest) -> Iterator[ReceivedSpan]:
    for each in request.resource_spans:
        resource = _plain(each.resource.attributes)
        for scope in each.scope_spans:
            for span in scope.spans:
                yield _read(span, resource)


def _read(span: Span, resource: Mapping[str, Any]) -> ReceivedSpan:
    return ReceivedSpan(
        span.name,
        span.kind,
        span.trace_id.hex(),
        span.span_id.hex(),
        span.parent_span_id.hex(),
        _plain(span.attributes),
        span.status.code == 2,
        (span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
        resource,
    )


def _plain(attributes: Iterator[KeyValue]) -> dict[str, Any]:
    return {each.key: getattr(each.value, str(each.value.WhichOneof("value"))) for each in attributes}


def plain(metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Return received metrics by name and labels, as in Prometheus's text."""
    found: dict[str, float] = {}
    for name, metric in metrics.items():
        kind = metric.WhichOneof("data")
        for point in getattr(metric, str(kind)).data_points:
            labels = {each.key: each.value.string_value for each in point.attributes}
            if kind != "histogram":
                found[_name(name, labels)] = point.as_double
                continue
            total = 0
            bounds = [str(float(bound)) for bound in point.explicit_bounds]
            for bound, count in zip([*bounds, "+Inf"], point.bucket_counts, strict=True):
                total += count
                found[_name(f"{name}_bucket", {**labels, "le": bound})] = total
            found[_name(f"{name}_sum", labels)] = point.sum
            found[_name(f"{name}_count", labels)] = point.count
    return found


def read_text(text: str) -> dict[str, float]:
    """Return Prometheus's text in the same form."""
    samples = (sample for family in text_string_to_metric_families(text) for sample in family.samples)
    return {_name(sample.name, sample.labels): sample.value for sample in samples}


def _name(name: str, labels: Any) -> str:
    return name + "".join(f"|{label}={labels[label]}" for label in sorted(labels))
