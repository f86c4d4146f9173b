"""OpenTelemetry's own variables: which turn it on, and which values are refused."""

import logging

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.util.re import parse_env_headers

from flagstaff.settings import SettingsError
from flagstaff.settings.opentelemetry import Figures, OpenTelemetry, Traces, drop_blank, read_propagators

COLLECTOR = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}
TRACES = Traces(
    ratio=1.0,
    follows_parent=True,
    propagators=("tracecontext", "baggage"),
    timeout_seconds=10.0,
    every_seconds=5.0,
    batch_spans=512,
    queue_spans=2048,
)
FIGURES = Figures(timeout_seconds=10.0, every_seconds=60.0)


def load(**environ: str) -> OpenTelemetry:
    """Load the settings for a collector."""
    loaded = OpenTelemetry.load({**COLLECTOR, **environ})
    assert loaded is not None
    return loaded


def traces(**environ: str) -> Traces:
    loaded = load(**environ).traces
    assert loaded is not None
    return loaded


def refusal(**environ: str) -> str:
    """Return the error line that stops the start."""
    with pytest.raises(SettingsError) as refused:
        OpenTelemetry.load({**COLLECTOR, **environ})
    line = str(refused.value)
    assert "\n" not in line
    return line


@pytest.mark.parametrize(
    ("variable", "text", "accepted"),
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "collector:4318", "must be the URL of a receiver of OTLP over HTTP"),
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "grpc://collector:4317", "must be the URL of a receiver"),
        ("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT", "http://collector:port", "must be the URL of a receiver"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc", "must be http/protobuf, which receivers usually accept on port 4318"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json", "must be http/protobuf"),
        ("OTEL_TRACES_EXPORTER", "jaeger", "must be otlp or none, not 'jaeger'"),
        ("OTEL_METRICS_EXPORTER", "prometheus", "must be otlp or none, not 'prometheus'"),
        ("OTEL_TRACES_SAMPLER", "jaeger_remote", "must be always_on, always_off, traceidratio"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10", "must be a number of milliseconds from 100 to 600000"),
        ("OTEL_EXPORTER_OTLP_METRICS_TIMEOUT", "soon", "must be a number of milliseconds"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd", "must be gzip, deflate or none"),
        ("OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE", "delta", "must be cumulative"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "0", "must be a whole number from 1"),
        ("OTEL_METRIC_EXPORT_INTERVAL", "1m", "must be a whole number from 1"),
        ("OTEL_BSP_SCHEDULE_DELAY", "-1", "must be a whole number from 1"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "must be a whole number from 1"),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4096", "must not be larger than OTEL_BSP_MAX_QUEUE_SIZE"),
    ],
)
def test_a_value_that_is_not_supported_is_refused(variable: str, text: str, accepted: str) -> None:
    line = refusal(**{variable: text})
    assert line.startswith(variable)
    assert accepted in line


@pytest.mark.parametrize("text", ["1.5", "-0.1", "nan", "half", "", "1%"])
def test_a_share_of_traces_is_between_none_and_all(text: str) -> None:
    environ = {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": text}
    if not text:  # unset
        assert traces(**environ).ratio == 1.0
        return
    assert refusal(**environ).startswith("OTEL_TRACES_SAMPLER_ARG must be a share from 0 to 1, such as 0.01")


@pytest.mark.parametrize(
    "text",
    [
        "authorization",
        "=hush",
        "a=b,hush",
        '"api-key=hush"',
        "api-key='hush;'",
        'api-key="hush"',
        "x-team: hush==",
        "Authorization: Basic hush==",
        "api-key=hush\\",
        "api-key=hush%0A",
        "api-key=%0D%0Ahush",
        "api-key=hush%00",
        "api-key=hush%E2%82%AC",
        "api%0A-key=hush",
    ],
)
def test_headers_that_are_refused_are_not_shown(text: str) -> None:
    line = refusal(OTEL_EXPORTER_OTLP_HEADERS=text)
    assert line.startswith("OTEL_EXPORTER_OTLP_HEADERS must be a comma-separated list of name=value")
    assert "hush" not in line


@given(st.lists(st.text("a- =%0A3D;,\"\\:'é\t", max_size=12), max_size=3).map(",".join))
def test_the_sdk_sends_each_header_that_is_accepted(text: str) -> None:
    warned: list[logging.LogRecord] = []
    logger = logging.getLogger("opentelemetry.util.re")

    def note(record: logging.LogRecord) -> bool:
        warned.append(record)
        return False

    logger.addFilter(note)
    try:
        load(OTEL_EXPORTER_OTLP_HEADERS=text)
        sent = parse_env_headers(text.strip(), liberal=True)
    except SettingsError:
        return
    finally:
        logger.removeFilter(note)
    assert not [record for record in warned if record.args and "".join(map(str, record.args)).strip()]
    requests.Request("POST", "http://collector:4318", headers=sent).prepare()


def test_usual_headers_are_accepted() -> None:
    assert load(OTEL_EXPORTER_OTLP_HEADERS=" a = b , Authorization=Basic dXNlcjpodXNo==,c=%20d%2Ce,f=g h,") == load()


def test_an_endpoint_that_is_refused_is_not_shown() -> None:
    assert "hush" not in refusal(OTEL_EXPORTER_OTLP_ENDPOINT="ftp://user:hush@collector")


def test_a_propagator_that_is_not_installed_is_refused() -> None:
    with pytest.raises(SettingsError, match="OTEL_PROPAGATORS names 'b3', which is not installed"):
        read_propagators({"OTEL_PROPAGATORS": "tracecontext, b3"})


@pytest.mark.parametrize("text", ["tracecontext,baggage,", ",", "tracecontext,,none"])
def test_a_propagator_has_a_name(text: str) -> None:
    with pytest.raises(SettingsError, match="OTEL_PROPAGATORS names '', which is not installed"):
        read_propagators({"OTEL_PROPAGATORS": text})


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", ("tracecontext", "baggage")),
        (" ", ("tracecontext", "baggage")),
        (" baggage , tracecontext", ("baggage", "tracecontext")),
        ("tracecontext,NONE", ()),
    ],
)
def test_installed_propagators_are_used(text: str, names: tuple[str, ...]) -> None:
    assert read_propagators({"OTEL_PROPAGATORS": text}) == names


