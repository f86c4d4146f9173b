"""The operations of the management API, from their routes."""

from collections.abc import Iterator, Sequence

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from flagstaff.api.operations import facts_of
from flagstaff.http.operations import Operation


def list_operations(routes: Sequence[BaseRoute]) -> Iterator[tuple[str, str, Operation]]:
    """The method, the template of the path and the facts of each operation; raises LookupError like `facts_of`."""
    for route in routes:
        if isinstance(route, APIRoute):
            operation = facts_of(route)
            for method in route.methods or ():
                yield method, route.path_format, operation
