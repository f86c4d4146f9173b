"""OFREP's event streams: they tell browsers to fetch their flags again.

A browser's EventSource sends no headers, so its address has a token that is valid for an hour or two. It also names the
revision of the flags that it came with. A client that opens it is told to fetch unless that revision is the present
one: a `Last-Event-ID` would only prove that an event has arrived, not that the flags have.

OpenFeature's client for browsers fetches once for an event, and waits for the next one if that fails. So each event is
repeated. It leaves out its optional `etag`, which the client would add to the address of its request: browsers ask for
permission (CORS) once a day for the same address.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from flagstaff.evaluation.snapshot import EnvironmentSnapshot, KnownEnvironment
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.errors import MethodNotAllowedError, UnauthenticatedError
from flagstaff.serving.access import CHALLENGE, KeyAccess
from flagstaff.serving.event_stream import COMMENT, Stream, event, send_events, serve_stream
from flagstaff.serving.known_sdk_keys import Access, SdkKeys
from flagstaff.serving.ofrep.errors import STREAMS_PATH
from flagstaff.serving.page_origins import Headers, origin_in, require_allowed
from flagstaff.serving.refetches import Refetches
from flagstaff.serving.stream_tokens import KeyName, StreamToken, StreamTokens
from flagstaff.serving.streams import Streams, Topic

_KIND = "ofrep"
_TOKEN, _REVISION, _CLIENT = "token", "revision", "client"
_INACTIVITY_SECONDS = 120  # after which a hidden page may close its stream
_MAX_QUERY_FIELDS = 10
# An event is repeated at every second keep-alive, so for the first time after 10 to 20 seconds: streams are kept alive
# in turns, and their clients do not fetch together. It is repeated once in any case, because the tabs of a browser may
# have one name, and for at most ten minutes.
_REPEATED_EVERY, _REPEATED_UNTIL = 2, 60


class Offer(NamedTuple):
    """The member with which an answer offers a stream, and what tells the answers with different offers apart."""

    member: bytes
    tag: str


def wants_stream(query: bytes) -> bool:
    """Return whether a client asks for a stream, with `?stream=sse`."""
    return b"stream=sse" in query.split(b"&")


def offer(path_prefix: str, tokens: StreamTokens, access: Access, revision: int, name: str) -> Offer:
    """The offer for a client with a key of an environment that gets flags of this revision."""
    assert access.key_id is not None
    token = tokens.make(KeyName(access.project.project_id, access.key_id))
    address = f"{path_prefix}{STREAMS_PATH}?{_TOKEN}={token}&{_REVISION}={revision}&{_CLIENT}={name}"
    member = b',"eventStreams":[{"type":"sse","endpoint":{"requestUri":"%b"},"inactivityDelaySec":%d}]' % (
        address.encode(),
        _INACTIVITY_SECONDS,
    )
    return Offer(member, f"-{tokens.period():x}-{name}")


class Hints:
    """Tells a topic's streams that there is something to fetch. `revision` is the one of which it has told last."""

    def __init__(self, revision: int) -> None:
        self.revision = revision

    async def news(self, environment: KnownEnvironment) -> bytes | None:
        """The event."""
        self.revision = environment.revision
        return _refetch(self.revision)


@dataclass(eq=False, slots=True)
class HintStream(Stream):
    """A stream that repeats its last event until the client has what it was told of.

    `hints` tells it of revisions, and the client is known to have the revision `has`, if any. `refetches` knows what
    the client with this `name` does, unless it has none.
    """

    hints: Hints | None = None
    has: int | None = None
    refetches: Refetches | None = None
    name: str | None = None
    told: int | None = None
    keep_alives: int = 0
    """The keep-alives since it was told of that revision."""
    works: bool = False
    """Whether the client has fetched because of an event of this stream."""

    def keep_alive(self) -> bytes:
        """A comment, or the last event again."""
        if self.hints is None or self.hints.revision == self.has:
            return COMMENT
        if self.hints.revision != self.told:
            self.told, self.keep_alives = self.hints.revision, 0
        self.keep_alives += 1
        if self.keep_alives <= _REPEATED_EVERY:
            self._look_for_fetch(self.told)
        elif self._is_settled(self.told):
            self.has = self.told
            return COMMENT
        return COMMENT if self.keep_alives % _REPEATED_EVERY else _refetch(self.told)

    def _look_for_fetch(self, revision: int) -> None:
        """Let the stream end with the repeated event if its client has not fetched because of any event.

        Then a proxy may keep back what is sent until the end. A client for whom the stream has worked keeps it: what
        fails is its fetch, and it might not be able to open another stream.
        """
        if self.refetches is None or self.name is None:
            return
        self.works |= self.refetches.has_fetched(self.name, revision)
        if self.keep_alives == _REPEATED_EVERY and not self.works:
            self.ends = self.refetches.may_end(self.name, revision)

    def _is_settled(self, revision: int) -> bool:
        """Return whether an event that was repeated once need not be repeated any more."""
        if self.refetches is None or self.name is None or self.keep_alives > _REPEATED_UNTIL:
            return True
        return self.refetches.is_confirmed(self.name, revision)


