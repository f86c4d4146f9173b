"""Builds what answers requests: the application, the fast path in front of it, and what accepts connections."""

import socket
from collections.abc import Callable
from functools import partial

from starlette.types import ASGIApp

from flagstaff.assembly.app import Protocols, create_app, find_route
from flagstaff.assembly.applications import LocalApplications
from flagstaff.assembly.foundation import Foundation
from flagstaff.assembly.serving import ServedState
from flagstaff.cluster.lease import Lease
from flagstaff.history.callers import SdkProtocol
from flagstaff.history.recorder import EvaluationRecorder
from flagstaff.http.clients import Clients
from flagstaff.http.common_headers import CommonHeaders, security_headers
from flagstaff.http.connections.acceptor import Acceptor
from flagstaff.http.connections.body_memory import BodyMemory
from flagstaff.http.connections.connection_bounds import INTERNAL_CONNECTIONS, ConnectionBounds
from flagstaff.http.connections.protocol import BoundedProtocol
from flagstaff.http.connections.rejections import Rejections
from flagstaff.http.cors import CrossOrigin
from flagstaff.http.deferred import Deferred
from flagstaff.http.draining import Draining
from flagstaff.http.limits import Limits
from flagstaff.http.middleware import RequestIds
from flagstaff.http.services import Services
from flagstaff.http.traced import Traced
from flagstaff.metrics.event_buffer import EventBuffer
from flagstaff.serving.access import KeyAccess
from flagstaff.serving.cut_off import CutOff
from flagstaff.serving.evaluate import Evaluate
from flagstaff.serving.evaluate_route import EvaluateRoute
from flagstaff.serving.evaluations import Evaluations
from flagstaff.serving.events import PATH as EVENTS_PATH
from flagstaff.serving.events import EventsRoute
from flagstaff.serving.fast_path.endpoints import evaluate_endpoint, events_endpoint, ofrep_endpoint
from flagstaff.serving.fast_path.fast_path import FastPath, FastPathProtocol, connection_class
from flagstaff.serving.fast_path.traced_fast_path import TracedFastPathProtocol
from flagstaff.serving.ofrep.answers import Ofrep
from flagstaff.serving.ofrep.errors import STREAMS_PATH
from flagstaff.serving.ofrep.route import OfrepRoute
from flagstaff.serving.ofrep.streams import OfrepStreamRoute
from flagstaff.serving.read_your_writes import ReadYourWrites
from flagstaff.serving.refetches import Refetches
from flagstaff.serving.stream_tokens import StreamTokens
from flagstaff.serving.translations import Translations
from flagstaff.serving.unleash.client import PREFIX as UNLEASH_PREFIX
from flagstaff.serving.unleash.client import ClientRoute
from flagstaff.serving.unleash.frontend import FrontendRoute
from flagstaff.serving.unleash.stream_clients import StreamClients
from flagstaff.serving.unleash.streaming import DELTA, STREAMING, StreamingRoute
from flagstaff.settings import Settings


def preload_api(path_prefix: str) -> None:
    """Import the management API and make what no instance changes. Processes that are forked later share its memory."""
    from flagstaff.assembly.api import preload  # noqa: PLC0415

    preload(path_prefix)


def _build_api(services: Services, settings: Settings) -> ASGIApp:
    from flagstaff.assembly.api import build_api  # noqa: PLC0415 -- this is what takes long

    return build_api(services, settings)


