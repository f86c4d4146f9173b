"""JSON responses, encoded at once from what a view made; no schema library stands between."""

from typing import Any

import msgspec
from starlette.responses import Response

_encoder = msgspec.json.Encoder()


def json_response(value: Any, status: int = 200) -> Response:
    """A JSON response; no cache may keep it, since it is somebody's and may change at any time."""
    return Response(
        _encoder.encode(value), status_code=status, media_type="application/json", headers={"cache-control": "no-store"}
    )


def no_content() -> Response:
    """The answer to a deletion."""
    return Response(status_code=204)
