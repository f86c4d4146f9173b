"""Refuses `If-Match` where it would be ignored: a change that is to depend on a state is not made in another one."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.api.entity_tags import IF_MATCH
from flagstaff.http.operations import operation_of
from flagstaff.values.errors import invalid_field


class UnusedTags:
    """Lets a request with `If-Match` that changes something pass only if its operation takes a tag."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        operation = operation_of(scope)
        if (
            operation is not None
            and not operation.reads
            and not operation.takes_tag
            and IF_MATCH in Headers(scope=scope)
        ):
            raise invalid_field(IF_MATCH, "is not accepted here; send the request without it")
        await self._app(scope, receive, send)
