"""Reports of browsers to Unleash's frontend API: that they have started, and how often they asked for which flag.

Their answers were evaluated here, so the history has them already; the reports are only checked.
"""

from collections.abc import Callable
from typing import Annotated, TypeVar

import msgspec

from flagstaff.http.nesting import require_decodable
from flagstaff.http.slices import slices
from flagstaff.serving.context import UNREADABLE
from flagstaff.values.errors import invalid_field

_MAX_FLAGS = 10_000
Read = TypeVar("Read")
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class _Counts(msgspec.Struct):
    yes: Count = 0
    no: Count = 0
    variants: dict[str, Count] = {}


class _Bucket(msgspec.Struct):
    start: msgspec.Raw
    stop: msgspec.Raw
    toggles: msgspec.Raw


class _Metrics(msgspec.Struct):
    app_name: str = msgspec.field(name="appName")
    bucket: _Bucket | None = None


class _Registration(msgspec.Struct):
    app_name: str = msgspec.field(name="appName")


_decode_metrics = msgspec.json.Decoder(_Metrics).decode
_decode_toggles = msgspec.json.Decoder(dict[str, _Counts]).decode
_decode_registration = msgspec.json.Decoder(_Registration).decode


def check_metrics(body: bytes) -> None:
    """Check a report of counts; raises Error INVALID."""
    require_decodable(body)
    bucket = _read(_decode_metrics, body).bucket
    flags = 0
    for part in slices(bytes(bucket.toggles) if bucket else b"{}"):
        flags += len(_read(_decode_toggles, part))
        if flags > _MAX_FLAGS:
            raise invalid_field("body", f"is not a report: it must not have more than {_MAX_FLAGS:,} flags")


def check_registration(body: bytes) -> None:
    """Check a report of a start; raises Error INVALID."""
    require_decodable(body)
    _read(_decode_registration, body)


def _read(decode: Callable[[bytes], Read], document: bytes) -> Read:
    try:
        return decode(document)
    except msgspec.ValidationError as error:
        raise invalid_field("body", f"is not a report: {error}") from None
    except UNREADABLE:
        raise invalid_field("body", "is not valid JSON") from None
