"""Addresses and ports that webhooks may reach: public ones, and those of networks that the operator allows.

The check is on the address that is connected to, so the spelling of a URL's host does not matter.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from flagstaff.settings.webhooks import Proxy

Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]

DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class Reach:
    """The reach of webhooks: public addresses and these networks, at these ports, and through which proxy."""

    networks: Networks = ()
    ports: Sequence[range] = (range(1, 65_536),)
    proxy: Proxy | None = None

    def allows_port(self, port: int) -> bool:
        """Whether a port may be reached."""
        return any(port in each for each in self.ports)


# Networks of IPv6 whose addresses contain one of IPv4, and the position of its last bit, counted from the right.
_EMBEDDING = (
    (IPv6Network("64:ff9b::/96"), 0),  # NAT64, RFC 6052
    (IPv6Network("64:ff9b:1::/48"), 0),  # NAT64 of one's own network, RFC 8215
    (IPv6Network("::/96"), 0),  # IPv4-compatible, RFC 4291
    (IPv6Network("2002::/16"), 80),  # 6to4, RFC 3056
)
_IPV4_BITS = (1 << 32) - 1


def is_allowed(address: Address, networks: Networks, *, only_networks: bool = False) -> bool:
    """Whether a webhook may connect to an address. With `only_networks`, public addresses are not enough."""
    every = _spellings(address)
    if any(each in network for each in every for network in networks if each.version == network.version):
        return True
    return not only_networks and all(each.is_global and not each.is_multicast for each in every)


def _spellings(address: Address) -> list[Address]:
    """The address, and those that it contains. All of them must be allowed."""
    found: list[Address] = [address]
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return [address.ipv4_mapped]
        found += [
            IPv4Address(int(address) >> shift & _IPV4_BITS) for network, shift in _EMBEDDING if address in network
        ]
        if address.teredo is not None:
            found += address.teredo
    return found


def read_address(host: str) -> Address | None:
    """The address that a host is, in any spelling that a resolver reads as one, such as 0x7f.1; None for a name."""
    host = host.removesuffix(".")
    try:
        return ip_address(host.partition("%")[0].strip("[]"))
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None
