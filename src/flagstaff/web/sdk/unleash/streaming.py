"""Unleash's stream of changes, and its `delta`, which answers the same once.

A stream begins with all features; then it gets the features that a change has altered. Numbers of events are revisions
of the environment, the same on all instances.
"""

from collections.abc import Awaitable, Callable
from functools import lru_cache, partial

from starlette.types import Receive, Scope, Send

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.unleash.local_flags import LocalFlags
from flagstaff.runtime.applications import Applications
from flagstaff.runtime.local_flags import LocalFlagsCache
from flagstaff.runtime.sdk_keys import Access
from flagstaff.runtime.streams import Stream, Streams, Topic
from flagstaff.web.edge.errors import MethodNotAllowedError
from flagstaff.web.sdk.access import SERVER_ONLY, open_access
from flagstaff.web.sdk.entity_tags import send_tagged
from flagstaff.web.sdk.event_stream import event, serve_stream
from flagstaff.web.sdk.unleash.errors import credential_in
from flagstaff.web.sdk.unleash.reports import client_in

STREAMING = "/unleash/api/client/streaming"
DELTA = "/unleash/api/client/delta"
_KIND = "unleash"
_CONNECTED, _UPDATED = "unleash-connected", "unleash-updated"
_HEADERS = ((b"cache-control", b"no-cache"),)


class Features:
    """Tells a topic's streams which features have changed."""

    def __init__(self, flags: LocalFlagsCache, told: LocalFlags) -> None:
        """`told` is the state that the first stream was sent."""
        self._flags = flags
        self._told = told

    async def news(self, environment: EnvironmentSnapshot) -> bytes | None:
        """The features that differ from what was told last; raises Error UNAVAILABLE."""
        before, now = self._told, await self._flags.current(environment)
        self._told = now
        changed = [
            b'{"type":"feature-updated","eventId":%d,"feature":%b}' % (now.revision, feature)
            for key, feature in now.features.items()
            if before.features.get(key) != feature
        ]
        removed = [
            b'{"type":"feature-removed","eventId":%d,"featureName":"%b","project":"%b"}'
            % (now.revision, key.encode(), environment.project_id.hex.encode())
            for key in before.features.keys() - now.features.keys()
        ]
        if not changed and not removed:
            return None
        return event(_UPDATED, now.revision, _events(*changed, *removed))


class StreamingRoute:
    """Answers the stream and the `delta` of the environment that an SDK key opens."""

    def __init__(
        self,
        find: Callable[[str], Awaitable[Access | None]],
        flags: LocalFlagsCache,
        streams: Streams,
        applications: Applications,
    ) -> None:
        """`find` finds what an SDK key opens."""
        self._find = find
        self._flags = flags
        self._streams = streams
        self._applications = applications

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise MethodNotAllowedError("GET")
        key = credential_in(scope["headers"])
        access, environment = await open_access(self._find, key, SERVER_ONLY)
        flags = await self._flags.current(environment)  # before the head, so that a failure is a 503
        client = client_in(scope["headers"])
        if scope["path"] == DELTA:
            self._applications.note_poll(environment.environment_id, client, flags.revision)
            body = _events(_hydration(flags))
            await send_tagged(body, str(flags.revision), scope["headers"], send, _HEADERS)
            return
        assert access.key_id is not None  # of an environment
        self._streams.require_open()
        topic = Topic(_KIND, environment.project_id, environment.environment_id)

        async def begin(stream: Stream) -> bytes:
            return _first_event(await self._open(key, environment, topic, stream))

        def end(stream: Stream) -> None:
            self._streams.close(topic, stream)
            self._applications.note_closed(topic.environment_id, client)

        make_stream = partial(Stream, key_id=access.key_id, expires_at=access.expires_at, client=client)
        await serve_stream(scope, receive, send, make_stream=make_stream, begin=begin, end=end)

    async def _open(self, key: str, environment: EnvironmentSnapshot, topic: Topic, stream: Stream) -> LocalFlags:
        """Open a stream, and return the features that it begins with. `environment` is what the key opened before.

        Raises:
            Error: as `open_access`, if the key was revoked in the meantime.
        """
        while True:
            flags = await self._flags.current(environment)
            # Awaits nothing, because the key's project is loaded.
            _, environment = await open_access(self._find, key, SERVER_ONLY)
            if not self._streams.is_ahead(topic, flags.revision):
                self._streams.open(topic, stream, environment, flags.revision, partial(Features, self._flags, flags))
                return flags


@lru_cache(maxsize=16)
def _first_event(flags: LocalFlags) -> bytes:
    """All features. After a restart of the server many clients ask for the same ones at once."""
    return event(_CONNECTED, flags.revision, _events(_hydration(flags)))


def _hydration(flags: LocalFlags) -> bytes:
    features = b",".join(flags.features.values())
    return b'{"type":"hydration","eventId":%d,"features":[%b],"segments":[]}' % (flags.revision, features)


def _events(*events: bytes) -> bytes:
    return b'{"events":[%b]}' % b",".join(events)
