"""Traces and metrics for OpenTelemetry, if its variables ask for them. Without them, its packages are not imported."""

from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from flagstaff import __version__
from flagstaff.assembly.cluster import instance_name
from flagstaff.cluster.worker import Worker
from flagstaff.cluster.worker_feed import worker_name
from flagstaff.settings import Settings
from flagstaff.settings.opentelemetry import OpenTelemetry
from flagstaff.values.errors import Code, Error

if TYPE_CHECKING:
    from flagstaff.telemetry.otel.assembly import Telemetry

_DEFAULT_PORTS = {"http": 80, "https": 443}


def require_sdk() -> None:
    """Import the packages, which workers then share: no thread and no connection begins.

    Raises:
        Error: UNAVAILABLE when they are not installed; INVALID when they do not accept a variable.
    """
    try:
        import_module("flagstaff.telemetry.otel.assembly")
    except ModuleNotFoundError as error:
        raise Error(
            Code.UNAVAILABLE,
            "The environment turns OpenTelemetry on, but its packages are not installed. Install them with: "
            "pip install 'flagstaff[otel]', or set OTEL_SDK_DISABLED to true.",
        ) from error
    except ValueError as error:
        raise Error(Code.INVALID, f"OpenTelemetry does not accept a variable: {error}") from error


def make_telemetry(settings: Settings, wanted: OpenTelemetry | None, worker: Worker | None) -> "Telemetry | None":
    """Make what sends traces and metrics, or None if nothing is to be sent. The first worker sends the metrics of all.

    Raises:
        Error: INVALID when the SDK does not accept a variable.
    """
    if wanted is None:
        return None
    from flagstaff.telemetry.otel import assembly  # noqa: PLC0415

    name = instance_name(settings)
    service = {"service.name": "flagstaff", "service.version": __version__}
    traces = metrics = None
    if wanted.traces:
        own_name = worker_name(name, worker.slot) if worker else name
        resource = assembly.make_resource({**service, "service.instance.id": own_name})
        traces = assembly.make_traces(resource, _server(settings), **asdict(wanted.traces))
    if wanted.metrics and (worker is None or worker.is_first):
        resource = assembly.make_resource({**service, "service.instance.id": name})
        metrics = assembly.make_metrics(resource, **asdict(wanted.metrics))
    return assembly.Telemetry(traces, metrics)


def _server(settings: Settings) -> dict[str, str | int]:
    """Return the address that clients call, by the settings. A request's own header could say anything."""
    url = urlsplit(settings.public_url)
    return {"server.address": url.hostname or settings.host, "server.port": url.port or _DEFAULT_PORTS[url.scheme]}
