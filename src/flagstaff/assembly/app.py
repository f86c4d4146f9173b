"""All routes and middleware."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import files
from typing import Any

import msgspec
from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff import __version__
from flagstaff.api.auth import Authentication
from flagstaff.api.idempotency import IdempotencyKeys
from flagstaff.api.invalid import add_problem_handlers
from flagstaff.api.operations import list_operations
from flagstaff.api.revisions import RevisionHeader
from flagstaff.applications import applications_routes, exports_routes
from flagstaff.applications.applications_service import ApplicationReports
from flagstaff.applications.exports_service import Exports
from flagstaff.assembly import health
from flagstaff.assembly.docs import add_docs
from flagstaff.assembly.health import Shared
from flagstaff.assembly.openapi import describe
from flagstaff.audit import change_exports_routes, change_summaries_routes, changes_routes, events_routes
from flagstaff.audit.changes_service import Changes
from flagstaff.audit.events_routes import Events
from flagstaff.cluster import instances_routes
from flagstaff.cluster.instances_service import ServingInstances
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.copying import comparisons_routes, copies_routes, restores_routes
from flagstaff.copying.clones_service import Clones
from flagstaff.copying.comparisons_service import Comparisons
from flagstaff.copying.copies_service import Copies
from flagstaff.copying.restores_service import Restores
from flagstaff.flags import bulk_actions_routes, condition_work_routes, flags_routes, project_flags_routes
from flagstaff.flags.bulk_actions_service import BulkActions
from flagstaff.flags.condition_work_service import ConditionWork
from flagstaff.flags.flags_service import Flags
from flagstaff.flags.project_flags_service import ProjectFlags
from flagstaff.flags.targeting import rules_routes, segments_routes
from flagstaff.flags.targeting.rules_service import Rules
from flagstaff.flags.targeting.segments_service import Segments
from flagstaff.history import history_routes, summaries_routes, user_history_routes
from flagstaff.history.history_service import History
from flagstaff.history.user_history_service import UserHistory
from flagstaff.http.bodies import BodyLimit
from flagstaff.http.compression import Compression
from flagstaff.http.cors import CrossOrigin
from flagstaff.http.dashboard.pages import Dashboard
from flagstaff.http.limits import Limits
from flagstaff.http.middleware import Edge, RequestIds
from flagstaff.http.nesting import NestingBound
from flagstaff.http.operations import Operations
from flagstaff.identity.access_tokens import access_tokens_routes
from flagstaff.identity.access_tokens.access_tokens_service import AccessTokens
from flagstaff.identity.accounts import accounts_routes, own_account_routes
from flagstaff.identity.accounts.accounts_service import Accounts
from flagstaff.identity.accounts.confirmations import Confirmations
from flagstaff.identity.accounts.trusted_addresses import KnownClients
from flagstaff.identity.administration import administration_routes, instance_routes
from flagstaff.identity.administration.administrators_service import Administrators
from flagstaff.identity.administration.instance_service import Instance
from flagstaff.identity.second_factors import passkeys_routes, second_factors_routes
from flagstaff.identity.second_factors.passkeys_service import Passkeys
from flagstaff.identity.second_factors.requirement import SecondFactorDemand
from flagstaff.identity.second_factors.second_factors_service import SecondFactors
from flagstaff.identity.sessions import sessions_routes
from flagstaff.identity.sessions.sessions_service import Sessions
from flagstaff.identity.single_sign_on import single_sign_on_routes
from flagstaff.identity.single_sign_on.single_sign_on_service import SingleSignOn
from flagstaff.insight import answers_routes, cleanup_routes, explanations_routes, impacts_routes, playground_routes
from flagstaff.insight.cleanup_service import Cleanup
from flagstaff.insight.explanations_service import Explanations
from flagstaff.insight.impacts_service import Impacts
from flagstaff.insight.playground_service import Playground
from flagstaff.projects import (
    environments_routes,
    invitations_routes,
    members_routes,
    projects_routes,
    sdk_keys_routes,
)
from flagstaff.projects.environments_service import Environments
from flagstaff.projects.idempotency_service import Idempotency
from flagstaff.projects.invitations_service import Invitations
from flagstaff.projects.members_service import Members
from flagstaff.projects.projects_service import Projects
from flagstaff.projects.sdk_keys_service import SdkKeys
from flagstaff.serving.evaluate import ENDPOINT as EVALUATE_ENDPOINT
from flagstaff.serving.evaluate import PATH, Evaluate
from flagstaff.serving.evaluate_route import EvaluateRoute
from flagstaff.serving.ofrep.description import describe_ofrep
from flagstaff.serving.ofrep.errors import ENDPOINT as OFREP_ENDPOINT
from flagstaff.serving.ofrep.errors import PATH as OFREP_PATH
from flagstaff.serving.ofrep.errors import ofrep_form
from flagstaff.serving.ofrep.streams import PATH as OFREP_STREAMS
from flagstaff.serving.read_your_writes import ReadYourWrites
from flagstaff.serving.unleash.client import ENDPOINT as UNLEASH_ENDPOINT
from flagstaff.serving.unleash.errors import unleash_form
from flagstaff.serving.unleash.frontend import ENDPOINT as FRONTEND_ENDPOINT
from flagstaff.serving.unleash.frontend import PATH as FRONTEND_PATH
from flagstaff.settings import Registration
from flagstaff.telemetry import Metrics
from flagstaff.values.errors import Error
from flagstaff.views import favourites_routes, saved_views_routes
from flagstaff.views.favourites_service import Favourites
from flagstaff.views.saved_views_service import SavedViews

Protocols = Mapping[str, ASGIApp]
"""The routes that answer other products' clients, by the start of the path; the first one that fits answers."""

