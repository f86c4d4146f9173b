"""The services that routes use. A route names the class of the one that it needs."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import fields
from typing import Any, TypeVar, cast

from starlette.requests import Request

T = TypeVar("T")

SERVICES = "services"
"""The name of an application's services in the scope of a request."""


class Services:
    """Services by their classes, of which there is one each.

    Those that need only values of `ground`, such as the database and the clock, are made when they are first asked for.
    """

    def __init__(self, services: Iterable[object], ground: Mapping[str, object]) -> None:
        """`ground` has values by the names of the fields that services have for them."""
        self._services = {type(service): service for service in services}
        self._ground = ground

    def add(self, service: object) -> None:
        """Offer one more service."""
        self._services[type(service)] = service

    def __getitem__(self, kind: type[T]) -> T:
        """Return the service of a class; raises TypeError if it was not given and needs more than `ground` has."""
        if kind not in self._services:
            names = {each.name for each in fields(cast("Any", kind))}
            self._services[kind] = kind(**{name: self._ground[name] for name in names & self._ground.keys()})
        return cast("T", self._services[kind])


def service_of(request: Request, kind: type[T]) -> T:
    """The service of a class, for a request."""
    services: Services = request.scope[SERVICES]
    return services[kind]


def service(kind: type[T]) -> Callable[[Request], Awaitable[T]]:
    """The dependency of a route that is the service of a class."""

    async def find(request: Request) -> T:
        return service_of(request, kind)

    return find
