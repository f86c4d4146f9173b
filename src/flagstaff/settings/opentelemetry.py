"""OpenTelemetry's own variables, OTEL_*: whether they ask for traces and metrics, and which of them Flagstaff reads.

The SDK reads the others itself, such as the endpoints, the headers and the certificates. What it would only warn about
and replace by a default is refused here, at start.
"""

import re
from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Any, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from flagstaff.settings.environment import SettingsError
from flagstaff.settings.values import choice_parser, whole_number_parser

Value = TypeVar("Value")
_Exporter = Literal["otlp", "none"]
_Compression = Literal["gzip", "deflate", "none"]
_Sampler = Literal[
    "always_on",
    "always_off",
    "traceidratio",
    "parentbased_always_on",
    "parentbased_always_off",
    "parentbased_traceidratio",
]

_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_OWN_PROPAGATORS = ("tracecontext", "baggage")  # the framework's own: searching all packages for them takes 10 ms
# Text that the SDK would leave out with a warning that quotes it; spaces are its own addition to the specification.
_TOKEN = re.compile(r"[!#-'*+.0-9A-Z^-z|~-]+")
_HEADER = re.compile(rf"({_TOKEN.pattern})[ \t]*=[ \t]*([\x20\x21\x23-\x2b\x2d-\x3a\x3c-\x5b\x5d-\x7e]*)")
_MAX_MILLISECONDS = 3_600_000
_milliseconds = whole_number_parser(1, _MAX_MILLISECONDS)
_count = whole_number_parser(1, 1_000_000)


