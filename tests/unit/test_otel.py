"""Traces and metrics: which requests are sampled, the queue, and the form of the metrics."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler
from threading import Event

import httpx
import pytest
import requests
import structlog
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.baggage import get_all
from opentelemetry.context import Context
from opentelemetry.propagate import get_global_textmap
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import get_current_span

from flagstaff.telemetry import Metrics, configure_logging
from flagstaff.telemetry.otel.assembly import make_metrics, make_propagator, make_resource
from flagstaff.telemetry.otel.outgoing import TracedTransport
from flagstaff.telemetry.otel.receiver import Receiver
from flagstaff.telemetry.otel.session import make_session
from flagstaff.telemetry.otel.spans import SpanQueue
from tests.support.otlp import OtlpReceiver, plain, read_text
from tests.support.ports import free_port
from tests.support.spans import CALLER, TRACE, Spans, sampling


@pytest.fixture
def spans() -> Spans:
    return Spans()


@pytest.fixture
def log_stream() -> Iterator[io.StringIO]:
    stream = io.StringIO()
    configure_logging("json", stream)
    yield stream
    structlog.reset_defaults()
    logging.getLogger().handlers.clear()


# Sampled requests.


@given(
    trace_id=st.integers(1, 2**128 - 1),
    flags=st.sampled_from(["00", "01", "02", "03"]),
    ratio=st.floats(0, 1),
    follows_parent=st.booleans(),
)
def test_the_decision_is_that_of_the_sdk_s_sampler(
    trace_id: int, flags: str, ratio: float, follows_parent: bool
) -> None:
    decision = sampling(ratio, follows_parent=follows_parent)
    traceparent = f"00-{trace_id:032x}-{CALLER}-{flags}"
    context = get_global_textmap().extract({"traceparent": traceparent}, Context())
    expected = decision.sampler.should_sample(context, trace_id, "GET /")
    drawn = decision.draw([(b"host", b"x"), (b"traceparent", traceparent.encode())])
    assert (drawn is not None) == expected.decision.is_sampled()
    if drawn is not None:
        assert get_current_span(drawn.context).get_span_context().trace_id == trace_id


@pytest.mark.parametrize("ratio", [0.0, 0.5, 1.0])
def test_traces_that_begin_here_are_sampled_by_their_share(ratio: float) -> None:
    decision = sampling(ratio)
    drawn = [decision.draw([(b"host", b"x")]) for _ in range(4000)]
    kept = [each for each in drawn if each is not None]
    assert abs(len(kept) - ratio * len(drawn)) < 400  # more than twelve standard deviations
    for beginning in kept[:100]:
        assert beginning.trace_id is not None
        assert decision.sampler.should_sample(Context(), beginning.trace_id, "GET /").decision.is_sampled()


@pytest.mark.parametrize(
    "traceparent", ["", "hello", f"00-{'0' * 32}-{CALLER}-01", "\xff", f"00-{TRACE}-{CALLER}-01-x"]
)
def test_an_invalid_caller_s_trace_begins_here(traceparent: str) -> None:
    drawn = sampling(1.0).draw([(b"traceparent", traceparent.encode("latin-1"))])
    assert drawn is not None
    assert drawn.trace_id is not None


def test_a_new_trace_has_the_id_that_was_drawn(spans: Spans) -> None:
    drawn = spans.tracing.draw([])
    assert drawn is not None
    spans.tracing.record(drawn, "POST /", {}, 200, 1)
    (span,) = spans.ended
    assert span.context is not None
    assert span.context.trace_id == drawn.trace_id


@pytest.mark.parametrize("ratio", [0.0, 1.0])
@pytest.mark.parametrize(
    "others",
    [
        [(b"baggage", b"\xe9,\xe9")],
        [(b"baggage", b"hush=1,hush=%ff,;")],
        [(b"tracestate", b"HUSH!")],
        [(b"tracestate", b"a=" + b"hush" * 200)],
        [(b"traceparent", b"00-" + b"a" * 600)],
    ],
    ids=["baggage", "another baggage", "tracestate", "long tracestate", "long traceparent"],
)
def test_nothing_of_a_caller_s_headers_is_logged(
    others: list[tuple[bytes, bytes]], ratio: float, log_stream: io.StringIO
) -> None:
    decision = sampling(ratio)
    for headers in (others, [(b"traceparent", f"00-{TRACE}-{CALLER}-01".encode()), *others]):
        decision.draw(headers)
    assert not log_stream.getvalue()


def test_baggage_is_not_read() -> None:
    drawn = sampling(1.0).draw([(b"traceparent", f"00-{TRACE}-{CALLER}-01".encode()), (b"baggage", b"a=b")])
    assert drawn is not None
    assert not get_all(drawn.context)
    assert make_propagator(["baggage"]).fields == set()


# The spans of a request and of its work.


def test_only_a_traced_request_has_parts_and_calls(spans: Spans) -> None:
    with spans.tracing.part("transaction"):
        assert spans.tracing.begin_call("SELECT flags", {}) is None
    spans.tracing.end_call(None)
    assert not spans.ended


def test_an_invented_method_is_not_shown(spans: Spans) -> None:
    with spans.tracing.request(spans.begin(), "HUSH", "http") as request:
        request.end("HUSH", "/api/me", 405)
        request.end("HUSH", "/api/me", 500)  # has no effect after the first call
    (span,) = spans.ended
    assert span.name == "HTTP /api/me"
    assert span.attributes is not None
    assert span.attributes["http.request.method"] == "_OTHER"
    assert span.attributes["http.response.status_code"] == 405


async def test_a_call_over_http_is_a_span_without_its_query(spans: Spans) -> None:
    with OtlpReceiver() as other, spans.tracing.request(spans.begin(), "GET", "http"):
        transport = TracedTransport(spans.tracing, trust_env=False)
        async with httpx.AsyncClient(transport=transport) as client:
            url = f"http://user:hush@127.0.0.1:{other.port}/v1/traces?token=hush"
            await client.post(url, headers={"content-type": "application/x-protobuf"})
            with pytest.raises(httpx.ConnectError):
                await client.get(f"http://127.0.0.1:{free_port()}/")
        assert "traceparent" not in other.headers[0]
    done, failed = spans.ended
    assert done.attributes == {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "server.address": "127.0.0.1",
        "server.port": other.port,
        "url.full": f"http://127.0.0.1:{other.port}/v1/traces",
    }
    assert failed.attributes is not None
    assert failed.attributes["error.type"] == "ConnectError"
    assert not failed.status.is_ok


async def test_a_failed_call_is_named_by_the_kind_of_its_error(spans: Spans) -> None:
    async def send(_: str) -> None:
        raise ConnectionRefusedError("ada@example.com")

    with spans.tracing.request(spans.begin(), "GET", "http"), pytest.raises(ConnectionRefusedError):
        await spans.tracing.call("send mail", {"server.address": "mail"}, send)("a mail")
    (span,) = spans.ended
    assert span.attributes == {"server.address": "mail", "error.type": "ConnectionRefusedError"}
    assert span.status.description is None
    assert not span.events


# The queue.


class Sender:
    """A receiver of spans that waits until it may answer."""

    def __init__(self) -> None:
        self.has_begun, self.may_answer = Event(), Event()
        self.accepts = True
        self.closes = 0
        self.batches: list[int] = []
        self.receiver: Receiver[Sequence[ReadableSpan]] = Receiver(
            "traces", self._send, close=self._close, logger="tests.unit.otel", timeout_seconds=60
        )

    def _send(self, batch: Sequence[ReadableSpan]) -> bool:
        self.has_begun.set()
        self.may_answer.wait()
        self.batches.append(len(batch))
        return self.accepts

    def _close(self) -> None:
        self.closes += 1


@pytest.fixture
def sender() -> Iterator[Sender]:
    made = Sender()
    yield made
    made.may_answer.set()


async def test_a_full_queue_drops_and_counts(sender: Sender, log_stream: io.StringIO) -> None:
    queue = SpanQueue(sender.receiver, most=5, batch=2, every_seconds=60)
    for _ in range(12):
        queue.on_end(ReadableSpan("x"))
    assert queue.dropped == 7
    sender.may_answer.set()
    queue.end()
    await queue.run()
    queue.close()
    assert sender.batches == [2, 2, 1]
    assert (queue.sent, queue.dropped, sender.closes) == (5, 7, 1)
    assert not log_stream.getvalue()


async def test_a_full_batch_is_sent_at_once(sender: Sender) -> None:
    sender.may_answer.set()
    queue = SpanQueue(sender.receiver, most=5, batch=2, every_seconds=3600)
    running = asyncio.create_task(queue.run())
    for _ in range(2):
        queue.on_end(ReadableSpan("x"))
    async with asyncio.timeout(30):
        while queue.sent < 2:
            await asyncio.sleep(0.001)
    queue.end()
    await running


async def test_a_batch_that_is_not_full_waits_also_after_another_was_sent(sender: Sender) -> None:
    queue = SpanQueue(sender.receiver, most=9, batch=2, every_seconds=3600)
    running = asyncio.create_task(queue.run())
    for _ in range(2):
        queue.on_end(ReadableSpan("x"))
    await asyncio.to_thread(sender.has_begun.wait, 30)
    for _ in range(3):
        queue.on_end(ReadableSpan("x"))
    sender.may_answer.set()
    async with asyncio.timeout(30):
        while queue.sent < 4:
            await asyncio.sleep(0.001)
    queue.on_end(ReadableSpan("x"))
    queue.end()
    await running
    assert sender.batches == [2, 2, 2]


async def test_what_is_not_sent_before_the_end_is_dropped_and_logged(sender: Sender, log_stream: io.StringIO) -> None:
    queue = SpanQueue(sender.receiver, most=5, batch=2, every_seconds=60)
    for _ in range(5):
        queue.on_end(ReadableSpan("x"))
    queue.end()
    running = asyncio.create_task(queue.run())
    await asyncio.to_thread(sender.has_begun.wait, 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    queue.close()
    assert (queue.sent, queue.dropped) == (0, 5)
    (entry,) = map(json.loads, log_stream.getvalue().splitlines())
    assert (entry["event"], entry["spans"]) == ("otlp_spans_lost", 5)


async def test_failures_are_counted_and_logged_once_until_a_success(sender: Sender, log_stream: io.StringIO) -> None:
    sender.may_answer.set()
    for accepts in (False, False, True, True, False):
        sender.accepts = accepts
        assert await sender.receiver.send([]) is accepts
        assert sender.receiver.is_working is accepts
    assert sender.receiver.failures == 3
    logged = [json.loads(line)["event"] for line in log_stream.getvalue().splitlines()]
    assert logged == ["otlp_not_sent", "otlp_sent_again", "otlp_not_sent"]


async def test_an_exporter_that_breaks_reaches_the_supervisor() -> None:
    def fail(_: object) -> bool:
        raise RuntimeError("a bug")

    receiver: Receiver[Sequence[ReadableSpan]] = Receiver(
        "traces", fail, close=lambda: None, logger="tests.unit.otel", timeout_seconds=1
    )
    queue = SpanQueue(receiver, most=5, batch=1, every_seconds=60)
    queue.on_end(ReadableSpan("x"))
    with pytest.raises(RuntimeError, match="a bug"):
        await queue.run()
    assert queue.dropped == 1


# The metrics.


async def test_metrics_have_the_names_and_values_that_prometheus_gets(monkeypatch: pytest.MonkeyPatch) -> None:
    metrics = Metrics()
    metrics.observe_request("GET", "/api/me", 200, 0.003)
    metrics.observe_request("GET", "/api/me", 200, 0.07)
    metrics.observe_request("PUT", "/api/me", 503, 99.0)
    metrics.evaluate_responses[200] += 41
    metrics.add_counter("kept", "Kept.", lambda: 7)
    metrics.add_gauge("open", "Open.", lambda: -1.5)
    metrics.add_labelled_gauge("up", "Up.", "task", lambda: {"a": 1, "b": 0})
    metrics.add_labelled_gauge("none", "None.", "task", dict)
    observe = metrics.add_histogram("lag_seconds", "Lag.", (0.1, 0.5))
    for seconds in (0.1, 0.2, 0.3, 3.0):
        observe(seconds)
    with OtlpReceiver() as receiver:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.url)
        monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test,service.version=mine")
        resource = make_resource({"service.name": "flagstaff", "service.version": "0"})
        feed = make_metrics(resource, timeout_seconds=30, every_seconds=60)
        feed.end()
        await feed.run(metrics)
        feed.close()
    assert len(receiver.metrics) == 1
    expected = {
        name: value for name, value in read_text(metrics.render()[0].decode()).items() if "_created" not in name
    }
    sent = plain(receiver.metrics[0])
    assert sent.keys() == expected.keys()
    changing = "process_"
    assert {name: value for name, value in sent.items() if not name.startswith(changing)} == {
        name: value for name, value in expected.items() if not name.startswith(changing)
    }
    lag = receiver.metrics[0]["flagstaff_lag_seconds"].histogram
    assert lag.aggregation_temporality == 2  # cumulative
    (point,) = lag.data_points
    assert (list(point.explicit_bounds), list(point.bucket_counts)) == ([0.1, 0.5], [1, 2, 1])
    assert not point.HasField("max")
    assert point.start_time_unix_nano == int(metrics.began * 1e9)
    kept = receiver.metrics[0]["flagstaff_kept_total"].sum
    assert (kept.is_monotonic, kept.aggregation_temporality) == (True, 2)
    (told,) = receiver.resources
    assert told["service.name"] == "flagstaff"
    assert told["service.version"] == "mine"
    assert told["deployment.environment.name"] == "test"


# The connections.


def send(session: requests.Session, url: str) -> int:
    return session.request("POST", f"{url}/v1/traces", data=b"", timeout=20, allow_redirects=False).status_code


def head(request: BaseHTTPRequestHandler, status: int, **headers: str) -> None:
    request.send_response(status)
    for name, value in headers.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()


@pytest.mark.parametrize("headers", [{"content_length": "1000000000"}, {"transfer_encoding": "chunked"}])
def test_an_answer_that_does_not_end_is_not_waited_for(headers: dict[str, str]) -> None:
    has_left = Event()

    def answer(request: BaseHTTPRequestHandler) -> None:
        head(request, 200, **headers)
        request.close_connection = True
        try:
            while True:
                request.wfile.write(b"1")
        except OSError:
            has_left.set()

    with OtlpReceiver(answer) as receiver, make_session() as session:
        assert send(session, receiver.url) == 200
        assert has_left.wait(30)


@pytest.mark.parametrize("status", [301, 302, 304, 307, 308])
def test_a_redirect_is_a_failure_and_is_not_followed(status: int) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        head(request, status, location="/v1/elsewhere?hush", content_length="0")

    with OtlpReceiver(answer) as receiver, make_session() as session:
        with pytest.raises(requests.TooManyRedirects, match=f"status {status}") as refused:
            send(session, receiver.url)
        assert "hush" not in str(refused.value)
        assert receiver.requests == 1


@pytest.mark.parametrize("body", [b"", b"\x0a\x00"])
def test_a_connection_is_used_again(body: bytes) -> None:
    def answer(request: BaseHTTPRequestHandler) -> None:
        head(request, 200, content_length=str(len(body)))
        request.wfile.write(body)

    with OtlpReceiver(answer) as receiver, make_session() as session:
        assert [send(session, receiver.url) for _ in range(3)] == [200, 200, 200]
        assert len(receiver.clients) == 1
