"""The management API, the dashboard and the documentation: all routes, and the middleware in front of them."""

import asyncio
from collections.abc import Mapping
from functools import cache, partial
from uuid import UUID

from fastapi import FastAPI
from fastapi.telemetry import TelemetryConfig
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.accounts import accounts_routes, administration_routes, own_account_routes, passkey_logins_routes
from flagstaff.accounts.credentials import read_credential
from flagstaff.accounts.single_sign_on import single_sign_on_routes
from flagstaff.api.authentication import Authentication
from flagstaff.api.invalid import add_problem_handlers
from flagstaff.api.operation_routes import admit
from flagstaff.applications import applications_routes, callers_routes, flag_exports_routes, request_metrics_routes
from flagstaff.assembly.docs import add_docs
from flagstaff.assembly.front import Front, nothing
from flagstaff.audit import (
    change_exports_routes,
    change_summaries_routes,
    changes_routes,
    deleted_projects_routes,
    events_routes,
)
from flagstaff.cluster import instances_routes
from flagstaff.comments import comments_routes
from flagstaff.concurrency.shared_answers import Shared
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.copying import comparisons_routes, copies_routes, new_environments_routes, restores_routes
from flagstaff.flags import bulk_actions_routes, condition_work_routes, flags_routes, project_flags_routes
from flagstaff.flags.targeting import rules_routes, segments_routes
from flagstaff.history import (
    flag_summaries_routes,
    history_routes,
    recorded_events_routes,
    summaries_routes,
    unknown_metrics_routes,
    user_history_routes,
)
from flagstaff.hooks import deliveries_routes, webhooks_routes
from flagstaff.http.clients import Clients
from flagstaff.http.compression import Compression
from flagstaff.http.dashboard.pages import DOCS, FILES, PATH_PREFIX, REGISTRATION, Dashboard
from flagstaff.http.limits import Limits
from flagstaff.http.services import SERVICES, Services
from flagstaff.identity.administration import instance_routes
from flagstaff.identity.administration.instance_service import Instance
from flagstaff.identity.second_factors import passkeys_routes, second_factors_routes
from flagstaff.identity.sessions import sessions_routes
from flagstaff.identity.sessions.sessions_service import Sessions
from flagstaff.insight import (
    answers_routes,
    causes_routes,
    cleanup_routes,
    explanations_routes,
    impacts_routes,
    playground_routes,
)
from flagstaff.metrics import metrics_routes
from flagstaff.notifications import notifications_routes, subscriptions_routes
from flagstaff.people import erasures_routes, user_data_routes
from flagstaff.projects import environments_routes, projects_routes, sdk_keys_routes
from flagstaff.projects.access_tokens import access_tokens_routes
from flagstaff.projects.access_tokens.access_tokens_service import AccessTokens
from flagstaff.projects.members import invitation_links_routes, invitations_routes, members_routes
from flagstaff.releases import outlook_routes, releases_routes, results_routes
from flagstaff.settings import Registration, Settings
from flagstaff.values.errors import Error
from flagstaff.views import favourites_routes, pinned_charts_routes, saved_views_routes

_PAGE_SECONDS = 1.0
_PAGE_WORDS = "page_words"

# The framework's would see only its own routes, and would have paths and queries as they were sent.
_NO_TELEMETRY_OF_ITS_OWN: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False, "auto_configure": False}


async def find_registration(instance: Instance) -> Registration:
    """Return whether the dashboard offers to create an account: `open` or `closed`."""
    try:
        async with asyncio.timeout(_PAGE_SECONDS):
            is_open = await instance.is_registration_open()
    except (Error, TimeoutError):  # the page does not need the database
        return instance.default_registration
    return "open" if is_open else "closed"


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
        passkey_logins_routes,
        single_sign_on_routes,
        projects_routes,
        members_routes,
        invitations_routes,
        invitation_links_routes,
        new_environments_routes,
        environments_routes,
        events_routes,
        segments_routes,
        metrics_routes,
        unknown_metrics_routes,
        recorded_events_routes,
        sdk_keys_routes,
        webhooks_routes,
        deliveries_routes,
        notifications_routes,
        subscriptions_routes,
        flags_routes,
        releases_routes,
        outlook_routes,
        results_routes,
        comments_routes,
        bulk_actions_routes,
        favourites_routes,
        condition_work_routes,
        saved_views_routes,
        pinned_charts_routes,
        project_flags_routes,
        cleanup_routes,
        rules_routes,
        comparisons_routes,
        copies_routes,
        explanations_routes,
        answers_routes,
        playground_routes,
        causes_routes,
        impacts_routes,
        request_metrics_routes,
        flag_exports_routes,
        changes_routes,
        change_exports_routes,
        change_summaries_routes,
        restores_routes,
        history_routes,
        summaries_routes,
        flag_summaries_routes,
        user_history_routes,
        erasures_routes,
        user_data_routes,
        applications_routes,
        callers_routes,
        administration_routes,
        deleted_projects_routes,
        instance_routes,
        instances_routes,
    )
    for resource in resources:
        app.routes.extend(resource.router.routes)  # one flat list, so that a 405 can name all methods of a path
    add_problem_handlers(app)
    return app


@cache
def _shared_api(path_prefix: str) -> ASGIApp:
    """The routes, the documents and the dashboard of all applications of a process. They find their own in the scope.

    So the workers of an instance share the memory of one that was made before the fork.
    """
    api = create_api()
    documents = add_docs(api, path_prefix)
    dashboard = Dashboard(nothing, find_words=lambda scope: scope[_PAGE_WORDS]())
    api.router.default = partial(admit, dashboard)
    return Front(api, api.routes, documents, api.router.default)


def preload(path_prefix: str) -> None:
    """Make and read what no application changes. Processes that are forked later share its memory."""
    _shared_api(path_prefix)


class _Application:
    """The shared routes with the services and settings of one application."""

    def __init__(self, services: Services, settings: Settings) -> None:
        self._api = _shared_api(settings.path_prefix)
        self._services = services
        self._find_registration = Shared(partial(find_registration, services[Instance]))
        prefix = settings.path_prefix
        self._page_words = {
            DOCS: "here" if settings.internal_port is None else "elsewhere",
            PATH_PREFIX: prefix,
            FILES: f'="{prefix}/',
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope[SERVICES] = self._services
        scope[_PAGE_WORDS] = self._find_page_words
        await self._api(scope, receive, send)

    async def _find_page_words(self) -> Mapping[str, str]:
        return {**self._page_words, REGISTRATION: await self._find_registration()}


def _read_account(sessions: Sessions, token: str) -> UUID | None:
    try:
        return sessions.read_token(token).account_id
    except Error:
        return None


def build_api(services: Services, settings: Settings) -> ASGIApp:
    """The application that answers every path at which nothing is evaluated."""
    credentials = partial(read_credential, services[Sessions], services[AccessTokens])
    demand = services[Instance].require_second_factor
    clients = services[Clients]
    clients.read_account = partial(_read_account, services[Sessions])
    services.add(Authentication(credentials, demand, services[Limits], clients, services[Supervisor]))
    return Compression(_Application(services, settings))
