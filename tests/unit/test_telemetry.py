"""The content of the log and the metrics, and especially what they must never contain."""

import io
import json
import logging
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from importlib.metadata import version
from typing import Any

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from flagstaff.telemetry import Metrics, configure_logging
from flagstaff.telemetry.logs import REDACTED, redact

SDK_KEY = "sdk_kQ3_x9-ZpW0aB1cD2eF3gH4iJ5kL6mN7"
ACCESS_TOKEN = "fst_" + "0aB1cD2eF3" * 5
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    """The stream that the log is written to; logging is restored afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    root.handlers = []  # so that pytest's streams are not closed
    yield io.StringIO()
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()
    structlog.contextvars.clear_contextvars()


def entries(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


@pytest.mark.parametrize(
    "name", ["password", "new_password", "newPassword", "token", "sdk_key", "sdkKey", "Authorization", "secret_key"]
)
def test_a_value_under_a_secret_name_is_not_logged(stream: io.StringIO, name: str) -> None:
    configure_logging("json", stream)
    structlog.get_logger().info("tried", **{name: "hunter2", "body": [{name: ["hunter2"]}]})
    assert "hunter2" not in stream.getvalue()
    assert entries(stream)[0][name] == REDACTED


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"Authorization: Bearer {TOKEN}", TOKEN),
        (f"bearer {TOKEN}", TOKEN),
        (f"no project has {SDK_KEY}", SDK_KEY[4:]),
        (f"no account has {ACCESS_TOKEN}", ACCESS_TOKEN[4:]),
        (f"decoding '{TOKEN}' failed", TOKEN[3:]),
        ("GET /reset-password?token=hunter2&x=1", "hunter2"),
        ("connecting to postgresql://flagstaff:hunter2@db/x", "hunter2"),
        ("$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA", "c2FsdA$aGFzaA"),
    ],
)
def test_secrets_are_removed_from_any_text(stream: io.StringIO, text: str, secret: str) -> None:
    configure_logging("json", stream)
    structlog.get_logger().info(text, detail=text)
    logging.getLogger("somebody.else").warning("said %s", text)
    structlog.get_logger().error("failed", exc_info=ValueError(text))
    assert secret not in stream.getvalue()
    assert len(entries(stream)) == 3


def test_texts_without_secrets_stay_readable() -> None:
    event = {"event": "served http://127.0.0.1:8000/a@b", "port": 8000, "ok": True, "none": None, "path": "/sdk/v1"}
    assert redact(None, "info", dict(event)) == event


def test_no_traceback_shows_local_variables(stream: io.StringIO) -> None:
    def fail(password: str) -> None:
        raise RuntimeError("out of luck")

    configure_logging("console", stream)
    try:
        fail("hunt" + "er2")
    except RuntimeError:
        structlog.get_logger().exception("failed")
    assert "out of luck" in stream.getvalue()
    assert "hunter2" not in stream.getvalue()


def test_no_control_character_reaches_the_terminal(stream: io.StringIO) -> None:
    configure_logging("console", stream)
    structlog.get_logger().info("request", path="/\x1b[2J\nforged")
    assert "\x1b[2J" not in stream.getvalue()
    assert len(stream.getvalue().splitlines()) == 1


@given(value=st.recursive(st.none() | st.booleans() | st.floats() | st.text() | st.binary(), st.lists, max_leaves=20))
def test_any_value_can_be_logged(value: object) -> None:
    json.dumps(redact(None, "info", {"value": value}))


def test_an_entry_has_a_time_a_level_an_event_and_a_request_id(stream: io.StringIO) -> None:
    configure_logging("json", stream)
    with structlog.contextvars.bound_contextvars(request_id="r-1"):
        structlog.get_logger("flagstaff.web").warning("refused", reason="late")
    (entry,) = entries(stream)
    moment = datetime.fromisoformat(entry.pop("timestamp"))
    assert moment.utcoffset() == timedelta(0)
    assert entry == {
        "event": "refused",
        "level": "warning",
        "logger": "flagstaff.web",
        "reason": "late",
        "request_id": "r-1",
    }


def test_entries_of_libraries_join_the_same_stream(stream: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").addHandler(stray := logging.StreamHandler(io.StringIO()))
    configure_logging("json", stream)
    logging.getLogger("uvicorn.error").info("Started %s", "well")
    logging.getLogger("uvicorn.access").info("GET /")
    assert [entry["event"] for entry in entries(stream)] == ["Started well"]
    assert stray not in logging.getLogger("uvicorn.error").handlers


def test_configured_twice_each_entry_is_still_written_once(stream: io.StringIO) -> None:
    configure_logging("json", stream)
    configure_logging("json", stream)
    structlog.get_logger().info("once")
    assert len(entries(stream)) == 1


@pytest.mark.usefixtures("stream")
def test_on_a_terminal_entries_are_readable_unless_json_is_wanted() -> None:
    terminal = Terminal()
    configure_logging("auto", terminal)
    structlog.get_logger().info("hello")
    assert not terminal.getvalue().startswith("{")
    configure_logging("json", terminal)
    structlog.get_logger().info("hello")
    assert terminal.getvalue().splitlines()[-1].startswith("{")


@pytest.mark.usefixtures("stream")
@given(st.text())
def test_on_a_terminal_a_path_cannot_contain_control_characters(path: str) -> None:
    terminal = Terminal()
    configure_logging("console", terminal)
    structlog.get_logger().info("request", method="GET", path=path, status=200, milliseconds=1.2)
    logging.getLogger("somebody.else").info("request")
    assert terminal.getvalue().count("\n") == 2
    assert re.sub(r"\x1b\[\d*m", "", terminal.getvalue().replace("\n", "")).isprintable()


def test_without_a_terminal_entries_are_json_unless_text_is_requested(stream: io.StringIO) -> None:
    configure_logging("auto", stream)
    structlog.get_logger().info("hello")
    assert entries(stream)[0]["event"] == "hello"
    configure_logging("console", stream)
    structlog.get_logger().info("hello")
    assert "\x1b" not in stream.getvalue()
    assert not stream.getvalue().splitlines()[-1].startswith("{")


def figures(metrics: Metrics) -> dict[tuple[str, tuple[str, ...]], float]:
    body, content_type = metrics.render()
    assert content_type.startswith("text/plain")
    return {
        (sample.name, tuple(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(body.decode())
        for sample in family.samples
    }


def test_requests_are_counted_by_method_route_and_status() -> None:
    metrics = Metrics()
    metrics.observe_request("GET", "/api/projects/{project_id}", 200, 0.01)
    metrics.observe_request("GET", "/api/projects/{project_id}", 200, 0.02)
    seen = figures(metrics)
    assert seen["flagstaff_http_requests_total", ("GET", "/api/projects/{project_id}", "200")] == 2
    assert seen["flagstaff_http_request_duration_seconds_count", ("GET", "/api/projects/{project_id}")] == 2
    assert seen["flagstaff_build_info", (version("flagstaff"),)] == 1


def test_invented_methods_share_one_label() -> None:
    metrics = Metrics()
    for number in range(100):
        metrics.observe_request(f"HACK{number}", "none", 405, 0.01)
    assert figures(metrics)["flagstaff_http_requests_total", ("other", "none", "405")] == 100


def test_evaluations_are_plain_integers_until_they_are_read() -> None:
    metrics = Metrics()
    metrics.evaluate_responses[200] += 1
    metrics.evaluate_responses[200] += 1
    metrics.evaluate_responses[429] += 1
    seen = figures(metrics)
    assert seen["flagstaff_evaluate_responses_total", ("200",)] == 2
    assert seen["flagstaff_evaluate_responses_total", ("429",)] == 1


def test_figures_kept_elsewhere_are_read_on_demand() -> None:
    metrics = Metrics()
    waiting: list[int] = []
    metrics.add_gauge("history_records_waiting", "Records not written yet.", lambda: len(waiting))
    metrics.add_counter("history_records_dropped", "Records given up.", lambda: 7)
    waiting.extend([1, 2])
    seen = figures(metrics)
    assert seen["flagstaff_history_records_waiting", ()] == 2
    assert seen["flagstaff_history_records_dropped_total", ()] == 7


def test_two_sets_of_metrics_know_nothing_of_each_other() -> None:
    first, second = Metrics(), Metrics()
    first.evaluate_responses[200] += 1
    assert ("flagstaff_evaluate_responses_total", ("200",)) not in figures(second)
