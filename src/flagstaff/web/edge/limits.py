"""The rate limits, and whom a request counts against."""

from collections.abc import Callable, Coroutine, Hashable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute
from starlette.types import Scope

from flagstaff.domain.errors import Code, Error
from flagstaff.runtime.client_address import client_address
from flagstaff.runtime.limiter import SlidingWindow


def limited(wait_seconds: int) -> Error:
    """The refusal of a request beyond its limit."""
    return Error(Code.LIMITED, "Too many requests. Try again later.", retry_after_seconds=wait_seconds)


@dataclass(frozen=True, slots=True)
class Limits:
    """Each limit, or None where it is off."""

    evaluate: SlidingWindow | None
    register: SlidingWindow | None
    login: SlidingWindow | None
    login_failures: SlidingWindow | None
    reset: SlidingWindow | None
    api: SlidingWindow | None
    trusted_proxies: Sequence[IPv4Network | IPv6Network]

    def client(self, scope: Scope) -> Hashable:
        """Whom a request counts against: its address, or of IPv6 the /64."""
        return self.client_of(scope.get("client"), scope["headers"])

    def client_of(self, peer: Sequence[Any] | None, headers: Iterable[tuple[bytes, bytes]]) -> Hashable:
        """The same, of a request that came from `peer` (address and port, if it has any) with these headers."""
        forwarded = b",".join(value for name, value in headers if name == b"x-forwarded-for")
        return client_address(peer[0] if peer else "", forwarded.decode("latin-1") or None, self.trusted_proxies)

    def forgive_login(self, attempt: Hashable) -> None:
        """Take back what a login that did not fail had counted as a failure."""
        if self.login_failures is not None:
            self.login_failures.forgive(attempt)


def admit(limiter: SlidingWindow | None, client: Hashable) -> None:
    """Count a request; raises Error LIMITED beyond the limit."""
    if limiter is not None and (wait_seconds := limiter.hit(client)):
        raise limited(wait_seconds)


@dataclass(frozen=True, slots=True)
class Admission:
    """A dependency of an `AdmittedRoute`, which counts each request against one of the limits."""

    choose: Callable[[Limits], SlidingWindow | None]

    def __call__(self) -> None:
        """Nothing: the route has counted the request before it read the body."""

    def admit(self, request: Request) -> None:
        """Count a request; raises Error LIMITED beyond the limit."""
        limits: Limits = request.app.state.limits
        admit(self.choose(limits), limits.client(request.scope))


def admission(choose: Callable[[Limits], SlidingWindow | None]) -> Admission:
    """A dependency that has an `AdmittedRoute` count each request against one of the limits."""
    return Admission(choose)


class AdmittedRoute(APIRoute):
    """Counts a request before its body is read. The framework reads the body before it calls any dependency."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()
        admissions = [each.dependency for each in self.dependencies if isinstance(each.dependency, Admission)]

        async def admit_and_handle(request: Request) -> Response:
            for each in admissions:
                each.admit(request)
            return await handle(request)

        return admit_and_handle
