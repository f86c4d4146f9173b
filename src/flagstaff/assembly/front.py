"""Answers what is no operation before the framework, which would compare the path with all of its routes.

Anyone may ask for a document, a file of the dashboard or a path at which there is nothing, so these must cost little.
"""

from collections.abc import Iterable, Mapping

from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.http.operations import READING
from flagstaff.values.errors import Code, Error


class Front:
    """In front of the framework."""

    def __init__(
        self, framework: ASGIApp, routes: Iterable[BaseRoute], documents: Mapping[str, Route], dashboard: ASGIApp
    ) -> None:
        """`dashboard` answers whatever begins with the path of no route of the framework."""
        self._framework = framework
        self._documents = documents
        self._dashboard = dashboard
        self._beginnings = {_beginning(getattr(each, "path", "/")) for each in routes}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        path = scope["path"]
        document = self._documents.get(path) if scope["method"] in READING else None
        if document is not None:
            scope["route"] = document  # metrics name the path
            await document.handle(scope, receive, send)
        elif _beginning(path) in self._beginnings:
            await self._framework(scope, receive, send)
        else:
            await self._dashboard(scope, receive, send)


async def nothing(_scope: Scope, _receive: Receive, _send: Send) -> None:
    """Answer where there is nothing; raises Error NOT_FOUND."""
    raise Error(Code.NOT_FOUND, "There is no resource at this path.")


def _beginning(path: str) -> str:
    return path.split("/", 2)[1] if "/" in path else ""