@dataclass(frozen=True, slots=True, kw_only=True)
class Traces:
    """The settings for spans: at most `batch_spans` are sent at once, every few seconds; `queue_spans` may wait.

    `ratio` is the share of traces that are kept. With `follows_parent`, callers that send a trace
    have decided about it. Their traces are read by `propagators`.
    """

    ratio: float
    follows_parent: bool
    propagators: tuple[str, ...]
    timeout_seconds: float
    every_seconds: float
    batch_spans: int
    queue_spans: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The settings for metrics."""

    timeout_seconds: float
    every_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTelemetry:
    """The settings for OpenTelemetry; at least one of the two is sent."""

    traces: Traces | None
    metrics: Figures | None

    @classmethod
    def load(cls, environ: Mapping[str, str]) -> "OpenTelemetry | None":
        """None unless the variables ask for traces or metrics; an empty variable counts as unset.

        They do so by an endpoint, or by naming the exporter `otlp`, whose endpoint is then http://localhost:4318.

        Raises:
            SettingsError: when one that counts has a value that Flagstaff does not support.
        """
        given = {name: text.strip() for name, text in environ.items() if text.strip()}
        if given.get("OTEL_SDK_DISABLED", "").lower() == "true":
            return None
        traces = _read_traces(given) if _is_asked_for(given, "TRACES") else None
        metrics = _read_metrics(given) if _is_asked_for(given, "METRICS") else None
        return cls(traces=traces, metrics=metrics) if traces or metrics else None


def drop_blank(environ: MutableMapping[str, str]) -> None:
    """Remove blank variables of OpenTelemetry, and spaces around others, which the SDK would take for values."""
    for name in [name for name in environ if name.startswith("OTEL_")]:
        if text := environ[name].strip():
            environ[name] = text
        else:
            del environ[name]


def read_propagators(environ: Mapping[str, str]) -> tuple[str, ...]:
    """The names of what reads callers' traces. The framework reads them too, when it is imported, whatever is sent.

    Raises:
        SettingsError: when a propagator is not installed.
    """
    text = environ.get("OTEL_PROPAGATORS", "").strip() or ",".join(_OWN_PROPAGATORS)
    names = tuple(map(str.strip, text.split(",")))
    for name in names:
        known = name in _OWN_PROPAGATORS or name.lower() == "none"
        if not known and not (name and entry_points(group="opentelemetry_propagator", name=name)):
            raise SettingsError(
                f"OTEL_PROPAGATORS names {name!r}, which is not installed: use tracecontext, baggage or none, or "
                "install its package."
            )
    return () if "none" in map(str.lower, names) else names


def _is_asked_for(given: Mapping[str, str], signal: str) -> bool:
    variable = f"OTEL_{signal}_EXPORTER"
    endpoint = f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT"
    if variable not in given:
        return endpoint in given or _ENDPOINT in given
    return _read(given, variable, _word_parser(_Exporter), "none") == "otlp"


def _read_traces(given: Mapping[str, str]) -> Traces:
    timeout_seconds = _read_common(given, "TRACES")
    queue_spans = _read(given, "OTEL_BSP_MAX_QUEUE_SIZE", _count, "2048")
    batch_spans = _read(given, "OTEL_BSP_MAX_EXPORT_BATCH_SIZE", _count, str(min(512, queue_spans)))
    if batch_spans > queue_spans:
        raise SettingsError("OTEL_BSP_MAX_EXPORT_BATCH_SIZE must not be larger than OTEL_BSP_MAX_QUEUE_SIZE.")
    sampler = _read(given, "OTEL_TRACES_SAMPLER", _word_parser(_Sampler), "parentbased_always_on")
    share = _read(given, "OTEL_TRACES_SAMPLER_ARG", _parse_ratio, "1") if sampler.endswith("traceidratio") else 1.0
    return Traces(
        ratio=0.0 if sampler.endswith("always_off") else share,
        follows_parent=sampler.startswith("parentbased_"),
        propagators=read_propagators(given),
        timeout_seconds=timeout_seconds,
        every_seconds=_read(given, "OTEL_BSP_SCHEDULE_DELAY", _milliseconds, "5000") / 1000,
        batch_spans=batch_spans,
        queue_spans=queue_spans,
    )


def _read_metrics(given: Mapping[str, str]) -> Figures:
    variable = "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE"
    if given.get(variable, "cumulative").lower() != "cumulative":
        raise SettingsError(f"{variable} must be cumulative: Flagstaff's counters only ever grow, as for Prometheus.")
    return Figures(
        timeout_seconds=_read_common(given, "METRICS"),
        every_seconds=_read(given, "OTEL_METRIC_EXPORT_INTERVAL", _milliseconds, "60000") / 1000,
    )


def _word_parser(choices: Any) -> Callable[[str], str]:
    """A parser of the words of a Literal, which the SDK reads in any case."""
    parse = choice_parser(choices)
    return lambda text: parse(text.lower())


def _read_common(given: Mapping[str, str], signal: str) -> float:
    """Check what both signals have, and return the timeout in seconds."""

    def read(name: str, parse: Callable[[str], Value], default: str) -> Value:
        own, shared = f"OTEL_EXPORTER_OTLP_{signal}_{name}", f"OTEL_EXPORTER_OTLP_{name}"
        return _read(given, own if own in given else shared, parse, default)

    read("ENDPOINT", _check_endpoint, "http://localhost:4318")
    read("PROTOCOL", _check_protocol, "http/protobuf")
    read("HEADERS", _check_headers, "")
    read("COMPRESSION", _word_parser(_Compression), "none")
    return read("TIMEOUT", _parse_timeout, "10000") / 1000


def _read(given: Mapping[str, str], variable: str, parse: Callable[[str], Value], default: str) -> Value:
    try:
        return parse(given.get(variable, default))
    except ValueError as error:
        raise SettingsError(f"{variable} {error}.") from None


def _parse_ratio(text: str) -> float:
    try:
        ratio = float(text)
    except ValueError:
        ratio = -1.0
    if not 0.0 <= ratio <= 1.0:
        raise ValueError(f"must be a share from 0 to 1, such as 0.01, not {text!r}")
    return ratio


def _parse_timeout(text: str) -> int:
    """In milliseconds, as in the specification. The SDK for Python takes seconds, so a small number is a mistake."""
    accepted = "must be a number of milliseconds from 100 to 600000, as OpenTelemetry's specification says"
    if not text.isascii() or not text.isdecimal() or not 100 <= int(text) <= 600_000:
        raise ValueError(f"{accepted}, not {text!r}")
    return int(text)


def _check_endpoint(text: str) -> None:
    try:
        url = urlsplit(text)
        is_valid = url.scheme in {"http", "https"} and bool(url.hostname) and url.port != 0
    except ValueError:
        is_valid = False
    if not is_valid:  # not shown: it may have a password
        raise ValueError("must be the URL of a receiver of OTLP over HTTP, such as http://collector:4318")


def _check_protocol(text: str) -> None:
    if text != "http/protobuf":
        raise ValueError(
            f"must be http/protobuf, which receivers usually accept on port 4318; Flagstaff does not send {text!r}"
        )


def _check_headers(text: str) -> None:
    for item in filter(None, map(str.strip, text.split(","))):
        found = _HEADER.fullmatch(item)
        name, value = map(unquote, found.groups()) if found else ("", "")
        if not _TOKEN.fullmatch(name) or not (value.isascii() and value.isprintable()):  # not shown: has credentials
            raise ValueError("must be a comma-separated list of name=value, with special characters as in URLs (%20)")
