"""Refuses input that would be ignored: whoever sends it expects something else than the operation does.

Otherwise `DELETE …?dry_run=true` would delete, and a `toggle` with `{"enabled": false}` might turn a flag on.
"""

from collections import Counter
from collections.abc import Iterator
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.types import Scope

from flagstaff.api.entity_tags import IF_MATCH
from flagstaff.api.idempotency import IDEMPOTENCY_KEY
from flagstaff.api.strict_json import decode_json
from flagstaff.http.bodies import BODY
from flagstaff.http.fields import MAX_FIELD_ERRORS, unknown_field
from flagstaff.http.nesting import require_shallow
from flagstaff.http.operations import Operation
from flagstaff.values.errors import Code, Error, FieldError, invalid_field
from flagstaff.values.text import check_text


async def require_read(scope: Scope, operation: Operation) -> None:
    """Refuse what an operation does not read of a query or body, and `If-Match` or a key that it does not honour.

    The two headers are about changes, so a request that changes nothing may have them. A PUT or a DELETE may have a
    key, because it can be repeated anyway.

    Raises:
        Error: INVALID.
    """
    fields = [*_unread_headers(scope, operation), *_wrong_parameters(scope, operation)]
    if not operation.takes_body:
        fields.extend(_members(await scope["state"][BODY].read()))
    if fields:
        raise Error(Code.INVALID, "The request is invalid.", fields=fields[:MAX_FIELD_ERRORS])


def _unread_headers(scope: Scope, operation: Operation) -> Iterator[FieldError]:
    if operation.reads:
        return
    headers = Headers(scope=scope)
    may_be_repeated = operation.is_repeatable or scope["method"] != "POST"
    for name, is_honoured in ((IF_MATCH, operation.takes_tag), (IDEMPOTENCY_KEY, may_be_repeated)):
        if name in headers and not is_honoured:
            yield FieldError(name, "is not accepted here; send the request without it")


def _wrong_parameters(scope: Scope, operation: Operation) -> Iterator[FieldError]:
    """An error for each parameter that is no text, that nothing reads, or of which one value would be ignored."""
    given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
    for name, value in given:
        try:
            check_text(value)
        except ValueError as error:
            yield FieldError(name, str(error))
    for name, times in Counter(name for name, _ in given).items():
        if operation.parameters is not None and name not in operation.parameters:
            yield FieldError(name, unknown_field(name, operation.parameters))
        elif times > 1 and name not in operation.lists:
            yield FieldError(name, "is given more than once; give it once")


def _members(body: bytes) -> Iterator[FieldError]:
    """An error for each member of a body that nothing reads; raises Error INVALID if it is not a JSON object."""
    if not body.strip():
        return
    require_shallow(body)
    try:
        given = decode_json(body)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise invalid_field("body", "must be empty or {}, because this operation reads no body")
    for name in given:
        yield FieldError(name, unknown_field(name, ()))
