"""Traces and metrics that real servers send to a real receiver of OTLP."""

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.support import stores
from tests.support.api import Json, environment_path
from tests.support.command import run_flagstaff
from tests.support.otlp import OtlpReceiver, ReceivedSpan, plain, read_text
from tests.support.ports import free_port
from tests.support.remote import RemoteCaller
from tests.support.sdk_keys import create_key
from tests.support.server import COMMAND, ServerProcess
from tests.support.stores import Store
from tests.support.workers import a_caller_of_each, worker_pids

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = "00f067aa0ba902b7"
SAMPLED = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
SERVER, CLIENT = 2, 3
ATTRIBUTES = {
    "http.request.method",
    "http.route",
    "http.response.status_code",
    "url.path",
    "url.scheme",
    "server.address",
    "server.port",
    "db.system.name",
    "db.operation.name",
    "db.collection.name",
    "error.type",
}
QUICKLY = {
    "OTEL_BSP_SCHEDULE_DELAY": "50",
    "OTEL_METRIC_EXPORT_INTERVAL": "200",
    "FLAGSTAFF_LOG_FORMAT": "json",
    "FLAGSTAFF_EVALUATE_RATE_LIMIT": "off",
}


@pytest.fixture
def receiver() -> Iterator[OtlpReceiver]:
    with OtlpReceiver() as running:
        yield running


@pytest.fixture
def sqlite_store(sqlite_template: Path, data_directory: Path) -> Store:
    """A store for tests that do not depend on the database."""
    return stores.sqlite_store(sqlite_template, data_directory)