_PAGE_SECONDS = 1.0
_ENDPOINTS = (OFREP_ENDPOINT, FRONTEND_ENDPOINT, EVALUATE_ENDPOINT, UNLEASH_ENDPOINT)  # longer ones come first
_one_flag = re.compile(f"{PATH}/[^/]+")
_plain_path = re.compile(
    f"{PATH}|{OFREP_PATH}|{OFREP_STREAMS}|{FRONTEND_PATH}(/client/(metrics|register))?"
    "|/unleash/api/client/(features|register|metrics(/bulk|/edge)?|streaming|delta)|/unleash/(api/)?edge/validate"
)
_evaluation = re.compile(f"({PATH}|{OFREP_PATH})(/.*)?|{FRONTEND_PATH}", re.DOTALL)

# The framework's would see only its own routes, and would have paths and queries as they were sent.
_NO_TELEMETRY_OF_ITS_OWN: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What the routes use; they find each part by name in `app.state`."""

    accounts: Accounts
    sessions: Sessions
    access_tokens: AccessTokens
    confirmations: Confirmations
    second_factors: SecondFactors
    passkeys: Passkeys
    single_sign_on: SingleSignOn
    known_clients: KnownClients
    projects: Projects
    members: Members
    administrators: Administrators
    invitations: Invitations
    environments: Environments
    cleanup: Cleanup
    clones: Clones
    comparisons: Comparisons
    copies: Copies
    bulk_actions: BulkActions
    favourites: Favourites
    condition_work: ConditionWork
    saved_views: SavedViews
    events: Events
    segments: Segments
    sdk_keys: SdkKeys
    flags: Flags
    project_flags: ProjectFlags
    rules: Rules
    explanations: Explanations
    playground: Playground
    exports: Exports
    changes: Changes
    restores: Restores
    history: History
    user_history: UserHistory
    impacts: Impacts
    applications: ApplicationReports
    idempotency: Idempotency
    supervisor: Supervisor
    instance: Instance
    instances: ServingInstances
    limits: Limits
    metrics: Metrics
    require_staying: Callable[[], None]
    check_readiness: Callable[[], Awaitable[None]]

    async def find_registration(self) -> Registration:
        """Whether the dashboard offers to create an account."""
        try:
            async with asyncio.timeout(_PAGE_SECONDS):
                is_open = await self.instance.is_registration_open()
        except (Error, TimeoutError):  # the page does not need the database
            return self.instance.default_registration
        return "open" if is_open else "closed"

    async def render_figures(self) -> tuple[bytes, str]:
        """The text that Prometheus reads, and its content type."""
        return self.metrics.render()


def create_api() -> FastAPI:
    """The routes. Describing them needs no state."""
    app = FastAPI(
        openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False, telemetry=_NO_TELEMETRY_OF_ITS_OWN
    )
    resources = (
        accounts_routes,
        own_account_routes,
        sessions_routes,
        access_tokens_routes,
        second_factors_routes,
        passkeys_routes,
        single_sign_on_routes,
        projects_routes,
        members_routes,
        invitations_routes,
        environments_routes,
        events_routes,
        segments_routes,
        sdk_keys_routes,
        flags_routes,
        bulk_actions_routes,
        favourites_routes,
        condition_work_routes,
        saved_views_routes,
        project_flags_routes,
        cleanup_routes,
        rules_routes,
        comparisons_routes,
        copies_routes,
        explanations_routes,
        answers_routes,
        playground_routes,
        impacts_routes,
        exports_routes,
        changes_routes,
        change_exports_routes,
        change_summaries_routes,
        restores_routes,
        history_routes,
        summaries_routes,
        user_history_routes,
        applications_routes,
        administration_routes,
        instance_routes,
        instances_routes,
        health,
    )
    for resource in resources:
        app.routes.extend(resource.router.routes)  # one flat list, so that a 405 can name all methods of a path
    add_problem_handlers(app)
    return app


def find_route(scope: Scope) -> str | None:
    """The template of the path of a request that was answered; None if there is nothing, or a file of the dashboard."""
    route: str | None = getattr(scope.get("route"), "path", None)
    path: str = scope["path"]
    if route is not None:
        return route
    if _plain_path.fullmatch(path):
        return path
    if _one_flag.fullmatch(path):
        return f"{PATH}/{{flag_key}}"
    return f"{OFREP_PATH}/{{key}}" if path.startswith(f"{OFREP_PATH}/") else None


def describe_api() -> dict[str, Any]:
    """The OpenAPI document, made anew, which takes half a second of processor time."""
    return describe(create_api(), __version__)


@cache
def _description() -> bytes:
    """The document as it is served: the committed one, which a test compares with `describe_api`."""
    return msgspec.json.format(files(__package__).joinpath("openapi.json").read_bytes(), indent=-1)


def create_app(
    state: State,
    evaluate: Evaluate,
    protocols: Protocols,
    *,
    read_your_writes: ReadYourWrites,
    cut_off: Callable[[ASGIApp], ASGIApp],
    request_ids: RequestIds,
    cross_origin: CrossOrigin,
    access_log: bool,
) -> ASGIApp:
    """The whole application, from the outermost middleware to the routes.

    `cut_off` is put in front of the routes that evaluate.
    """
    api = create_api()
    add_docs(api, {"/openapi.json": _description(), "/openapi/ofrep.json": describe_ofrep()})
    api.router.default = Dashboard(api.router.default, find_registration=Shared(state.find_registration))
    for part in fields(state):
        setattr(api.state, part.name, getattr(state, part.name))
    api.state.readiness = Shared(state.check_readiness)
    api.state.figures = Shared(state.render_figures)
    evaluate_route = cut_off(EvaluateRoute(evaluate, state.limits, read_your_writes))
    protocols = {start: cut_off(route) for start, route in protocols.items()}
    keyed = IdempotencyKeys(NestingBound(api), state.idempotency)
    demanding = SecondFactorDemand(RevisionHeader(keyed), state.instance)
    others = Compression(Authentication(demanding, state.sessions, state.access_tokens, state.limits, state.supervisor))

    async def dispatch(scope: Scope, receive: Receive, send: Send) -> None:
        # Bypasses the framework, which would take longer than the evaluation does.
        target: ASGIApp = others
        if scope["type"] == "http":
            path: str = scope["path"]
            if path == PATH or _one_flag.fullmatch(path):
                target = evaluate_route
            else:
                target = next((route for start, route in protocols.items() if path.startswith(start)), others)
        await target(scope, receive, send)

    return Edge(
        BodyLimit(dispatch, Operations(list_operations(api.routes), _ENDPOINTS)),
        request_ids=request_ids,
        cross_origin=cross_origin,
        metrics=state.metrics,
        limits=state.limits,
        access_log=access_log,
        is_evaluation=lambda path: _evaluation.fullmatch(path) is not None,
        error_forms={"/ofrep/": ofrep_form, "/unleash/": unleash_form},
    )
