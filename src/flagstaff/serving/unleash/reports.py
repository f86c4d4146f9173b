"""Reports of applications that evaluate flags themselves: their names, and their counts.

All of it is what clients claim: texts are shortened, and numbers and lists are bounded. A report with more counts than
are kept is accepted without the rest, because a client that is refused stops reporting. The rest is counted.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from hashlib import blake2b
from itertools import islice
from secrets import token_bytes
from typing import Annotated, TypeVar

import msgspec

from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.flags.variants import MAX_VARIANTS
from flagstaff.history.applications import COUNT_MAX, UNNAMED, Client, FlagCounts, Report, claimed, size_of
from flagstaff.http.nesting import require_decodable
from flagstaff.http.slices import slices
from flagstaff.serving.context import UNREADABLE
from flagstaff.serving.unleash.impact_metrics import read_measured
from flagstaff.values.errors import invalid_field
from flagstaff.values.keys import KEY_MAX_LENGTH

MAX_FLAGS = 5_000
MAX_COUNTS = 10_000  # of results and variants of these flags
_MAX_INTERVAL_SECONDS = 86_400
_EDGE = "unleash-edge"
_NULL, _NOTHING = msgspec.Raw(b"null"), msgspec.Raw(b"{}")
_encode = msgspec.json.Encoder().encode

Count = Annotated[int, msgspec.Meta(ge=0)]
Read = TypeVar("Read")


class _Counts(msgspec.Struct):
    yes: Count = 0
    no: Count = 0
    variants: dict[str, Count] = {}


class _Bucket(msgspec.Struct):
    toggles: msgspec.Raw
    start: msgspec.Raw = _NULL
    stop: msgspec.Raw = _NULL


class _Application(msgspec.Struct, rename="camel"):
    app_name: str
    instance_id: str | None = None
    connection_id: str | None = None
    sdk_version: str | None = None


class _Metrics(_Application, rename="camel"):
    bucket: _Bucket | None = None
    impact_metrics: msgspec.Raw = msgspec.Raw()


class _EdgeCounts(msgspec.Struct, rename="camel"):
    feature_name: str
    app_name: str
    environment: str
    yes: Count = 0
    no: Count = 0
    variants: dict[str, Count] | None = None


class _Batch(msgspec.Struct, rename="camel"):
    applications: msgspec.Raw
    metrics: msgspec.Raw
    impact_metrics: msgspec.Raw = msgspec.Raw()


_read_application = msgspec.json.Decoder(_Application).decode
_read_metrics = msgspec.json.Decoder(_Metrics).decode
_read_batch = msgspec.json.Decoder(_Batch).decode
_read_toggles = msgspec.json.Decoder(dict[str, _Counts]).decode
_read_applications = msgspec.json.Decoder(list[_Application]).decode
_read_counts = msgspec.json.Decoder(list[_EdgeCounts]).decode
_read_object = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def client_in(headers: Iterable[tuple[bytes, bytes]]) -> Client:
    """Return the sender of a request, by its headers."""
    given = {name: value.decode("latin-1") for name, value in headers if name.startswith(b"unleash-")}
    return Client(
        application=_short(given.get(b"unleash-appname")) or UNNAMED,
        instance=_short(given.get(b"unleash-instanceid")),
        connection=_short(given.get(b"unleash-connection-id")),
        sdk=_short(given.get(b"unleash-sdk")),
        interval_seconds=_seconds(given.get(b"unleash-interval", "")),
    )


def check_registration(body: bytes) -> None:
    """Check what an instance says at its start; raises Error INVALID."""
    _check_and_decode(_read_application, body)


def check_edge_state(body: bytes) -> None:
    """Check what an Edge says about itself, which is not used; raises Error INVALID unless it is an object."""
    _check_and_decode(_read_object, body)


def read_metrics(body: bytes, environment: EnvironmentSnapshot, sender: Client) -> list[Report]:
    """Read what an instance has counted and measured; nothing if it did neither. Raises Error INVALID."""
    metrics = _check_and_decode(_read_metrics, body)
    readings = read_measured(metrics.impact_metrics, _short(metrics.app_name) or UNNAMED)
    bucket = metrics.bucket or _Bucket(_NOTHING)
    client = Client(
        application=_short(metrics.app_name) or UNNAMED,
        instance=_short(metrics.instance_id) or sender.instance,
        connection=_short(metrics.connection_id) or sender.connection,
        sdk=sender.sdk or _short(metrics.sdk_version),
    )
    counts: dict[str, FlagCounts] = {}
    size, dropped = 0, readings.dropped
    for part in slices(bytes(bucket.toggles)):
        for key, each in _decode(_read_toggles, part, "bucket.toggles").items():
            of_flag = _counts(each.yes, each.no, each.variants)
            if len(counts) == MAX_FLAGS or size + size_of(of_flag) > MAX_COUNTS:
                dropped += _given(each)
                continue
            size += size_of(of_flag)
            counts[claimed(key, KEY_MAX_LENGTH)] = of_flag
    if not counts and not any(readings):
        return []
    window = _encode([metrics.app_name, metrics.instance_id, metrics.connection_id, bucket.start, bucket.stop])
    if metrics.bucket is None:
        window = token_bytes(16)  # a repetition cannot be told from another report that says the same
    digest = _digest(environment, window)
    return [Report(environment.environment_id, client, digest, counts, dropped, readings.measured)]


def read_batch(body: bytes, environment: EnvironmentSnapshot, sender: Client) -> list[Report]:
    """Read what an Edge has collected from the applications behind it; raises Error INVALID."""
    batch = _check_and_decode(_read_batch, body)
    totals: defaultdict[str, dict[str, FlagCounts]] = defaultdict(dict)
    kept = size = dropped = 0
    for part in slices(bytes(batch.applications)):
        _decode(_read_applications, part, "applications")
    for part in slices(bytes(batch.metrics)):
        for each in _decode(_read_counts, part, "metrics"):
            if each.environment != environment.environment_key:
                continue
            of_application = totals[_short(each.app_name) or UNNAMED]
            key = claimed(each.feature_name, KEY_MAX_LENGTH)
            known = of_application.get(key)
            given = _given(each)
            if (known is None and kept == MAX_FLAGS) or size + given > MAX_COUNTS:
                dropped += given
                continue
            kept += known is None
            size += given
            of_application[key] = _add(known, _counts(each.yes, each.no, each.variants or {}))
    sdk, digest = sender.sdk or _EDGE, _digest(environment, body)
    readings = read_measured(batch.impact_metrics, UNNAMED, environment.environment_key)
    dropped += readings.dropped
    found = [
        Report(
            environment.environment_id,
            Client(application, sender.instance or _EDGE, sender.connection, sdk),
            _digest(environment, application.encode() + b"\0" + digest),
            counts,
        )
        for application, counts in totals.items()
        if counts
    ]
    if not found and any(readings):
        edge = Client(UNNAMED, sender.instance or _EDGE, sender.connection, sdk)
        found = [Report(environment.environment_id, edge, digest, {})]
    return [replace(found[0], dropped=dropped, measured=readings.measured), *found[1:]] if found else []


def _counts(yes: int, no: int, variants: Mapping[str, int]) -> FlagCounts:
    kept = islice(variants.items(), MAX_VARIANTS)
    of_variants = {claimed(name, KEY_MAX_LENGTH): min(count, COUNT_MAX) for name, count in kept}
    return FlagCounts(min(yes, COUNT_MAX), min(no, COUNT_MAX), of_variants)


def _given(counts: _Counts | _EdgeCounts) -> int:
    """Return the number of counts that a report has of a flag."""
    return max(1, (counts.yes > 0) + (counts.no > 0) + len(counts.variants or ()))


def _add(known: FlagCounts | None, more: FlagCounts) -> FlagCounts:
    if known is None:
        return more
    names = {**known.variants, **more.variants}
    return _counts(
        known.yes + more.yes,
        known.no + more.no,
        {name: known.variants.get(name, 0) + more.variants.get(name, 0) for name in names},
    )


def _check_and_decode(decode: Callable[[bytes], Read], body: bytes) -> Read:
    require_decodable(body)
    return _decode(decode, body)


def _decode(decode: Callable[[bytes], Read], document: bytes, place: str = "") -> Read:
    """Decode a body, or a part of it that is at this place; raises Error INVALID."""
    try:
        return decode(document)
    except msgspec.ValidationError as error:
        reason = str(error).replace("`$", f"`$.{place}", 1) if place else str(error)
        raise invalid_field("body", f"is not valid here: {reason}") from None
    except UNREADABLE:
        raise invalid_field("body", "is not valid JSON") from None


def _digest(environment: EnvironmentSnapshot, window: bytes) -> bytes:
    # Of this environment: applications in two of them may be named alike and count at the same times.
    return blake2b(environment.environment_id.bytes + window, digest_size=16).digest()


def _short(text: str | None) -> str:
    return claimed(text or "")


def _seconds(milliseconds: str) -> float | None:
    """An interval; None if there is none, such as `undefined`."""
    try:
        seconds = float(milliseconds) / 1000
    except ValueError:
        return None
    return min(seconds, _MAX_INTERVAL_SECONDS) if seconds > 0 else None
