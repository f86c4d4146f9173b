"""The rate limits, and whom a request counts against."""

from collections.abc import Awaitable, Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from fastapi import Request
from starlette.types import Scope

from flagstaff.domain.errors import Code, Error
from flagstaff.runtime.client_address import client_address, find_client
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
    trusted_proxies: Sequence[IPv4Network | IPv6Network]

    def client(self, scope: Scope) -> Hashable:
        """Whom a request counts against: its address, or of IPv6 the /64."""
        return self.client_of(scope.get("client"), scope["headers"])

    def client_of(self, peer: Sequence[Any] | None, headers: Iterable[tuple[bytes, bytes]]) -> Hashable:
        """The same, of a request that came from `peer` (address and port, if it has any) with these headers."""
        return client_address(peer[0] if peer else "", _forwarded_for(headers), self.trusted_proxies)

    def address_of(self, peer: Sequence[Any] | None, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """The address of the client itself, as the log shows it; None if the peer has none."""
        return find_client(peer[0], _forwarded_for(headers), self.trusted_proxies) if peer else None

    def forgive_login(self, attempt: Hashable) -> None:
        """Take back what a login that did not fail had counted as a failure."""
        if self.login_failures is not None:
            self.login_failures.forgive(attempt)


def _forwarded_for(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    forwarded = b",".join(value for name, value in headers if name == b"x-forwarded-for")
    return forwarded.decode("latin-1") or None


def admit(limiter: SlidingWindow | None, client: Hashable) -> None:
    """Count a request; raises Error LIMITED beyond the limit."""
    if limiter is not None and (wait_seconds := limiter.hit(client)):
        raise limited(wait_seconds)


def admission(choose: Callable[[Limits], SlidingWindow | None]) -> Callable[[Request], Awaitable[None]]:
    """A dependency that counts each request of a route against one of the limits."""

    async def admit_request(request: Request) -> None:
        limits: Limits = request.app.state.limits
        admit(choose(limits), limits.client(request.scope))

    return admit_request
