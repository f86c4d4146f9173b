"""The whole application: what answers evaluations, and the management API behind it."""

from collections import defaultdict
from collections.abc import Mapping
from functools import partial

from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.http.bodies import BodyLimit
from flagstaff.http.clients import Clients
from flagstaff.http.common_headers import CommonHeaders
from flagstaff.http.limits import Limits
from flagstaff.http.middleware import Edge, RequestIds
from flagstaff.http.operations import SMALL_BODY, Endpoint
from flagstaff.http.probes import Probes, probe_routes, require_port
from flagstaff.http.request_turns import RequestTurns
from flagstaff.http.services import Services
from flagstaff.serving.cut_off import CutOff
from flagstaff.serving.evaluate import ENDPOINT as EVALUATE_ENDPOINT
from flagstaff.serving.events import ENDPOINT as EVENTS_ENDPOINT
from flagstaff.serving.events import PATH as EVENTS_PATH
from flagstaff.serving.ofrep.errors import ENDPOINT as OFREP_ENDPOINT
from flagstaff.serving.ofrep.errors import ofrep_form
from flagstaff.serving.unleash.client import ENDPOINT as UNLEASH_ENDPOINT
from flagstaff.serving.unleash.client import REPORTS_ENDPOINT
from flagstaff.serving.unleash.errors import unleash_form
from flagstaff.serving.unleash.frontend import ENDPOINT as FRONTEND_ENDPOINT
from flagstaff.serving.unleash.frontend import REPORTS_ENDPOINT as FRONTEND_REPORTS_ENDPOINT
from flagstaff.settings import Settings
from flagstaff.telemetry import Metrics

Protocols = Mapping[str, ASGIApp]
"""The routes that answer other products' clients, by the start of the path; the first one that fits answers."""

ENDPOINTS = (
    OFREP_ENDPOINT,
    FRONTEND_REPORTS_ENDPOINT,
    FRONTEND_ENDPOINT,
    EVENTS_ENDPOINT,
    EVALUATE_ENDPOINT,
    REPORTS_ENDPOINT,
    UNLEASH_ENDPOINT,
)
"""Longer ones come first."""


def find_route(scope: Scope) -> str | None:
    """The template of the path of a request that was answered; None if there is nothing, or a file of the dashboard."""
    route: str | None = getattr(scope.get("route"), "path", None)
    if route is not None:
        return route
    endpoint = _find_endpoint(scope["path"])
    return endpoint.find_template(scope["path"]) if endpoint else None


def _find_endpoint(path: str) -> Endpoint | None:
    return next((each for each in ENDPOINTS if path.startswith(each.start)), None)


def _find_body_max_bytes(path: str) -> int:
    endpoint = _find_endpoint(path)
    return endpoint.body_max_bytes if endpoint else SMALL_BODY


def _find_counts(metrics: Metrics, path: str) -> defaultdict[int, int] | None:
    if path == EVENTS_PATH:
        return metrics.event_responses
    endpoint = _find_endpoint(path)
    return metrics.evaluate_responses if endpoint is not None and endpoint.evaluates(path) else None


def create_app(
    api: ASGIApp,
    evaluate: ASGIApp,
    protocols: Protocols,
    *,
    services: Services,
    cut_off: CutOff,
    request_ids: RequestIds,
    common_headers: CommonHeaders,
    settings: Settings,
) -> ASGIApp:
    """The whole application, from the outermost middleware to the routes.

    `cut_off` guards the routes that evaluate, and `api` answers everything else. With an internal port, each port
    answers only its own paths.
    """

    def bound(route: ASGIApp) -> ASGIApp:
        return BodyLimit(route, _find_body_max_bytes)

    evaluate = bound(cut_off.guard(evaluate))
    probes = {path: bound(route) for path, route in probe_routes(services[Probes]).items()}
    protocols = {start: bound(cut_off.guard(route)) for start, route in protocols.items()}

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        # Bypasses the framework, which would take longer than the evaluation does.
        target = api
        if scope["type"] == "http":
            path: str = scope["path"]
            if settings.internal_port is not None:
                require_port(scope)
            if EVALUATE_ENDPOINT.evaluates(path):
                target = evaluate
            else:
                found = next((route for start, route in protocols.items() if path.startswith(start)), None)
                target = found or probes.get(path, api)
        await target(scope, receive, send)

    turns = RequestTurns(dispatch, services[Clients], services[Limits])
    turns.export_metrics(services[Metrics])
    return Edge(
        turns,
        settings=settings,
        request_ids=request_ids,
        common_headers=common_headers,
        metrics=services[Metrics],
        limits=services[Limits],
        find_counts=partial(_find_counts, services[Metrics]),
        error_forms={"/ofrep/": ofrep_form, "/unleash/": unleash_form},
    )
