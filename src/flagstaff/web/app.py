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
from flagstaff.domain.errors import Error
from flagstaff.runtime.read_your_writes import ReadYourWrites
from flagstaff.runtime.supervisor import Supervisor
from flagstaff.services.access_tokens import AccessTokens
from flagstaff.services.accounts import Accounts
from flagstaff.services.administrators import Administrators
from flagstaff.services.applications import ApplicationReports
from flagstaff.services.bulk_actions import BulkActions
from flagstaff.services.changes import Changes
from flagstaff.services.cleanup import Cleanup
from flagstaff.services.clones import Clones
from flagstaff.services.comparisons import Comparisons
from flagstaff.services.condition_work import ConditionWork
from flagstaff.services.confirmations import Confirmations
from flagstaff.services.copies import Copies
from flagstaff.services.environments import Environments
from flagstaff.services.explanations import Explanations
from flagstaff.services.exports import Exports
from flagstaff.services.favourites import Favourites
from flagstaff.services.flags import Flags
from flagstaff.services.history import History
from flagstaff.services.idempotency import Idempotency
from flagstaff.services.impacts import Impacts
from flagstaff.services.instance import Instance
from flagstaff.services.instances import ServingInstances
from flagstaff.services.invitations import Invitations
from flagstaff.services.known_clients import KnownClients
from flagstaff.services.members import Members
from flagstaff.services.passkeys import Passkeys
from flagstaff.services.playground import Playground
from flagstaff.services.project_flags import ProjectFlags
from flagstaff.services.projects import Projects
from flagstaff.services.restores import Restores
from flagstaff.services.rules import Rules
from flagstaff.services.saved_views import SavedViews
from flagstaff.services.sdk_keys import SdkKeys
from flagstaff.services.second_factors import SecondFactors
from flagstaff.services.segments import Segments
from flagstaff.services.sessions import Sessions
from flagstaff.services.single_sign_on import SingleSignOn
from flagstaff.services.user_history import UserHistory
from flagstaff.settings import Registration
from flagstaff.telemetry import Metrics
from flagstaff.web import health
from flagstaff.web.dashboard.pages import Dashboard
from flagstaff.web.docs import add_docs
from flagstaff.web.edge.bodies import BodyLimit
from flagstaff.web.edge.compression import Compression
from flagstaff.web.edge.cors import CrossOrigin
from flagstaff.web.edge.limits import Limits
from flagstaff.web.edge.middleware import Edge, RequestIds
from flagstaff.web.edge.nesting import NestingBound
from flagstaff.web.health import Shared
from flagstaff.web.management import (
    access_tokens,
    accounts,
    administration,
    answers,
    applications,
    bulk_actions,
    change_exports,
    change_summaries,
    changes,
    cleanup,
    comparisons,
    condition_work,
    copies,
    environments,
    events,
    explanations,
    exports,
    favourites,
    flags,
    history,
    impacts,
    instance,
    instances,
    invitations,
    members,
    own_account,
    passkeys,
    playground,
    project_flags,
    projects,
    restores,
    rules,
    saved_views,
    sdk_keys,
    second_factors,
    segments,
    sessions,
    single_sign_on,
    summaries,
    user_history,
)
from flagstaff.web.management.auth import Authentication
from flagstaff.web.management.demands import SecondFactorDemand
from flagstaff.web.management.events import Events
from flagstaff.web.management.idempotency import IdempotencyKeys
from flagstaff.web.management.invalid import add_problem_handlers
from flagstaff.web.management.revisions import RevisionHeader
from flagstaff.web.openapi import describe
from flagstaff.web.sdk.evaluate import PATH, Evaluate
from flagstaff.web.sdk.evaluate_route import EvaluateRoute
from flagstaff.web.sdk.ofrep.description import describe_ofrep
from flagstaff.web.sdk.ofrep.errors import PATH as OFREP_PATH
from flagstaff.web.sdk.ofrep.errors import ofrep_form
from flagstaff.web.sdk.ofrep.streams import PATH as OFREP_STREAMS
from flagstaff.web.sdk.unleash.errors import unleash_form
from flagstaff.web.sdk.unleash.frontend import PATH as FRONTEND_PATH

Protocols = Mapping[str, ASGIApp]
"""The routes that answer other products' clients, by the start of the path; the first one that fits answers."""

_PAGE_SECONDS = 1.0
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
        accounts,
        own_account,
        sessions,
        access_tokens,
        second_factors,
        passkeys,
        single_sign_on,
        projects,
        members,
        invitations,
        environments,
        events,
        segments,
        sdk_keys,
        flags,
        bulk_actions,
        favourites,
        condition_work,
        saved_views,
        project_flags,
        cleanup,
        rules,
        comparisons,
        copies,
        explanations,
        answers,
        playground,
        impacts,
        exports,
        changes,
        change_exports,
        change_summaries,
        restores,
        history,
        summaries,
        user_history,
        applications,
        administration,
        instance,
        instances,
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
        BodyLimit(dispatch),
        request_ids=request_ids,
        cross_origin=cross_origin,
        metrics=state.metrics,
        limits=state.limits,
        access_log=access_log,
        is_evaluation=lambda path: _evaluation.fullmatch(path) is not None,
        error_forms={"/ofrep/": ofrep_form, "/unleash/": unleash_form},
    )
