"""Dependencies of routes that count each request against one of the limits before its body is read."""

from collections.abc import Callable
from dataclasses import dataclass

from fastapi import Request

from flagstaff.http.limits import Limits, NetworkWindows
from flagstaff.http.services import service_of
from flagstaff.values.errors import limited


@dataclass(frozen=True, slots=True)
class Admission:
    """The dependency of a route, which counts each request against one of the limits."""

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
    """A dependency that makes a route count each request against one of the limits."""
    return Admission(choose)
