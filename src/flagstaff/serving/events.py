"""The endpoint for events of metrics: `POST /sdk/v1/events`. No SQL: events are checked, and appended to a buffer.

An event that is not accepted does not prevent the others from being: a client that is refused repeats all of them.
"""

from collections.abc import Hashable, Mapping, Sequence
from datetime import datetime
from time import time
from typing import Annotated

import msgspec
from starlette.types import Receive, Scope, Send

from flagstaff.concurrency.pacing import Share, Turns
from flagstaff.evaluation.conditions.attributes import read_identifier
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.targeting import attributes_of
from flagstaff.evaluation.targets import BUILT_IN
from flagstaff.http.bodies import read_body
from flagstaff.http.errors import MethodNotAllowedError
from flagstaff.http.limits import Limits, admit
from flagstaff.http.operations import EVENTS_BODY, Endpoint
from flagstaff.http.revisions import revision_header
from flagstaff.metrics.event_buffer import EventBuffer
from flagstaff.metrics.events import (
    EVENT_AGE_MAX_SECONDS,
    EVENT_AHEAD_MAX_SECONDS,
    ID_MAX_LENGTH,
    EventRow,
    digest_id,
    unit_of,
)
from flagstaff.metrics.metrics import Kind
from flagstaff.serving.caller_counts import CallerCounts
from flagstaff.serving.callers import SdkProtocol
from flagstaff.serving.context import IDENTIFIER_MAX_LENGTH, UNREADABLE
from flagstaff.serving.entity_tags import send_accepted
from flagstaff.serving.evaluate import environment_in, no_key, sdk_key_in
from flagstaff.serving.known_sdk_keys import Access, SdkKeys
from flagstaff.values.errors import invalid_field, not_found
from flagstaff.values.keys import KEY_MAX_LENGTH, is_flag_key
from flagstaff.values.text import check_text

PATH = "/sdk/v1/events"
ENDPOINT = Endpoint(PATH, EVENTS_BODY, others=(PATH,))
EVENTS_MAX = 1_000
UNITS_MAX = 10
"""For how many attributes by which flags are sticky an event counts, at most."""
VALUE_MAX = 1e15
_EVENTS_AT_ONCE = 100
_AT_ONCE_MAX_BYTES = 16 * 1024
_AT_ONCE_MAX = 250  # events, of which the most expensive take a third of a millisecond
_WAITING_MAX = 64  # requests with their bodies, 16 MiB at most
_MICROSECONDS = 1_000_000

_encode = msgspec.json.Encoder().encode


