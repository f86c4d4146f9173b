"""Addresses that webhooks may reach: public ones, and those of networks that the operator allows.

The check is on the address that is connected to, so the spelling of a URL's host does not matter.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

Address = IPv4Address | IPv6Address
Networks = Sequence[IPv4Network | IPv6Network]

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
