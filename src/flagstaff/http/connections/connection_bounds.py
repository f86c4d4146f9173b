"""Bounds on connections, per address and in all, which leave descriptors free for the store."""

from collections import Counter
from collections.abc import Sequence

from flagstaff.limits.client_address import client_address, is_trusted, wider_networks
from flagstaff.settings import IPNetwork
from flagstaff.telemetry.metrics import Metrics

INTERNAL_CONNECTIONS = 32
"""The bound of the internal port: enough for probes and monitoring, and a part of the descriptors that are reserved.

They are counted apart, so that probes are answered while the port for users is full.
"""


class ConnectionBounds:
    """Counts open connections. The bound per address does not apply to trusted proxies, which carry many clients.

    An IPv6 /48, which one customer may have, gets at most half of all connections: it contains 65,536 networks of the
    size that counts as one address.
    """

    def __init__(self, *, most: int, most_per_address: int, trusted_proxies: Sequence[IPNetwork]) -> None:
        self.most = most
        self.most_per_address = most_per_address
        self.open = 0
        self.refused = 0
        self._trusted = trusted_proxies
        self._by_address: Counter[str] = Counter()

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the numbers of connections."""
        metrics.add_gauge("connections", "Open connections.", lambda: self.open)
        metrics.add_counter("connections_refused", "Connections refused at a limit.", lambda: self.refused)

    def keep_within(self, descriptors: int) -> None:
        """Lower the bounds if fewer descriptors are free for connections; no address then gets more than half."""
        self.most = min(self.most, descriptors)
        self.most_per_address = min(self.most_per_address, max(1, self.most // 2))

    def enter(self, peer: str) -> str | None:
        """Count a connection from `peer`; return what to pass to `leave`, or None if there is no room for it."""
        address = client_address(peer, None, ())
        if self.open >= self.most or self._is_full(peer, address):
            self.refused += 1
            return None
        self.open += 1
        self._by_address.update(_counted(address))
        return address

    def leave(self, address: str) -> None:
        """Stop counting a connection."""
        self.open -= 1
        for place in _counted(address):
            self._by_address[place] -= 1
            if not self._by_address[place]:
                del self._by_address[place]

    def _is_full(self, peer: str, address: str) -> bool:
        bounds = (self.most_per_address, max(self.most_per_address, self.most // 2))
        is_full = any(self._by_address[place] >= bound for place, bound in zip(_counted(address), bounds, strict=False))
        return is_full and not is_trusted(peer, self._trusted)


def _counted(address: str) -> tuple[str, ...]:
    """The address, and for IPv6 its /48."""
    return (address, *wider_networks(address)[-1:])
