"""Unleash's stream of changes, and its `delta`, which answers with the changes since a client's last request.

A stream begins with all features, and is then sent those that have changed. `delta` answers with all features if this
instance does not know the state that the client has. Numbers of events are revisions of the environment, the same on
all instances.
"""

from collections.abc import Iterable
from functools import partial
from uuid import UUID

from starlette.types import Receive, Scope, Send

from flagstaff.concurrency.worker import in_worker
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownEnvironment
from flagstaff.evaluation.unleash.events import hydrate, tell
from flagstaff.evaluation.unleash.local_flags import LocalFlags
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.errors import MethodNotAllowedError
from flagstaff.serving.access import SERVER_ONLY, KeyAccess, open_access
from flagstaff.serving.entity_tags import Headers, given_tags, send_chunks, send_unchanged, tag_header
from flagstaff.serving.event_stream import Stream, event, event_frame, serve_stream
from flagstaff.serving.local_flags import LocalFlagsCache
from flagstaff.serving.reports_collector import Applications
from flagstaff.serving.streams import EVENT_MAX_BYTES, Reconnect, Streams, Topic
from flagstaff.serving.unleash.errors import credential_in
from flagstaff.serving.unleash.payloads import payload_of
from flagstaff.serving.unleash.reports import client_in
from flagstaff.serving.unleash.stream_clients import Missed, StreamClients

STREAMING = "/unleash/api/client/streaming"
DELTA = "/unleash/api/client/delta"
_KIND = "unleash"
_CONNECTED, _UPDATED = "unleash-connected", "unleash-updated"
_POLL = b"event: fetch-mode\ndata: polling\n\n"
"""An event after which some SDKs poll; others ignore it."""
_HEADERS = ((b"cache-control", b"private, no-cache"),)


class Features:
    """Tells a topic's streams which features have changed."""

    def __init__(self, flags: LocalFlagsCache) -> None:
        self._flags = flags
        self._held: set[LocalFlags] = set()

    def record_held(self, state: LocalFlags) -> None:
        """Note the state that another stream begins with. It may be one that no event tells of."""
        self._held.add(state)

    async def news(self, environment: KnownEnvironment) -> bytes | Reconnect | None:
        """The features that differ from a state that a stream has; raises Error UNAVAILABLE.

        If these are too many for an event, clients connect again, and get all features at their own speed.
        """
        while True:
            now, held = await self._flags.current(environment), frozenset(self._held)
            changed: set[str] = set()
            for state in held:
                changed.update(await in_worker(now.compare, state))
            told = await in_worker(tell, now, sorted(changed), environment.project_id)
            # A stream may have begun with a later state in the meantime, which must not be taken back.
            if await self._flags.current(environment) is now:
                break
        self._held = {now, *(self._held - held)}
        if not changed:
            return None
        return Reconnect() if told.length > EVENT_MAX_BYTES else event(_UPDATED, now.revision, told.whole())


class StreamingRoute:
    """Answers the stream and the `delta` of the environment that an SDK key opens."""

    def __init__(
        self,
        key_access: KeyAccess,
        flags: LocalFlagsCache,
        streams: Streams,
        clients: StreamClients,
        applications: Applications,
    ) -> None:
        self._key_access = key_access
        self._flags = flags
        self._streams = streams
        self._clients = clients
        self._applications = applications

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise MethodNotAllowedError("GET")
        key = credential_in(scope["headers"])
        protocol = SdkProtocol.UNLEASH if scope["path"] == DELTA else SdkProtocol.STREAM
        access, environment = await self._key_access.open(scope, key, protocol, SERVER_ONLY)
        flags = await self._flags.current(environment)  # before the head, so that a failure is a 503
        client = client_in(scope["headers"])
        if scope["path"] == DELTA:
            self._applications.record_poll(environment.environment_id, client, flags.revision)
            await _answer(flags, environment.project_id, scope["headers"], send)
            return
        key_id = access.key_id
        assert key_id is not None  # of an environment
        self._clients.admit(key_id, client, scope)
        self._streams.require_room(key_id)
        topic = Topic(_KIND, environment.project_id, environment.environment_id)

        async def begin(stream: Stream) -> Iterable[bytes]:
            opened = await self._open(key, environment, topic, stream)
            document = await in_worker(hydrate, opened)
            missed = self._clients.find_missed(key_id, client, scope["headers"])
            stream.has_missed |= missed is not Missed.NOTHING  # so that it ends after its first event
            before, after = event_frame(_CONNECTED, opened.revision)
            return document.between(before, after + (_POLL if missed is Missed.ALL else b"")).chunks()

        def end(stream: Stream) -> None:
            self._streams.close(topic, stream)
            self._clients.record_end(key_id, client, stream.sent)
            self._applications.record_closed(topic.environment_id, client)

        caller = self._key_access.callers.identify(scope, protocol, access, environment)
        make_stream = partial(Stream, key_id=key_id, expires_at=access.expires_at, client=client, caller=caller)
        await serve_stream(scope, receive, send, make_stream=make_stream, begin=begin, end=end)

    async def _open(self, key: str, environment: EnvironmentSnapshot, topic: Topic, stream: Stream) -> LocalFlags:
        """Open a stream, and return the features that it begins with. `environment` is what the key opened before.

        Raises:
            Error: as `open_access`, if the key was revoked in the meantime.
        """
        while True:
            flags = await self._flags.current(environment)
            access, environment = await open_access(self._key_access.find, key, (), SERVER_ONLY)
            known = access.project.known[environment.environment_id]
            if not self._streams.is_ahead(topic, flags.revision):
                make_feed = partial(Features, self._flags)
                feed = self._streams.open(topic, stream, known, flags.revision, make_feed)
                assert isinstance(feed, Features)
                feed.record_held(flags)
                return flags


async def _answer(flags: LocalFlags, project_id: UUID, headers: Headers, send: Send) -> None:
    """Answer with what has changed since the state that a client has."""
    given, payload = given_tags(headers), await payload_of(flags)
    changed = flags.past.since(given)
    if payload.tag in given or changed == []:
        await send_unchanged(payload.tag, send, _HEADERS)
        return
    if changed is None:
        document = await in_worker(hydrate, flags)
    else:
        document = await in_worker(tell, flags, changed, project_id)
    await send_chunks(document.chunks(), document.length, send, [tag_header(payload.tag), *_HEADERS])
