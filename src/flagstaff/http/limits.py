"""The rate limits, and the client that a request counts against."""

import random
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from ipaddress import IPv4Network, IPv6Network
from typing import Any

from starlette.types import Scope

from flagstaff.limits.client_address import client_address, find_client, wider_networks
from flagstaff.limits.limiter import SlidingWindow
from flagstaff.values.errors import limited

_SPREAD = 4


def widest_network(client: str) -> str:
    """The largest network that one customer may have: an IPv4 address itself, or the /48 of an IPv6 client."""
    return (client, *wider_networks(client))[-1]


class NetworkWindows:
    """A limit for each client, and higher ones for the IPv6 networks that one customer may have: /56 and /48.

    A /48 contains 65,536 networks of the size that counts as one client.
    """

    def __init__(self, count: int, window_seconds: float, *, capacity: int) -> None:
        """At most `count` hits of a client within any `window_seconds`; 4 times that for a /56, 16 times for a /48."""
        self._windows = [SlidingWindow(count * times, window_seconds, capacity=capacity) for times in (1, 4, 16)]

    @property
    def shared(self) -> Mapping[str, SlidingWindow]:
        """The windows by the part of their names that says which networks they count."""
        return dict(zip(("", "/56", "/48"), self._windows, strict=True))

    def hit(self, client: str) -> int:
        """Count a hit and return 0, or refuse it and return the whole seconds until one would be allowed."""
        counted: list[tuple[SlidingWindow, str]] = []
        for window, network in zip(self._windows, (client, *wider_networks(client)), strict=False):
            if wait_seconds := window.hit(network):
                for earlier, key in counted:
                    earlier.forgive(key)
                return wait_seconds
            counted.append((window, network))
        return 0

    def forgive(self, client: str) -> None:
        """Take back the latest hit of a client."""
        for window, network in zip(self._windows, (client, *wider_networks(client)), strict=False):
            window.forgive(network)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits; None means that a limit is off."""

    evaluate: SlidingWindow | None
    events: SlidingWindow | None
    sent_events: SlidingWindow | None
    browser: SlidingWindow | None
    browser_reports: SlidingWindow | None
    report: SlidingWindow | None
    streams: SlidingWindow | None
    unnamed_streams: SlidingWindow | None
    register: NetworkWindows | None
    login: NetworkWindows | None
    login_failures: SlidingWindow | None
    account_failures: SlidingWindow | None
    reset: NetworkWindows | None
    unsubscribe: NetworkWindows | None
    api: SlidingWindow | None
    anonymous: NetworkWindows | None
    trusted_proxies: Sequence[IPv4Network | IPv6Network]

    def shared(self) -> dict[str, SlidingWindow]:
        """The windows of all limits by names, which instances that share them have in common."""
        found: dict[str, SlidingWindow] = {}
        for each in fields(self):
            limit = getattr(self, each.name)
            if isinstance(limit, SlidingWindow):
                found[each.name] = limit
            elif isinstance(limit, NetworkWindows):
                found |= {each.name + networks: window for networks, window in limit.shared.items()}
        return found

    def client(self, scope: Scope) -> str:
        """The client that a request counts against: its IPv4 address, or its IPv6 /64."""
        return self.client_of(scope.get("client"), scope["headers"])

    def client_of(self, peer: Sequence[Any] | None, headers: Iterable[tuple[bytes, bytes]]) -> str:
        """The same for a request from `peer` (address and port, if any) with these headers."""
        return client_address(peer[0] if peer else "", _forwarded_for(headers), self.trusted_proxies)

    def address_of(self, peer: Sequence[Any] | None, headers: Iterable[tuple[bytes, bytes]]) -> str | None:
        """The client's own address, as the log shows it; None if the peer has none."""
        return find_client(peer[0], _forwarded_for(headers), self.trusted_proxies) if peer else None


def _forwarded_for(headers: Iterable[tuple[bytes, bytes]]) -> str | None:
    forwarded = b",".join(value for name, value in headers if name == b"x-forwarded-for")
    return forwarded.decode("latin-1") or None


def admit(limiter: SlidingWindow | None, client: Hashable) -> None:
    """Count a request; raises Error LIMITED beyond the limit."""
    if limiter is not None and (wait_seconds := limiter.hit(client)):
        raise limited(wait_seconds)


def admit_many(limiter: SlidingWindow | None, client: Hashable, hits: int) -> None:
    """Count a request as several hits, if one is allowed; raises Error LIMITED beyond the limit."""
    if limiter is not None and hits and (wait_seconds := limiter.hit_many(client, hits)):
        raise limited(wait_seconds)


def admit_spread(limiter: SlidingWindow | None, client: Hashable) -> None:
    """The same for an address of many people: up to a quarter of the window is added to their waits, at random.

    Otherwise all who were refused would come back together, and nearly all of them would be refused again.
    """
    if limiter is not None and (wait_seconds := limiter.hit(client)):
        spread_seconds = random.randint(0, max(1, int(limiter.window_seconds) // _SPREAD))  # noqa: S311 - no secret
        raise limited(wait_seconds + spread_seconds)
