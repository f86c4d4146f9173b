"""The services that routes use. A route names the class of the one that it needs."""

from collections.abc import Awaitable, Callable
from typing import TypeVar, cast

from starlette.requests import Request

T = TypeVar("T")


class Services:
    """Services by their classes, of which there is one each."""

    def __init__(self, *services: object) -> None:
        self._services = {type(service): service for service in services}

    def __getitem__(self, kind: type[T]) -> T:
        """The service of a class; raises KeyError if there is none."""
        return cast("T", self._services[kind])


def service_of(request: Request, kind: type[T]) -> T:
    """The service of a class, for a request."""
    services: Services = request.app.state.services
    return services[kind]


def service(kind: type[T]) -> Callable[[Request], Awaitable[T]]:
    """The dependency of a route that is the service of a class."""

    async def find(request: Request) -> T:
        return service_of(request, kind)

    return find
