"""Entity tags of resources: responses carry them in `ETag`, and requests demand them with `If-Match` (RFC 9110).

The tag of a resource with `updated_at` is that time, which every change makes later; so a client that has a list of
such resources knows their tags. The tag of any other resource is a hash of its representation.
"""

import hashlib
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from fastapi import Header, Request
from pydantic import WithJsonSchema
from starlette.responses import Response

from flagstaff.api.actor_schemas import view_actor
from flagstaff.api.auth import CurrentActor
from flagstaff.api.shown import may_see
from flagstaff.changes.changes import Change
from flagstaff.database.preconditions import ANY_STATE, Precondition
from flagstaff.http.errors import ChangedError
from flagstaff.http.operations import operation_of
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.permissions.permissions import Permission
from flagstaff.values.errors import invalid_field
from flagstaff.values.moments import format_moment

T = TypeVar("T")

IF_MATCH = "If-Match"
# They change without anybody editing the resource: by its use, or when a mail goes out.
_VOLATILE = frozenset({"last_used_at", "last_seen_at", "sent_at", "expires_at"})
# Compression makes tags weak, here and in proxies. The tag still stands for the same state, so weak ones are accepted.
_TAG = r'(?:W/)?"[!#-~\x80-\xff]*"'
_tag = re.compile(_TAG.replace("(?:W/)?", ""))
_list = re.compile(rf"[ \t,]*{_TAG}(?:[ \t]*,[ \t,]*{_TAG})*[ \t,]*")

_PATTERN = r"^(\*|(W/)?\"[!#-~]*\"(, (W/)?\"[!#-~]*\")*)$"  # of what is accepted, the form that clients should send


class TaggedOut(ResponseModel):
    """A resource. Responses that consist of it have an ETag."""


def tag_of(view: Mapping[str, Any]) -> str:
    """The entity tag, with its quotes, of a resource's representation."""
    if "updated_at" in view:
        return f'"{view["updated_at"]}"'
    lasting = {name: value for name, value in view.items() if name not in _VOLATILE}
    return f'"{hashlib.sha256(msgspec.json.encode(lasting, order="deterministic")).hexdigest()[:32]}"'


def tagged_response(view: Mapping[str, Any], status: int = 200, more: Mapping[str, Any] | None = None) -> Response:
    """The response that consists of a resource; `more` is what it shows besides, which the tag does not cover."""
    response = json_response({**view, **(more or {})}, status)
    response.headers["etag"] = tag_of(view)
    return response


def if_match(noun: str, view: Callable[[T], Mapping[str, Any]]) -> Callable[..., Awaitable[Precondition[T]]]:
    """The dependency that reads the precondition of a request that changes a resource.

    The error shows the present state to whom the operation shows it (`api/shown.py`).
    """

    async def read(
        request: Request,
        actor: CurrentActor,
        _documented: Annotated[
            str | None,
            WithJsonSchema({"type": "string", "pattern": _PATTERN}),
            Header(
                alias=IF_MATCH,
                description="The `ETag` of the expected state, several ETags, or `*`. If the resource is in another "
                "state, nothing is changed (412).",
            ),
        ] = None,
    ) -> Precondition[T]:
        given = ", ".join(request.headers.getlist(IF_MATCH))
        if IF_MATCH not in request.headers or given.strip() == "*":
            return ANY_STATE
        if not _list.fullmatch(given):
            raise invalid_field(IF_MATCH, 'must be an ETag in quotes, such as "2026-11-20T10:00:00.123456Z", or *')
        tags = frozenset(_tag.findall(given))

        def error(resource: T, change: Change | None) -> ChangedError:
            operation = operation_of(request.scope)
            if operation is None or not may_see(actor, operation):
                return ChangedError(noun, {}, None)
            present = view(resource)
            extensions: dict[str, Any] = {"current": present}
            if change is not None and (actor.limits is None or Permission.AUDIT_READ in actor.limits.permissions):
                extensions |= {"changed_by": view_actor(change.actor), "changed_at": format_moment(change.at)}
            return ChangedError(noun, extensions, tag_of(present))

        return Precondition(lambda resource: tag_of(view(resource)) in tags, error)

    return read
