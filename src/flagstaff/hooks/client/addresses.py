"""Addresses and ports that webhooks may reach: public ones, and the addresses of networks that the operator allows.

The check is on the address that is connected to, so the spelling of a URL's host does not matter.
"""

import socket
from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

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
        """Return whether a port may be reached."""
        return any(port in each for each in self.ports)


# The registries of IANA, besides what every version of Python knows: of IPv6, only 2000::/3 has public addresses, and
# these are no addresses of others there, such as tunnels to IPv4. The last one is a cloud's, for its own machines.
_PUBLIC_IPV6 = IPv6Network("2000::/3")
_NOT_PUBLIC = tuple(
    map(
        ip_network,
        ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "192.0.0.0/24", "192.88.99.0/24", "168.63.129.16/32"),
    )
)
_NAT64 = IPv6Network("64:ff9b::/96")
_IPV4_BITS = (1 << 32) - 1


def is_allowed(address: Address, networks: Networks, *, only_networks: bool = False) -> bool:
    """Return whether a webhook may connect to an address. With `only_networks`, public addresses are not enough."""
    if isinstance(address, IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    reached = address
    if address in _NAT64:
        reached = IPv4Address(int(address) & _IPV4_BITS)
    if any(address in network or reached in network for network in networks):
        return True
    return not only_networks and _is_public(reached)


def _is_public(address: Address) -> bool:
    if not address.is_global or address.is_multicast or any(address in network for network in _NOT_PUBLIC):
        return False
    return isinstance(address, IPv4Address) or address in _PUBLIC_IPV6


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
