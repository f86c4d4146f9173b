"""Reports of browsers to Unleash's frontend API: that they have started, and how often they asked for which flag.

Their answers were evaluated here, so the history has them already; the reports are only checked.
"""

from collections.abc import Callable
from typing import Annotated, Any

import msgspec

from flagstaff.http.nesting import require_shallow
from flagstaff.serving.context import UNREADABLE
from flagstaff.values.errors import invalid_field

_MAX_FLAGS = 10_000
Count = Annotated[int, msgspec.Meta(ge=0, le=2**53)]


class _Counts(msgspec.Struct):
    yes: Count = 0
    no: Count = 0
    variants: dict[str, Count] = {}


class _Bucket(msgspec.Struct):
    start: Any
    stop: Any
    toggles: Annotated[dict[str, _Counts], msgspec.Meta(max_length=_MAX_FLAGS)]


class _Metrics(msgspec.Struct):
    app_name: str = msgspec.field(name="appName")
    bucket: _Bucket | None = None


class _Registration(msgspec.Struct):
    app_name: str = msgspec.field(name="appName")


_decode_metrics = msgspec.json.Decoder(_Metrics).decode
_decode_registration = msgspec.json.Decoder(_Registration).decode


def check_metrics(body: bytes) -> None:
    """Check a report of counts; raises Error INVALID."""
    _check(_decode_metrics, body)


def check_registration(body: bytes) -> None:
    """Check a report of a start; raises Error INVALID."""
    _check(_decode_registration, body)


def _check(decode: Callable[[bytes], object], body: bytes) -> None:
    require_shallow(body)
    try:
        decode(body)
    except msgspec.ValidationError as error:
        raise invalid_field("body", f"is not a report: {error}") from None
    except UNREADABLE:
        raise invalid_field("body", "is not valid JSON") from None