def test_a_blank_variable_is_not_left_to_the_sdk() -> None:
    environ = {"OTEL_PROPAGATORS": " ", "OTEL_EXPORTER_OTLP_ENDPOINT": " http://c:4318\n", "OTHER": " "}
    drop_blank(environ)
    assert environ == {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c:4318", "OTHER": " "}


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": " "},
        {"OTEL_SERVICE_NAME": "flags", "OTEL_TRACES_SAMPLER": "always_on"},
        {**COLLECTOR, "OTEL_SDK_DISABLED": "TRUE"},
        {**COLLECTOR, "OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
        {**COLLECTOR, "OTEL_TRACES_EXPORTER": "none", "OTEL_METRICS_EXPORTER": "none"},
        {"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
    ],
    ids=str,
)
def test_nothing_is_sent_unless_it_is_asked_for(environ: dict[str, str]) -> None:
    assert OpenTelemetry.load(environ) is None


def test_an_endpoint_asks_for_traces_and_metrics() -> None:
    assert load() == OpenTelemetry(traces=TRACES, metrics=FIGURES)


@pytest.mark.parametrize(
    ("environ", "wanted"),
    [
        ({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c:4318/v1/traces"}, OpenTelemetry(traces=TRACES, metrics=None)),
        ({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "https://c/v1"}, OpenTelemetry(traces=None, metrics=FIGURES)),
        ({**COLLECTOR, "OTEL_METRICS_EXPORTER": "none"}, OpenTelemetry(traces=TRACES, metrics=None)),
        ({"OTEL_METRICS_EXPORTER": "otlp"}, OpenTelemetry(traces=None, metrics=FIGURES)),
    ],
    ids=["traces' endpoint", "metrics' endpoint", "exporter none", "exporter otlp"],
)
def test_each_signal_can_be_asked_for_alone(environ: dict[str, str], wanted: OpenTelemetry) -> None:
    assert OpenTelemetry.load(environ) == wanted


@pytest.mark.parametrize(
    ("sampler", "ratio", "follows_parent"),
    [
        ("always_on", 1.0, False),
        ("always_off", 0.0, False),
        ("traceidratio", 0.25, False),
        ("parentbased_always_on", 1.0, True),
        ("parentbased_always_off", 0.0, True),
        ("parentbased_traceidratio", 0.25, True),
    ],
)
def test_a_sampler_keeps_a_share_of_the_traces(sampler: str, ratio: float, follows_parent: bool) -> None:
    read = traces(OTEL_TRACES_SAMPLER=sampler, OTEL_TRACES_SAMPLER_ARG="0.25")
    assert (read.ratio, read.follows_parent) == (ratio, follows_parent)


def test_times_are_in_milliseconds_and_a_signal_may_have_its_own() -> None:
    loaded = load(
        OTEL_EXPORTER_OTLP_TIMEOUT="2500",
        OTEL_EXPORTER_OTLP_METRICS_TIMEOUT="500",
        OTEL_METRIC_EXPORT_INTERVAL="1000",
        OTEL_BSP_SCHEDULE_DELAY="250",
    )
    assert loaded.traces is not None
    assert (loaded.traces.timeout_seconds, loaded.traces.every_seconds) == (2.5, 0.25)
    assert loaded.metrics == Figures(timeout_seconds=0.5, every_seconds=1.0)


def test_a_small_queue_has_small_batches() -> None:
    assert traces(OTEL_BSP_MAX_QUEUE_SIZE="100").batch_spans == 100
