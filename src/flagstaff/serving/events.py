"""The endpoint for events of metrics: `POST /sdk/v1/events`. No SQL: events are checked, and appended to a buffer.

An event that is not accepted does not prevent the others from being: a client that is refused repeats all of them.
"""

from collections.abc import Hashable, Sequence
from typing import Annotated

import msgspec
from starlette.types import Receive, Scope, Send

from flagstaff.concurrency.pacing import Share, Turns
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.history.callers import SdkProtocol
from flagstaff.http.bodies import read_body
from flagstaff.http.clients import is_stranger
from flagstaff.http.errors import MethodNotAllowedError, UnauthenticatedError
from flagstaff.http.limits import Limits, admit, admit_many
from flagstaff.http.nesting import require_shallow
from flagstaff.http.operations import EVENTS_BODY, Endpoint
from flagstaff.http.revisions import revision_header
from flagstaff.metrics.event_buffer import EventBuffer
from flagstaff.serving.caller_counts import CallerCounts
from flagstaff.serving.checked_events import CheckedEvents, Event, sticky_attributes
from flagstaff.serving.context import UNREADABLE
from flagstaff.serving.entity_tags import send_accepted
from flagstaff.serving.evaluate import CHALLENGE, NotLoadedError, environment_in, sdk_key_in
from flagstaff.serving.known_sdk_keys import Access, SdkKeys
from flagstaff.serving.page_origins import require_allowed
from flagstaff.values.errors import invalid_field, not_found

PATH = "/sdk/v1/events"
ENDPOINT = Endpoint(PATH, EVENTS_BODY, others=(PATH,))
EVENTS_MAX = 1_000
_EVENTS_AT_ONCE = 100
_AT_ONCE_MAX_BYTES = 16 * 1024
_AT_ONCE_MAX = 250  # events, of which the most expensive take a third of a millisecond
_KEY = b'"sdk_key"'
_WAITING_MAX = 64  # requests with their bodies, 16 MiB at most

_encode = msgspec.json.Encoder().encode


class EventsRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body."""

    environment: str
    events: Annotated[list[Event], msgspec.Meta(max_length=EVENTS_MAX)]
    sdk_key: str | None = None


class _KeyInBody(msgspec.Struct, gc=False):
    sdk_key: str | None = None


class _EnvironmentInBody(msgspec.Struct, gc=False):
    environment: str


_decode = msgspec.json.Decoder(EventsRequest).decode
_decode_key = msgspec.json.Decoder(_KeyInBody).decode
_decode_environment = msgspec.json.Decoder(_EnvironmentInBody).decode


class EventsRoute:
    """Reads a request, checks its events, and records those that are accepted; the edge handles errors."""

    def __init__(self, sdk_keys: SdkKeys, limits: Limits, buffer: EventBuffer, callers: CallerCounts) -> None:
        self._sdk_keys = sdk_keys
        self._limits = limits
        self._callers = callers
        self._buffer = buffer
        self._share = Share(_WAITING_MAX)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != PATH:
            raise not_found("resource")
        if scope["method"] != "POST":
            raise MethodNotAllowedError("POST")
        client = self._limits.client(scope)
        admit(self._limits.events, client)
        sdk_key = sdk_key_in(scope["headers"])
        if sdk_key and is_stranger(scope) and await self._sdk_keys.open(sdk_key) is None:
            raise _no_key()  # before the body is read
        body = await read_body(receive)
        if body is None:
            return
        sdk_key = sdk_key or await self._find_key(body)
        access = self._sdk_keys.known.get(sdk_key) or await self._sdk_keys.open(sdk_key)
        if access is None or (access.environment is not None and not self._sdk_keys.use(access)):
            raise _no_key()
        require_allowed(access, scope["headers"])
        async with self._share.turn():
            request = self._read(body, client)
            if request.sdk_key not in (None, sdk_key):
                raise invalid_field("sdk_key", "differs from the key in the X-SDK-Key header; send the key once")
            accepted, environment = await self._accept(access, body, request)
        self._callers.add(self._callers.identify(scope, SdkProtocol.EVENTS, access, environment), 1)
        await send_accepted(accepted, send, (revision_header(environment.revision),))

    def find(self, sdk_key: str) -> Access | None:
        """Finds what a key opens, if that is known; the key may have expired."""
        return self._sdk_keys.known.get(sdk_key)

    def accept_at_once(self, access: Access, body: bytes, client: Hashable) -> tuple[bytes, EnvironmentSnapshot] | None:
        """The same for a request of a client that takes less than a piece of work; None for any other, uncounted.

        Raises:
            Error: as in the route.
        """
        own = access.environment
        if len(body) > _AT_ONCE_MAX_BYTES or body.count(b"{") > _AT_ONCE_MAX + 1 or not self._share.has_room():
            return None
        if _KEY in body:
            return None  # the keys have to be compared
        concerned = own or _find_loaded(access, body)
        if concerned is None or sticky_attributes(concerned):
            return None  # it has to be loaded, or an event may count for several units
        admit(self._limits.events, client)
        if own is not None and not self._sdk_keys.use(access):
            raise _no_key()
        with self._share.at_once():
            request = self._read(body, client)
            events, environment = request.events, environment_in(access, request.environment)
            checked = CheckedEvents(environment, access.kind, has_escapes=b"\\" in body)
            checked.add_all(events, 0)
            return self._record(environment, events, checked, access)

    async def _find_key(self, body: bytes) -> str:
        """The key in a body, where closed pages put it: a beacon has no headers of its own. Empty without one."""
        if _KEY not in body:
            return ""
        async with self._share.turn():
            require_shallow(body)
            try:
                return _decode_key(body).sdk_key or ""
            except UNREADABLE:
                return ""

    async def _accept(self, access: Access, body: bytes, request: EventsRequest) -> tuple[bytes, EnvironmentSnapshot]:
        """Record the events of a request; return the answer, which names those that were ignored, and the environment.

        Raises:
            Error: FORBIDDEN or NOT_FOUND (the environment), UNAVAILABLE if too many events wait to be stored.
        """
        events, environment = request.events, await self._load_environment(access, request.environment)
        checked = CheckedEvents(environment, access.kind, has_escapes=b"\\" in body)
        turns = Turns()
        for start in range(0, len(events), _EVENTS_AT_ONCE):
            checked.add_all(events[start : start + _EVENTS_AT_ONCE], start)
            await turns.give()
        return self._record(environment, events, checked, access)

    async def _load_environment(self, access: Access, wanted: str) -> EnvironmentSnapshot:
        while True:
            try:
                return environment_in(access, wanted)
            except NotLoadedError as missing:
                access = await self._sdk_keys.find_in(access, missing.environment_id)

    def _read(self, body: bytes, client: Hashable) -> EventsRequest:
        """The request in a body, whose events are counted against the client's limit.

        Raises:
            Error: INVALID for a body of another form, LIMITED, UNAVAILABLE if too many events wait to be stored.
        """
        self._buffer.require_room(1)  # before the work of decoding them
        try:
            request = _decode(body)
        except msgspec.ValidationError as error:
            raise invalid_field("body", f"is not valid here: {error}") from None
        except UNREADABLE:
            raise invalid_field("body", "is not valid JSON") from None
        admit_many(self._limits.sent_events, client, len(request.events))
        self._buffer.require_room(len(request.events))
        return request

    def _record(
        self, environment: EnvironmentSnapshot, events: Sequence[Event], checked: CheckedEvents, access: Access
    ) -> tuple[bytes, EnvironmentSnapshot]:
        self._buffer.require_room(len(checked.rows))
        self._buffer.record(environment.environment_id, checked.rows, checked.unknown, checked.key_kind, access.key_id)
        accepted = len(events) - len(checked.ignored)
        return _encode({"accepted": accepted, "ignored": checked.ignored}), environment


def _find_loaded(access: Access, body: bytes) -> EnvironmentSnapshot | None:
    """The environment that a body names, if it is loaded; None also for a body that cannot be read."""
    try:
        return access.project.environments.get(_decode_environment(body).environment)
    except (*UNREADABLE, RecursionError):
        return None


def _no_key() -> UnauthenticatedError:
    return UnauthenticatedError(
        "The SDK key is missing or not valid. Send it in the X-SDK-Key header, or as sdk_key in the body.", CHALLENGE
    )