class Event(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An event as clients send it. `user_email` stands for the user without a `user_id`, as in evaluations."""

    metric: str
    user_id: str | None = None
    user_email: str | None = None
    value: float | None = None
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    id: str | None = None
    attributes: dict[str, str | int | float | bool | None] | None = None


class EventsRequest(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The body."""

    environment: str
    events: Annotated[list[Event], msgspec.Meta(max_length=EVENTS_MAX)]


_decode = msgspec.json.Decoder(EventsRequest).decode


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
        admit(self._limits.events, self._limits.client(scope))
        sdk_key = sdk_key_in(scope["headers"])
        body = await read_body(receive)
        if body is None:
            return
        access = self._sdk_keys.known.get(sdk_key) or await self._sdk_keys.open(sdk_key)
        if access is None or (access.environment is not None and not self._sdk_keys.use(access)):
            raise no_key()
        async with self._share.turn():
            accepted, environment = await self._accept(access, body)
        self._callers.add(self._callers.identify(scope, SdkProtocol.EVENTS, access, environment), 1)
        await send_accepted(accepted, send, (revision_header(environment.revision),))

    def find(self, sdk_key: str) -> Access | None:
        """Finds what a key opens, if that is known; the key may have expired."""
        return self._sdk_keys.known.get(sdk_key)

    def accept_at_once(self, access: Access, body: bytes, client: Hashable) -> tuple[bytes, EnvironmentSnapshot] | None:
        """The same for a request of a client that takes less than a piece of work; None for any other, uncounted.

        Raises:
            Error: those of the route.
        """
        own = access.environment
        if len(body) > _AT_ONCE_MAX_BYTES or body.count(b"{") > _AT_ONCE_MAX + 1 or not self._share.has_room():
            return None
        if any(map(_sticky_attributes, access.project.environments.values() if own is None else (own,))):
            return None  # an event may count for several units
        admit(self._limits.events, client)
        if own is not None and not self._sdk_keys.use(access):
            raise no_key()
        with self._share.at_once():
            events, environment = self._read(access, body)
            checked = _Checked(environment, has_escapes=b"\\" in body)
            checked.add_all(events, 0)
            return self._record(environment, events, checked)

    async def _accept(self, access: Access, body: bytes) -> tuple[bytes, EnvironmentSnapshot]:
        """Record the events in a body; return the answer, which names those that were ignored, and the environment.

        Raises:
            Error: INVALID for a body of another form, FORBIDDEN or NOT_FOUND (the environment), UNAVAILABLE if too many
                events wait to be stored.
        """
        events, environment = self._read(access, body)
        checked = _Checked(environment, has_escapes=b"\\" in body)
        turns = Turns()
        for start in range(0, len(events), _EVENTS_AT_ONCE):
            checked.add_all(events[start : start + _EVENTS_AT_ONCE], start)
            await turns.give()
        return self._record(environment, events, checked)

    def _read(self, access: Access, body: bytes) -> tuple[Sequence[Event], EnvironmentSnapshot]:
        self._buffer.require_room(1)  # before the work of decoding them
        try:
            request = _decode(body)
        except msgspec.ValidationError as error:
            raise invalid_field("body", f"is not valid here: {error}") from None
        except UNREADABLE:
            raise invalid_field("body", "is not valid JSON") from None
        environment = environment_in(access, request.environment)
        self._buffer.require_room(len(request.events))
        return request.events, environment

    def _record(
        self, environment: EnvironmentSnapshot, events: Sequence[Event], checked: "_Checked"
    ) -> tuple[bytes, EnvironmentSnapshot]:
        self._buffer.require_room(len(checked.rows))
        self._buffer.record(environment.environment_id, checked.rows, checked.unknown)
        accepted = len(events) - len(checked.ignored)
        return _encode({"accepted": accepted, "ignored": checked.ignored}), environment


def _sticky_attributes(environment: EnvironmentSnapshot) -> frozenset[str]:
    """The attributes by which flags of an environment are sticky."""
    return environment.targeting.identifiers if environment.targeting else frozenset()


class _Checked:
    """The events of a request that are accepted; an event may be recorded for several units."""

    def __init__(self, environment: EnvironmentSnapshot, *, has_escapes: bool) -> None:
        self.rows: list[EventRow] = []
        self.unknown: dict[str, int] = {}
        self.ignored: list[dict[str, object]] = []
        self._kinds: Mapping[str, Kind] = environment.metrics
        self._sticky = _sticky_attributes(environment)
        self._built_in = self._sticky & BUILT_IN
        self._is_plain = not self._sticky and not has_escapes
        self._now = time()
        self._now_micros = int(self._now * _MICROSECONDS)

    def add_all(self, events: Sequence[Event], first: int) -> None:
        """Add some events, of which the first has this index. Most are plain: a user had something now."""
        plain = {key for key, kind in self._kinds.items() if kind is not Kind.VALUE} if self._is_plain else set()
        append, now = self.rows.append, self._now_micros
        for index, event in enumerate(events, first):
            unit = event.user_id
            is_plain = event.metric in plain and event.value is None and event.at is None and not event.id
            if is_plain and unit and len(unit) <= IDENTIFIER_MAX_LENGTH:
                append(EventRow(event.metric, unit, now, None, None))
                continue
            reason = self._add(event)
            if reason is not None:
                self.ignored.append({"index": index, "reason": reason})

    def _add(self, event: Event) -> str | None:
        """Add an event, or return why it is ignored."""
        metric, at = event.metric, self._now_micros
        kind = self._kinds.get(metric)
        if kind is None:
            return self._ignore_unknown(metric)
        if event.value is not None or kind is Kind.VALUE:
            reason = _find_wrong_value(metric, kind, event.value)
            if reason is not None:
                return reason
        if event.at is not None:
            seconds = event.at.timestamp()
            if seconds < self._now - EVENT_AGE_MAX_SECONDS:
                return "at is more than a day ago"
            if seconds > self._now + EVENT_AHEAD_MAX_SECONDS:
                return "at is more than a minute ahead of the server's clock"
            at = int(seconds * _MICROSECONDS)
        digest = None
        if event.id:
            if len(event.id) > ID_MAX_LENGTH:
                return f"id has more than {ID_MAX_LENGTH} characters"
            digest = digest_id(metric, event.id)
        unit = event.user_id or (event.user_email.lower() if event.user_email else "")
        if unit and len(unit) <= IDENTIFIER_MAX_LENGTH and self._is_plain:
            self.rows.append(EventRow(metric, unit, at, event.value, digest))
            return None
        return self._add_units(event, unit, at, digest)

    def _add_units(self, event: Event, unit: str, at: int, digest: str | None) -> str | None:
        units = [unit] if unit else []
        if self._sticky:
            email = event.user_email.lower() if event.user_email else ""
            given = event.attributes or {}
            values = attributes_of(self._built_in, "", given, event.user_id, email)
            names = sorted(self._built_in | (self._sticky & given.keys()))[:UNITS_MAX]
            found = ((name, read_identifier(values.get(name))) for name in names)
            units += [unit_of(identifier, name) for name, identifier in found if identifier]
        if not units:
            return "it names no user: send a user_id, a user_email or the attribute that a flag's stickiness names"
        for each in units:
            if len(each) > IDENTIFIER_MAX_LENGTH:
                return f"the user's identifier has more than {IDENTIFIER_MAX_LENGTH} characters"
            try:
                check_text(each)
            except ValueError as error:
                return f"the user's identifier {error}"
        self.rows += [EventRow(event.metric, each, at, event.value, digest) for each in units]
        return None

    def _ignore_unknown(self, metric: str) -> str:
        if is_flag_key(metric):
            self.unknown[metric] = self.unknown.get(metric, 0) + 1
        return f"the project has no metric {metric[:KEY_MAX_LENGTH]!r}"


def _find_wrong_value(metric: str, kind: Kind, value: float | None) -> str | None:
    """Return why a value cannot be that of an event of a metric; None if it can."""
    if kind is Kind.BINARY:
        return f"the metric {metric} is binary, and has no value"
    if value is None:
        return f"the metric {metric} needs a value"
    if not -VALUE_MAX <= value <= VALUE_MAX or (kind is Kind.COUNT and value < 0):
        return "value is out of range"
    return None