class OfrepStreamRoute:
    """Serves the streams."""

    def __init__(
        self,
        sdk_keys: SdkKeys,
        key_access: KeyAccess,
        tokens: StreamTokens,
        streams: Streams,
        refetches: Refetches,
    ) -> None:
        self._sdk_keys = sdk_keys
        self._key_access = key_access
        self._tokens = tokens
        self._streams = streams
        self._refetches = refetches

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise MethodNotAllowedError("GET")
        fields = _fields_of(scope["query_string"])
        token = self._tokens.read(fields.get(_TOKEN, ""))
        access = await self._find(token)
        if token is None:
            self._key_access.count(scope, None)
        else:
            self._key_access.count_stream(scope, access)
        headers = scope["headers"]
        key, environment = _opened(access, headers)
        self._streams.require_open()
        callers = self._key_access.callers
        caller = callers.identify(scope, SdkProtocol.STREAM, key, environment)
        callers.add(caller, 1)
        if not self._streams.admit(key.key_id):
            await send_events(_first_event(fields, environment.revision), send)
            return
        topic = Topic(_KIND, environment.project_id, environment.environment_id)

        async def begin(stream: Stream) -> bytes:
            assert isinstance(stream, HintStream)
            access, environment = _opened(await self._find(token), headers)
            known = access.project.known[environment.environment_id]
            return self._open(topic, stream, known, fields)

        make_stream = partial(
            HintStream, key_id=key.key_id, expires_at=key.expires_at, caller=caller, origin=origin_in(headers)
        )
        end = partial(self._streams.close, topic)
        await serve_stream(scope, receive, send, make_stream=make_stream, begin=begin, end=end)

    def _open(
        self, topic: Topic, stream: HintStream, environment: KnownEnvironment, fields: Mapping[str, str]
    ) -> bytes:
        """Open a stream; return its first event, if the client has to be told at once."""
        revision = environment.revision
        hints = self._streams.open(topic, stream, environment, revision, partial(Hints, revision))
        assert isinstance(hints, Hints)
        stream.hints = hints
        name = fields.get(_CLIENT, "")
        if self._refetches.names.is_name(name):
            stream.refetches, stream.name = self._refetches, name
        first = _first_event(fields, revision)
        stream.has = None if first else revision
        return first

    async def _find(self, token: StreamToken | None) -> Access | None:
        return None if token is None or token.has_expired else await self._sdk_keys.find_by_id(*token.key)


def _opened(access: Access | None, headers: Headers) -> tuple[Access, EnvironmentSnapshot]:
    if access is None or access.key_id is None or access.environment is None:
        raise UnauthenticatedError(
            "The token of this stream is not valid or has expired. Fetch the flags again for a new one.", CHALLENGE
        )
    require_allowed(access, headers)
    return access, access.environment


def _fields_of(query: bytes) -> Mapping[str, str]:
    """The first value of each field; none if there are too many."""
    try:
        fields = parse_qs(query.decode("latin-1"), max_num_fields=_MAX_QUERY_FIELDS)
    except ValueError:
        return {}
    return {name: values[0] for name, values in fields.items()}


def _first_event(fields: Mapping[str, str], revision: int) -> bytes:
    """The event for a client that connects; none if it has the flags of this revision."""
    return b"" if fields.get(_REVISION) == str(revision) else _refetch(revision)


def _refetch(revision: int) -> bytes:
    return event(None, revision, b'{"type":"refetchEvaluation"}')
