"""OFREP's event streams: they tell browsers to fetch their flags again.

A browser's EventSource sends no headers, so its address has a token that is valid for an hour or two. Every answer of
the same hour names the same address, so that clients keep their connection.
"""

from functools import partial
from typing import NamedTuple
from urllib.parse import parse_qs

from starlette.types import Receive, Scope, Send

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.http.errors import MethodNotAllowedError, UnauthenticatedError
from flagstaff.serving.access import CHALLENGE, KeyAccess
from flagstaff.serving.callers import SdkProtocol
from flagstaff.serving.event_stream import event, serve_stream
from flagstaff.serving.known_sdk_keys import Access, SdkKeys
from flagstaff.serving.ofrep.errors import STREAMS_PATH
from flagstaff.serving.stream_tokens import KeyName, StreamTokens
from flagstaff.serving.streams import Stream, Streams, Topic

_KIND = "ofrep"
_TOKEN = "token"  # noqa: S105 - the name of a parameter
_INACTIVITY_SECONDS = 120  # after which a hidden page may close its stream
_MAX_QUERY_FIELDS = 10


class Offer(NamedTuple):
    """The member with which an answer offers a stream, and what tells the answers with different offers apart."""

    member: bytes
    tag: str


def wants_stream(query: bytes) -> bool:
    """Return whether a client asks for a stream, with `?stream=sse`."""
    return b"stream=sse" in query.split(b"&")


def offer(tokens: StreamTokens, access: Access) -> Offer:
    """The offer for the owner of a key of an environment."""
    assert access.key_id is not None
    token = tokens.make(KeyName(access.project.project_id, access.key_id))
    member = b',"eventStreams":[{"type":"sse","endpoint":{"requestUri":"%b?%b=%b"},"inactivityDelaySec":%d}]' % (
        STREAMS_PATH.encode(),
        _TOKEN.encode(),
        token.encode(),
        _INACTIVITY_SECONDS,
    )
    return Offer(member, f"-{tokens.period():x}")


class Refetches:
    """Tells a topic's streams that there is something to fetch."""

    async def news(self, environment: EnvironmentSnapshot) -> bytes | None:
        """The event."""
        return _refetch(environment)


class OfrepStreamRoute:
    """Serves the streams."""

    def __init__(self, sdk_keys: SdkKeys, key_access: KeyAccess, tokens: StreamTokens, streams: Streams) -> None:
        self._sdk_keys = sdk_keys
        self._key_access = key_access
        self._tokens = tokens
        self._streams = streams

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "GET":
            raise MethodNotAllowedError("GET")
        name = self._tokens.read(_token_in(scope["query_string"]))
        access = await self._find(name)
        self._key_access.count(scope, access)
        key, environment = _opened(access)
        self._streams.require_room(key.key_id)
        callers = self._key_access.callers
        caller = callers.identify(scope, SdkProtocol.STREAM, key, environment)
        callers.add(caller, 1)
        topic = Topic(_KIND, environment.project_id, environment.environment_id)
        known = dict(scope["headers"]).get(b"last-event-id")

        async def begin(stream: Stream) -> bytes:
            _, environment = _opened(await self._find(name))
            self._streams.open(topic, stream, environment, environment.revision, Refetches)
            # What was missed before cannot be known, unless the client says what it was told last.
            return b"" if known == b"%d" % environment.revision else _refetch(environment)

        make_stream = partial(Stream, key_id=key.key_id, expires_at=key.expires_at, caller=caller)
        end = partial(self._streams.close, topic)
        await serve_stream(scope, receive, send, make_stream=make_stream, begin=begin, end=end)

    async def _find(self, name: KeyName | None) -> Access | None:
        return await self._sdk_keys.find_by_id(*name) if name is not None else None


def _opened(access: Access | None) -> tuple[Access, EnvironmentSnapshot]:
    if access is None or access.key_id is None or access.environment is None:
        raise UnauthenticatedError(
            "The token of this stream is not valid or has expired. Fetch the flags again for a new one.", CHALLENGE
        )
    return access, access.environment


def _token_in(query: bytes) -> str:
    try:
        fields = parse_qs(query.decode("latin-1"), max_num_fields=_MAX_QUERY_FIELDS)
    except ValueError:
        return ""
    return fields.get(_TOKEN, [""])[0]


def _refetch(environment: EnvironmentSnapshot) -> bytes:
    data = b'{"type":"refetchEvaluation","etag":"%d"}' % environment.revision
    return event(None, environment.revision, data)
