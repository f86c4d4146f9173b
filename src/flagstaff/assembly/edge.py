"""Builds what answers requests: the application, the fast path in front of it, and what accepts connections."""

import socket
from collections.abc import Callable
from functools import partial

from flagstaff.assembly.app import Protocols, create_app, find_route
from flagstaff.assembly.applications import LocalApplications
from flagstaff.assembly.foundation import Foundation
from flagstaff.assembly.serving import ServedState
from flagstaff.cluster.lease import Lease
from flagstaff.history.recorder import Recorder
from flagstaff.http.acceptor import Acceptor
from flagstaff.http.cors import CrossOrigin
from flagstaff.http.draining import Draining
from flagstaff.http.limits import Limits
from flagstaff.http.middleware import RequestIds
from flagstaff.http.protocol import BoundedProtocol
from flagstaff.http.rejections import Refusals
from flagstaff.http.services import Services
from flagstaff.http.traced import Traced
from flagstaff.serving.access import Doors
from flagstaff.serving.cut_off import CutOff
from flagstaff.serving.evaluate import Evaluate
from flagstaff.serving.evaluations import Evaluations
from flagstaff.serving.fast_path.endpoints import evaluate_way, ofrep_way
from flagstaff.serving.fast_path.lane import Lane, connection_class
from flagstaff.serving.fast_path.traced_lane import TracedLaneProtocol
from flagstaff.serving.ofrep.answers import Ofrep
from flagstaff.serving.ofrep.errors import STREAMS_PATH
from flagstaff.serving.ofrep.route import OfrepRoute
from flagstaff.serving.ofrep.streams import OfrepStreamRoute
from flagstaff.serving.read_your_writes import ReadYourWrites
from flagstaff.serving.stream_tokens import StreamTokens
from flagstaff.serving.translations import Translations
from flagstaff.serving.unleash.client import PREFIX as UNLEASH_PREFIX
from flagstaff.serving.unleash.client import ClientRoute
from flagstaff.serving.unleash.frontend import FrontendRoute
from flagstaff.serving.unleash.streaming import DELTA, STREAMING, StreamingRoute


class Edge:
    """What answers requests. `asgi` is the application, and `connection_class` is uvicorn's `http`."""

    def __init__(
        self,
        foundation: Foundation,
        served: ServedState,
        recorder: Recorder,
        applications: LocalApplications,
        lease: Lease,
    ) -> None:
        settings, supervisor, tracing = foundation.settings, foundation.supervisor, foundation.tracing
        services = Services(*foundation.services)
        limits, sdk_keys = services[Limits], served.sdk_keys
        self._supervisor, self._bounds = supervisor, served.connection_bounds
        evaluations = Evaluations(
            recorder=recorder,
            now=foundation.now,
            note_asked=applications.collector.note_asked,
            keep=settings.history_attributes,
        )
        evaluate = Evaluate(sdk_keys=sdk_keys, limiter=limits.evaluate, evaluations=evaluations)
        translations, read_your_writes = Translations(supervisor), ReadYourWrites(served.snapshots, supervisor)
        doors = Doors(sdk_keys.find, limits)
        ofrep = Ofrep(sdk_keys, doors, evaluations, translations, read_your_writes)
        streaming = StreamingRoute(doors, applications.local_flags, served.streams, applications.collector)
        stream_tokens = StreamTokens(foundation.secret_key, foundation.now)
        protocols: Protocols = {  # longer ones come first
            STREAMS_PATH: OfrepStreamRoute(sdk_keys, doors, stream_tokens, served.streams),
            "/ofrep/": OfrepRoute(ofrep, stream_tokens),
            "/unleash/api/frontend": FrontendRoute(doors, evaluations, translations),
            STREAMING: streaming,
            DELTA: streaming,
            UNLEASH_PREFIX: ClientRoute(doors, applications.local_flags, applications.collector),
        }
        request_ids, cross_origin = RequestIds(), CrossOrigin(settings.cors_origins)
        refuses = settings.when_cut_off == "refuse"
        app = create_app(
            services,
            evaluate,
            protocols,
            read_your_writes=read_your_writes,
            cut_off=partial(CutOff, lease=lease, refuses=refuses),
            request_ids=request_ids,
            cross_origin=cross_origin,
            access_log=settings.access_log,
        )
        self.asgi = Draining(app if tracing is None else Traced(app, tracing, find_route))
        self._lane = Lane(
            (evaluate_way(evaluate), ofrep_way(ofrep, doors)),
            limits=limits,
            lease=lease,
            refuses_when_cut_off=refuses,
            request_ids=request_ids,
            cross_origin=cross_origin,
            metrics=foundation.metrics,
        )
        self.refusals = Refusals(request_ids, limits, foundation.metrics)
        used = self._lane if settings.evaluate_lane else None
        if tracing is None:
            self.connection_class = connection_class(self.refusals, used)
        else:
            self.connection_class = connection_class(self.refusals, used, TracedLaneProtocol, tracing=tracing)

    def begin_drain(self) -> None:
        """End each connection with its next response."""
        self.asgi.has_begun = True
        self._lane.close()

    def make_acceptor(self, listener: socket.socket, make_protocol: Callable[[], BoundedProtocol]) -> Acceptor:
        """What accepts the connections of a listening socket."""
        return Acceptor(
            listener, make_protocol, bounds=self._bounds, refusals=self.refusals, supervisor=self._supervisor
        )
