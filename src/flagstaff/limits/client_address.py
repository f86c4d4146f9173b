"""The client address that limits are counted by. Any peer and any header give a result, never an error."""

import re
from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

MAX_HOPS = 32  # a longer X-Forwarded-For is not read to its end, because clients choose its length
MAX_LENGTH = 64  # of one address: the longest IPv6 address with a zone, brackets and a port

_WITH_PORT = re.compile(r"\[([^\]]*)\](?::[0-9]+)?|([0-9.]+):[0-9]+")


def client_address(peer: str, forwarded_for: str | None, trusted: Sequence[IPv4Network | IPv6Network]) -> str:
    """The client's IPv4 address, or the /64 of its IPv6 address.

    That is the peer, unless it is a trusted proxy: then the right-most address of X-Forwarded-For (the values of
    several such headers joined by commas, in their order) that is not itself trusted.
    """
    return _key(find_client(peer, forwarded_for, trusted))


def find_client(peer: str, forwarded_for: str | None, trusted: Sequence[IPv4Network | IPv6Network]) -> str:
    """The same address as it was written, for logs; the full one for IPv6. The peer if it exceeds MAX_LENGTH."""
    client = peer
    if trusted and forwarded_for:
        for text in reversed(forwarded_for.rsplit(",", MAX_HOPS)):
            hop = text.strip()
            if not is_trusted(client, trusted) or _address(hop) is None:
                break
            client = hop
    return client


def wider_networks(client: str) -> tuple[str, ...]:
    """The /56 and the /48 that contain a client that is a /64; none for an IPv4 address."""
    if not client.endswith("/64"):
        return ()
    address = int(IPv6Address(client.removesuffix("/64")))
    return tuple(f"{IPv6Address(address >> 128 - bits << 128 - bits)}/{bits}" for bits in (56, 48))


def is_trusted(text: str, networks: Sequence[IPv4Network | IPv6Network]) -> bool:
    """Return whether a text is an address in one of these networks."""
    address = _address(text)
    return address is not None and any(address in network for network in networks)


@lru_cache(maxsize=65_536)  # texts are at most MAX_LENGTH long, or a peer's, which clients cannot choose
def _key(text: str) -> str:
    address = _address(text)
    if isinstance(address, IPv6Address):
        # One subscriber has at least a /64.
        return f"{IPv6Address(int(address) >> 64 << 64)}/64"
    return text if address is None else str(address)


def _address(text: str) -> IPv4Address | IPv6Address | None:
    """The address in an item of X-Forwarded-For, with or without a port; None if there is none."""
    if len(text) > MAX_LENGTH:
        return None
    with_port = _WITH_PORT.fullmatch(text)
    try:
        address = ip_address(with_port[1] or with_port[2] if with_port else text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address
