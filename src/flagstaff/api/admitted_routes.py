"""Routes that count each request against one of the limits before they read its body."""

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from fastapi import Request, Response

from flagstaff.api.strict_json import StrictRoute
from flagstaff.http.limits import Limits, NetworkWindows
from flagstaff.http.services import service_of
from flagstaff.values.errors import limited


@dataclass(frozen=True, slots=True)
class Admission:
    """A dependency of an `AdmittedRoute`, which counts each request against one of the limits."""

    choose: Callable[[Limits], NetworkWindows | None]

    def __call__(self) -> None:
        """Does nothing: the route counted the request before it read the body."""

    def admit(self, request: Request) -> None:
        """Count a request; raises Error LIMITED beyond the limit."""
        limits = service_of(request, Limits)
        limiter = self.choose(limits)
        if limiter is not None and (wait_seconds := limiter.hit(limits.client(request.scope))):
            raise limited(wait_seconds)


def admission(choose: Callable[[Limits], NetworkWindows | None]) -> Admission:
    """A dependency that makes an `AdmittedRoute` count each request against one of the limits."""
    return Admission(choose)


class AdmittedRoute(StrictRoute):
    """Counts a request before its body is read. The framework reads the body before it calls any dependency."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        admissions = [each.dependency for each in self.dependencies if isinstance(each.dependency, Admission)]

        async def admit_and_handle(request: Request) -> Response:
            for each in admissions:
                each.admit(request)
            return await handle(request)

        return admit_and_handle
