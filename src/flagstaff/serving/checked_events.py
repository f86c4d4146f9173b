"""Checks the events of a request: which are accepted, for which users they count, and why the others are ignored."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from time import time
from typing import Annotated

import msgspec

from flagstaff.conditions.attributes import read_identifier
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.targeting import attributes_of
from flagstaff.evaluation.targets import BUILT_IN
from flagstaff.metrics.events import (
    EVENT_AGE_MAX_SECONDS,
    EVENT_AHEAD_MAX_SECONDS,
    ID_MAX_LENGTH,
    EventRow,
    digest_id,
    unit_of,
)
from flagstaff.metrics.metrics import Kind
from flagstaff.projects.sdk_keys import KeyKind
from flagstaff.serving.context import IDENTIFIER_MAX_LENGTH
from flagstaff.values.keys import KEY_MAX_LENGTH, is_flag_key
from flagstaff.values.text import check_text

UNITS_MAX = 10
"""For how many attributes by which flags are sticky an event counts, at most."""
VALUE_MAX = 1e15
_MICROSECONDS = 1_000_000


class Event(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """An event as clients send it. `user_email` stands for the user without a `user_id`, as in evaluations."""

    metric: str
    user_id: str | None = None
    user_email: str | None = None
    value: float | None = None
    at: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    id: str | None = None
    attributes: dict[str, str | int | float | bool | None] | None = None


def sticky_attributes(environment: EnvironmentSnapshot) -> frozenset[str]:
    """The attributes by which flags of an environment are sticky."""
    return environment.targeting.identifiers if environment.targeting else frozenset()


class CheckedEvents:
    """The events of a request that are accepted; an event may be recorded for several units."""

    def __init__(self, environment: EnvironmentSnapshot, key_kind: KeyKind, *, has_escapes: bool) -> None:
        self.key_kind = key_kind
        self.rows: list[EventRow] = []
        self.unknown: dict[str, int] = {}
        self.ignored: list[dict[str, object]] = []
        self._kinds: Mapping[str, Kind] = environment.metrics
        self._sticky = sticky_attributes(environment)
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
            digest = digest_id(metric, event.id, self.key_kind)
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
    """Return why an event of a metric cannot have a value; None if it can."""
    if kind is Kind.BINARY:
        return f"the metric {metric} is binary, and has no value"
    if value is None:
        return f"the metric {metric} needs a value"
    if not -VALUE_MAX <= value <= VALUE_MAX or (kind is Kind.COUNT and value < 0):
        return "value is out of range"
    return None