class Edge:
    """The layer that answers requests. `asgi` is the application, and `connection_class` is uvicorn's `http`.

    Connections of the internal port have `internal_connection_class`.
    """

    def __init__(
        self,
        foundation: Foundation,
        served: ServedState,
        recorder: EvaluationRecorder,
        events: EventBuffer,
        applications: LocalApplications,
        lease: Lease,
    ) -> None:
        settings, supervisor, tracing = foundation.settings, foundation.supervisor, foundation.tracing
        services = foundation.offered()
        limits, refetches, sdk_keys = services[Limits], services[Refetches], served.sdk_keys
        self.limits, self.clients = limits, Clients(limits, sdk_keys.find_owner)
        services.add(self.clients)
        bodies = BodyMemory(self.clients.find)
        bodies.export_metrics(foundation.metrics)
        self._supervisor, self._bounds = supervisor, served.connection_bounds
        self._internal_bounds = ConnectionBounds(
            most=INTERNAL_CONNECTIONS, most_per_address=INTERNAL_CONNECTIONS // 2, trusted_proxies=()
        )
        in_protocol = partial(
            Evaluations,
            recorder=recorder,
            now=foundation.now,
            record_asked=applications.collector.record_asked,
            keep=settings.history_attributes,
        )
        evaluate = Evaluate(sdk_keys=sdk_keys, limiter=limits.evaluate, evaluations=in_protocol())
        translations, read_your_writes = Translations(supervisor), ReadYourWrites(served.snapshots, supervisor)
        callers = applications.caller_counts
        key_access = KeyAccess(sdk_keys.find, limits, refetches, callers)
        ofrep = Ofrep(sdk_keys, key_access, in_protocol(protocol=SdkProtocol.OFREP), translations, read_your_writes)
        streaming = StreamingRoute(
            key_access, applications.local_flags, served.streams, StreamClients(limits), applications.collector
        )
        stream_tokens = StreamTokens(foundation.secret_key, foundation.now)
        events_route = EventsRoute(sdk_keys, limits, events, callers)
        protocols: Protocols = {  # longer ones come first
            STREAMS_PATH: OfrepStreamRoute(sdk_keys, key_access, stream_tokens, served.streams, refetches),
            EVENTS_PATH: events_route,
            "/ofrep/": OfrepRoute(ofrep, stream_tokens, refetches, settings.path_prefix),
            "/unleash/api/frontend": FrontendRoute(
                key_access, in_protocol(protocol=SdkProtocol.UNLEASH_FRONTEND), translations, refetches.names
            ),
            STREAMING: streaming,
            DELTA: streaming,
            UNLEASH_PREFIX: ClientRoute(
                key_access,
                applications.local_flags,
                applications.collector,
                moves_to_stream=settings.unleash_fetch_mode == "streaming",
            ),
        }
        request_ids, cross_origin, metrics = RequestIds(), CrossOrigin(settings.cors_origins), foundation.metrics
        cut_off = CutOff(lease, refuses=settings.when_cut_off == "refuse")
        security = security_headers(settings.public_url)
        common_headers = CommonHeaders(security, cross_origin, cut_off.marks)
        self._api = Deferred(partial(_build_api, services, settings))
        app = create_app(
            self._api,
            EvaluateRoute(evaluate, limits, read_your_writes, callers),
            protocols,
            services=services,
            cut_off=cut_off,
            request_ids=request_ids,
            common_headers=common_headers,
            settings=settings,
        )
        self.asgi = Draining(app if tracing is None else Traced(app, tracing, find_route))
        self._fast_path = FastPath(
            (
                evaluate_endpoint(evaluate, metrics.evaluate_responses),
                ofrep_endpoint(ofrep, key_access, metrics.evaluate_responses),
                events_endpoint(events_route, metrics.event_responses),
            ),
            path_prefix=settings.path_prefix,
            clients=self.clients,
            callers=callers,
            cut_off=cut_off,
            request_ids=request_ids,
            security=security,
            cross_origin=cross_origin,
        )
        self.rejections = Rejections(request_ids, common_headers, limits, metrics)
        self.internal_connection_class = connection_class(self.rejections, None)
        shared: dict[str, object] = {"path_prefix": settings.path_prefix.encode(), "bodies": bodies}
        protocol = FastPathProtocol
        if tracing is not None:
            protocol, shared["tracing"] = TracedFastPathProtocol, tracing
        self.connection_class = connection_class(self.rejections, self._fast_path, protocol, **shared)

    async def load_api(self) -> None:
        """Load the management API, for which its requests wait. Evaluations are answered before."""
        await self._api.load()

    def begin_drain(self) -> None:
        """End each connection with its next response."""
        self.asgi.has_begun = True
        self._fast_path.close()

    def make_acceptor(
        self, listener: socket.socket, make_protocol: Callable[[], BoundedProtocol], *, is_internal: bool = False
    ) -> Acceptor:
        """Return an acceptor for the connections of a listening socket."""
        bounds = self._internal_bounds if is_internal else self._bounds
        return Acceptor(listener, make_protocol, bounds=bounds, rejections=self.rejections, supervisor=self._supervisor)