def environ(receiver: OtlpReceiver, **others: str) -> dict[str, str]:
    return {**QUICKLY, "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.url, **others}


async def received(receiver: OtlpReceiver, condition: Callable[[], Any]) -> None:
    await asyncio.to_thread(receiver.wait_for, condition)


async def until(server: ServerProcess, condition: Callable[[dict[str, float]], Any]) -> dict[str, float]:
    """Return the metrics of a server when they meet a condition."""
    async with asyncio.timeout(30), RemoteCaller(server.url) as caller:
        while not condition(figures := await metrics_of(caller)):
            await asyncio.sleep(0.02)
        return figures


async def metrics_of(caller: RemoteCaller) -> dict[str, float]:
    """Return the metrics that /metrics returns, by name and labels."""
    text = (await caller.get("/metrics")).text
    return read_text(text)


def entries(server: ServerProcess) -> list[Json]:
    """Return the log entries of a server."""
    return [json.loads(line) for line in server.log.splitlines() if line.startswith("{")]


def events(server: ServerProcess, event: str) -> list[Json]:
    return [entry for entry in entries(server) if entry["event"] == event]


def refusal(**given: str) -> str:
    """Return the line that a failed start prints."""
    outcome = run_flagstaff("serve", environ=given)
    assert outcome.returncode == 1
    assert "Traceback" not in outcome.stderr
    return outcome.stderr.splitlines()[-1]


async def new_project(server: ServerProcess, **headers: str) -> tuple[RemoteCaller, Json]:
    caller = RemoteCaller(server.url)
    await caller.sign_up()
    caller.headers.update(headers)
    return caller, await caller.create_project()


# Refused settings.


def test_a_protocol_that_is_not_supported_stops_the_start(tmp_path: Path) -> None:
    line = refusal(
        FLAGSTAFF_DATA_DIR=str(tmp_path / "data"),
        OTEL_EXPORTER_OTLP_ENDPOINT="http://localhost:4317",
        OTEL_EXPORTER_OTLP_PROTOCOL="grpc",
    )
    assert line.startswith("flagstaff: OTEL_EXPORTER_OTLP_PROTOCOL must be http/protobuf")
    assert not (tmp_path / "data").exists()


def test_a_propagator_that_is_not_installed_stops_the_start(tmp_path: Path) -> None:
    given = {"FLAGSTAFF_DATA_DIR": str(tmp_path / "data"), "OTEL_PROPAGATORS": "b3"}
    outcome = subprocess.run(COMMAND, env=given, capture_output=True, text=True, check=False)
    assert outcome.returncode == 1
    assert outcome.stderr.startswith("flagstaff: OTEL_PROPAGATORS names 'b3', which is not installed")
    assert "Traceback" not in outcome.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize(
    "variable", ["OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_ATTRIBUTE_COUNT_LIMIT", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT"]
)
def test_a_limit_that_is_not_a_number_stops_the_start(variable: str, workers: str, tmp_path: Path) -> None:
    line = refusal(
        FLAGSTAFF_DATA_DIR=str(tmp_path / "data"),
        FLAGSTAFF_WORKERS=workers,
        OTEL_EXPORTER_OTLP_ENDPOINT="http://localhost:4318",
        **{variable: "x"},
    )
    assert line.startswith(f"flagstaff: OpenTelemetry does not accept a variable: {variable}")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.parametrize("missing", ["opentelemetry.sdk.trace", "opentelemetry.exporter.otlp.proto.http"])
def test_without_the_packages_the_refusal_says_what_to_install(missing: str, workers: str, tmp_path: Path) -> None:
    without = f"import sys; sys.modules[{missing!r}] = None; sys.argv = ['flagstaff', 'serve']; "
    given = {
        "FLAGSTAFF_DATA_DIR": str(tmp_path / "data"),
        "FLAGSTAFF_WORKERS": workers,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:4318",
    }
    outcome = subprocess.run(
        [sys.executable, "-c", f"{without} from flagstaff.__main__ import main; main()"],
        env=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert outcome.returncode == 1
    assert "pip install 'flagstaff[otel]'" in outcome.stderr.splitlines()[-1]
    assert "Traceback" not in outcome.stderr
    assert not (tmp_path / "data").exists()


# Traces and metrics are off by default.


def test_nothing_of_the_sdk_is_imported_unless_it_is_asked_for(tmp_path: Path) -> None:
    """The framework requires OpenTelemetry's API and imports it, so only the SDK is checked."""
    program = """
import asyncio, sys
from flagstaff.cli.main import app
from flagstaff.cli.otel import make_telemetry
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.settings import Settings
from flagstaff.settings.opentelemetry import OpenTelemetry

async def serve():
    settings = Settings.load({"FLAGSTAFF_DATA_DIR": sys.argv[1]})
    flagstaff = Flagstaff(settings, telemetry=make_telemetry(settings, OpenTelemetry.load({}), None))
    await flagstaff.start()
    await flagstaff.stop()

asyncio.run(serve())
print(*sys.modules)
"""
    outcome = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True, env={}
    )
    imported = set(outcome.stdout.splitlines()[-1].split())
    assert "flagstaff.serving.fast_path.fast_path" in imported
    heavy = ("opentelemetry.sdk", "opentelemetry.exporter", "opentelemetry.proto", "google.protobuf", "requests")
    assert [name for name in imported if name.startswith((*heavy, "flagstaff.telemetry.otel"))] == []


async def test_responses_are_the_same_bytes_with_traces_and_without(sqlite_template: Path, tmp_path: Path) -> None:
    answers: list[list[bytes]] = []
    for asked in ({}, {"OTEL_TRACES_SAMPLER": "always_on"}):
        folder = tmp_path / str(len(answers)) / "data"
        folder.mkdir(parents=True, mode=0o700)
        with OtlpReceiver() as receiver:
            given = environ(receiver, **asked) if asked else QUICKLY
            async with ServerProcess(Store(None, folder), given) as server:
                answers.append([answer_to(server.port, request) for request in plain_requests()])
    assert answers[0] == answers[1]
    assert b"traceparent" not in b"".join(answers[1]).lower()


def plain_requests() -> list[bytes]:
    """Return requests with their own id, by the fast path and by the application."""
    body = b'{"context":{"user_id":"x"}}'
    head = b"host: x\r\nx-request-id: mine\r\nauthorization: Bearer sdk_x\r\ncontent-type: application/json\r\n"
    post = b"%scontent-length: %d\r\nconnection: close\r\n\r\n%s" % (head, len(body), body)
    paths = b"/sdk/v1/evaluate", b"/ofrep/v1/evaluate/flags", b"/sdk/v1/evaluate/flag", b"/auth/login"
    return [b"POST %s HTTP/1.1\r\n%s" % (path, post) for path in paths]


def answer_to(port: int, request: bytes) -> bytes:
    """Return the whole response, without its date."""
    with socket.create_connection(("127.0.0.1", port), 10) as connection:
        connection.sendall(request)
        answer = b"".join(iter(lambda: connection.recv(65_536), b""))
    return re.sub(rb"\r\ndate: [^\r]*", b"", answer)


# The receiver fails.


@pytest.fixture
def end_of_test() -> Iterator[Event]:
    event = Event()
    yield event
    event.set()


def refusing(request: BaseHTTPRequestHandler) -> None:
    request.send_error(500)


def rubbish(request: BaseHTTPRequestHandler) -> None:
    request.wfile.write(b"\x00\xff what is this\r\n\r\n")
    request.close_connection = True


def redirecting(request: BaseHTTPRequestHandler) -> None:
    request.send_response(301)
    request.send_header("location", "/v1/elsewhere")
    request.send_header("connection", "close")
    request.end_headers()


@pytest.mark.parametrize("answer", [refusing, rubbish, redirecting, None], ids=["500", "rubbish", "a redirect", "away"])
async def test_a_receiver_that_fails_is_logged_once_and_disturbs_nothing(
    sqlite_store: Store, answer: Callable[[BaseHTTPRequestHandler], None] | None
) -> None:
    port = free_port()
    given = {
        **QUICKLY,
        "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "300",
    }
    async with ServerProcess(sqlite_store, given) as server:
        if answer is None:
            figures = await fail_twice(server)
        else:
            with OtlpReceiver(answer, port=port):
                figures = await fail_twice(server)
        assert figures["flagstaff_task_up|task=otlp-traces"] == 0
        assert figures["flagstaff_task_up|task=otlp-metrics"] == 0
        assert figures["flagstaff_otlp_spans_dropped_total"] > 0
        assert figures["flagstaff_otlp_spans_sent_total"] == 0
        assert sorted(entry["signal"] for entry in events(server, "otlp_not_sent")) == ["metrics", "traces"]
        assert all(entry["reason"] for entry in events(server, "otlp_not_sent"))
        assert not [entry for entry in entries(server) if entry["logger"].startswith("opentelemetry")]
        with OtlpReceiver(port=port) as receiver:
            await until(server, lambda figures: figures["flagstaff_task_up|task=otlp-traces"] == 1)
            await received(receiver, lambda: receiver.metrics and receiver.spans)
            assert await server.stop() == 0
        assert sorted(entry["signal"] for entry in events(server, "otlp_sent_again")) == ["metrics", "traces"]


async def test_the_reason_names_the_cause_and_not_the_query(sqlite_store: Store) -> None:
    given = {
        **QUICKLY,
        "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"http://127.0.0.1:{free_port()}/v1/metrics?key=hush",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "3000",
    }
    failures = "flagstaff_otlp_failures_total|signal=metrics"
    async with ServerProcess(sqlite_store, given) as server:
        await until(server, lambda figures: figures[failures] > 0)
        (entry,) = events(server, "otlp_not_sent")
        assert "Connection refused" in entry["reason"]
        assert "Failed to export metrics batch" in entry["reason"]
        assert "hush" not in server.log


async def fail_twice(server: ServerProcess) -> dict[str, float]:
    """Return the metrics after each signal has failed at least twice; requesting them creates spans."""
    return await until(
        server,
        lambda figures: all(
            figures[f"flagstaff_otlp_failures_total|signal={each}"] > 1 for each in ("traces", "metrics")
        ),
    )


async def test_a_receiver_that_never_answers_fills_a_bounded_queue_and_does_not_delay_the_stop(
    sqlite_store: Store, end_of_test: Event
) -> None:
    def wait(_: BaseHTTPRequestHandler) -> None:
        end_of_test.wait()

    with OtlpReceiver(wait) as receiver:
        given = environ(receiver, OTEL_EXPORTER_OTLP_TIMEOUT="600000", OTEL_BSP_MAX_QUEUE_SIZE="4")
        async with ServerProcess(sqlite_store, given) as server:
            await received(receiver, lambda: receiver.requests >= 2)
            figures = await until(server, lambda figures: figures["flagstaff_otlp_spans_dropped_total"] > 20)
            assert figures["flagstaff_otlp_failures_total|signal=traces"] == 0  # it may still answer
            assert await server.stop() == 0
            (lost,) = events(server, "otlp_spans_lost")
            assert lost["spans"] >= 4
        end_of_test.set()
        assert receiver.requests == 2


# The receiver works.


async def test_a_request_is_one_trace_from_its_caller_to_the_database_and_the_log(
    store: Store, receiver: OtlpReceiver
) -> None:
    async with ServerProcess(store, environ(receiver, OTEL_SERVICE_NAME="flags")) as server:
        caller, _ = await new_project(server, **SAMPLED)
        await caller.aclose()
        assert await server.stop() == 0
        spans = {span.span_id: span for span in receiver.trace(TRACE)}
        (request,) = (span for span in spans.values() if span.kind == SERVER)
        assert (request.name, request.parent_id) == ("POST /api/projects", CALLER)
        assert request.attributes == {
            "http.request.method": "POST",
            "http.route": "/api/projects",
            "http.response.status_code": 201,
            "url.path": "/api/projects",
            "url.scheme": "http",
            "server.address": "127.0.0.1",
            "server.port": server.port,
        }
        assert request.resource["service.name"] == "flags"
        assert request.resource["service.instance.id"].endswith(f":{server.port}")
        (insert,) = (span for span in spans.values() if span.name == "INSERT projects")
        assert insert.kind == CLIENT
        assert insert.attributes == {
            "db.system.name": "postgresql" if store.database_url else "sqlite",
            "db.operation.name": "INSERT",
            "db.collection.name": "projects",
        }
        transaction = spans[insert.parent_id]
        assert transaction.name == "transaction"
        assert transaction.parent_id == request.span_id
        assert len([span for span in spans.values() if span.name == "INSERT projects"]) == 1
        (entry,) = (entry for entry in events(server, "request") if entry["path"] == "/api/projects")
        assert (entry["trace_id"], entry["span_id"]) == (TRACE, request.span_id)


async def test_evaluations_are_spans_in_the_fast_path_and_behind_it(
    sqlite_store: Store, receiver: OtlpReceiver
) -> None:
    async with ServerProcess(sqlite_store, environ(receiver)) as server:
        caller, project = await new_project(server)
        environment = await caller.get_environment(project)
        flag = await caller.create_flag(environment, key="secret-plan")
        key = (await create_key(caller, project))["key"]
        del caller.headers["authorization"]
        of_user = {"environment": "production", "context": {"user_id": "zoe"}}
        of_target = {"context": {"targetingKey": "zoe"}}
        for path, body in (
            ("/sdk/v1/evaluate", of_user),
            ("/sdk/v1/evaluate", {"context": 7}),
            (f"/sdk/v1/evaluate/{flag['key']}", of_user),
            ("/ofrep/v1/evaluate/flags", of_target),
            (f"/ofrep/v1/evaluate/flags/{flag['key']}", of_target),
        ):
            await caller.post(path, json=body, headers={"x-sdk-key": key, "authorization": f"Bearer {key}", **SAMPLED})
        await caller.aclose()
        await server.stop()
        found = [(span.name, span.attributes["http.response.status_code"]) for span in requests(receiver, TRACE)]
        assert sorted(found) == [
            ("POST /ofrep/v1/evaluate/flags", 200),
            ("POST /ofrep/v1/evaluate/flags/{key}", 200),
            ("POST /sdk/v1/evaluate", 200),
            ("POST /sdk/v1/evaluate", 400),
            ("POST /sdk/v1/evaluate/{flag_key}", 200),
        ]
        assert {span.parent_id for span in requests(receiver, TRACE)} == {CALLER}
        assert_nothing_personal(receiver, "zoe", "secret-plan", key)


def requests(receiver: OtlpReceiver, trace_id: str) -> list[ReceivedSpan]:
    return [span for span in receiver.trace(trace_id) if span.kind == SERVER]


def assert_nothing_personal(receiver: OtlpReceiver, *secrets: str) -> None:
    for span in receiver.spans:
        assert span.attributes.keys() <= ATTRIBUTES
        for secret in secrets:
            assert secret not in f"{span.name} {span.attributes}"


async def test_nothing_personal_is_in_a_span(store: Store, receiver: OtlpReceiver) -> None:
    async with ServerProcess(store, environ(receiver)) as server:
        caller, project = await new_project(server)
        await caller.get(f"/api/projects/{project['id']}/members")
        await caller.get("/a-secret-place/ada@example.com?token=hush-hush")
        await caller.get(f"{environment_path(await caller.get_environment(project))}/flags")
        token = caller.headers["authorization"].removeprefix("Bearer ")
        account = caller.account["id"]
        await caller.aclose()
        await server.stop()
        assert "GET" in {span.name for span in receiver.spans}  # no operation has that path
        personal = "ada@", "correct horse", "hush", "a-secret-place", token, account, project["id"], project["sdk_key"]
        assert_nothing_personal(receiver, *personal)


async def test_a_failed_request_is_an_error_and_a_refused_one_is_not(
    sqlite_store: Store, receiver: OtlpReceiver
) -> None:
    async with ServerProcess(sqlite_store, environ(receiver)) as server:
        (sqlite_store.data_directory / "flagstaff.sqlite").rename(sqlite_store.data_directory / "elsewhere")
        async with RemoteCaller(server.url) as caller:
            async with asyncio.timeout(30):
                while (await caller.get("/ready")).status_code == 200:  # it keeps its last result for a moment
                    await asyncio.sleep(0.02)
            assert (await caller.get("/ready", headers=SAMPLED)).status_code == 503
            assert (await caller.get("/api/me", headers=SAMPLED)).status_code == 401
        await server.stop()
        refused, failed = sorted(requests(receiver, TRACE), key=lambda span: span.name)
        assert (failed.name, failed.is_error, failed.attributes["error.type"]) == ("GET /ready", True, "503")
        assert (refused.attributes["http.response.status_code"], refused.is_error) == (401, False)


async def test_the_sampler_decides_which_requests_are_traced(sqlite_store: Store, receiver: OtlpReceiver) -> None:
    given = environ(receiver, OTEL_TRACES_SAMPLER="parentbased_always_off")
    async with ServerProcess(sqlite_store, given) as server:
        async with RemoteCaller(server.url) as caller:
            unsampled = {"traceparent": f"00-{TRACE}-{CALLER}-00"}
            for headers in ({}, unsampled, SAMPLED):
                await caller.post("/sdk/v1/evaluate", json={}, headers=headers)
                await caller.get("/health", headers=headers)
        await server.stop()
        assert sorted(span.name for span in receiver.spans) == ["GET /health", "POST /sdk/v1/evaluate"]
        logged = [(entry.get("trace_id"), "span_id" in entry) for entry in events(server, "request")]
        assert logged[-3:] == [(None, False), (TRACE, False), (TRACE, True)]


async def test_a_pipelined_request_is_not_logged_with_the_span_before_it(
    sqlite_store: Store, receiver: OtlpReceiver
) -> None:
    given = environ(receiver, OTEL_TRACES_SAMPLER="parentbased_always_off")
    traced = b"GET /health HTTP/1.1\r\nhost: x\r\ntraceparent: %s\r\n\r\n" % SAMPLED["traceparent"].encode()
    async with ServerProcess(sqlite_store, given) as server:
        await asyncio.to_thread(
            answer_to, server.port, traced + b"GET /ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"
        )
        await server.stop()
        logged = {entry["path"]: entry for entry in events(server, "request")}
        assert logged["/health"]["trace_id"] == TRACE
        assert logged["/ready"].keys().isdisjoint({"trace_id", "span_id"})


async def test_a_stop_sends_what_is_left(sqlite_store: Store, receiver: OtlpReceiver) -> None:
    given = environ(receiver, OTEL_BSP_SCHEDULE_DELAY="3600000", OTEL_METRIC_EXPORT_INTERVAL="3600000")
    async with ServerProcess(sqlite_store, given) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.get("/api/me", headers=SAMPLED)
        assert receiver.requests == 0
        assert await server.stop() == 0
    assert len(requests(receiver, TRACE)) == 1
    assert len(receiver.metrics) == 1


async def test_headers_and_compression_are_the_environment_s(sqlite_store: Store, receiver: OtlpReceiver) -> None:
    given = environ(
        receiver, OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20hush", OTEL_EXPORTER_OTLP_COMPRESSION="gzip"
    )
    async with ServerProcess(sqlite_store, given) as server:
        await received(receiver, lambda: receiver.headers)
        await server.stop()
        assert "hush" not in server.log
    assert {headers["authorization"] for headers in receiver.headers} == {"Bearer hush"}
    assert {headers["content-encoding"] for headers in receiver.headers} == {"gzip"}


async def test_all_workers_send_spans_and_the_first_sends_the_metrics_of_all(
    store: Store, receiver: OtlpReceiver
) -> None:
    given = environ(receiver, FLAGSTAFF_WORKERS="2", FLAGSTAFF_INSTANCE_NAME="west")
    async with ServerProcess(store, given) as server:
        async with a_caller_of_each(server, 2) as callers:
            for caller in callers:
                for _ in range(3):
                    await caller.post("/sdk/v1/evaluate", json={}, headers=SAMPLED)
        answered = "flagstaff_evaluate_responses_total|status=401"
        await received(receiver, lambda: receiver.metrics and plain(receiver.metrics[-1]).get(answered) == 6)
        figures = await until(server, lambda figures: figures[answered] == 6)
        names = {name for name in figures if "_created" not in name}
        await received(receiver, lambda: plain(receiver.metrics[-1]).keys() >= names)
        await server.stop()
    assert {span.resource["service.instance.id"] for span in requests(receiver, TRACE)} == {
        "west/worker-0",
        "west/worker-1",
    }
    assert {resource["service.instance.id"] for resource in receiver.resources} == {"west"}


async def test_the_counters_go_on_when_the_first_worker_is_replaced(
    sqlite_store: Store, receiver: OtlpReceiver
) -> None:
    async with ServerProcess(sqlite_store, environ(receiver, FLAGSTAFF_WORKERS="2")) as server:
        async with RemoteCaller(server.url) as caller:
            await caller.get("/health")
        counted = "flagstaff_http_requests_total|method=GET|route=/health|status=200"
        await received(receiver, lambda: receiver.metrics and plain(receiver.metrics[-1]).get(counted) == 1)
        began = starts(receiver.metrics[-1])
        for pid in worker_pids(server):
            os.kill(pid, signal.SIGKILL)
        replaced = "flagstaff_worker_restarts_total"
        await received(receiver, lambda: plain(receiver.metrics[-1]).get(replaced) == 2)
        assert plain(receiver.metrics[-1])[counted] == 1
        assert starts(receiver.metrics[-1]) == began
        assert len(began) == 1
        await server.stop()


def starts(metrics: dict[str, Any]) -> set[int]:
    """Return when all counters started to count."""
    counters = [metric for metric in metrics.values() if metric.WhichOneof("data") == "sum"]
    return {point.start_time_unix_nano for metric in counters for point in metric.sum.data_points}
