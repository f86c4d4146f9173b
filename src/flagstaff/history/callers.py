"""Callers, which ask for flags: a protocol, an SDK key, a user agent and a network, in one environment.

Clients choose their user agents, so these are shortened, and nothing is decided by them. An address is kept only as a
network, because a browser's is its user's.
"""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import lru_cache
from ipaddress import ip_address, ip_network
from typing import NamedTuple
from uuid import UUID

from flagstaff.values.text import one_line

USER_AGENT_MAX_LENGTH = 200
_READ_MAX_BYTES = 4 * USER_AGENT_MAX_LENGTH  # a header may be much longer
_NETWORK_BITS = {4: 24, 6: 48}
OTHERS = "*"
"""Stands in place of a network for all callers with a key and a protocol that are not told apart."""


class SdkProtocol(StrEnum):
    """The way in which a caller asks."""

    EVALUATE = "evaluate"
    OFREP = "ofrep"
    UNLEASH = "unleash"
    UNLEASH_FRONTEND = "unleash_frontend"
    STREAM = "stream"
    EVENTS = "events"


class Caller(NamedTuple):
    """A caller of an environment. `key_id` is None for the project's own key; an unknown network is empty."""

    environment_id: UUID
    protocol: SdkProtocol
    key_id: UUID | None
    user_agent: str
    network: str

    @property
    def others(self) -> "Caller":
        """The caller that stands for all that are not told apart, with the same key and protocol."""
        return self._replace(user_agent="", network=OTHERS)

    @property
    def is_others(self) -> bool:
        """True if it stands for several."""
        return self.network == OTHERS


@dataclass(frozen=True, slots=True)
class CallerUse:
    """A caller's requests: each minute in about the last five, and in the last 24 hours, the first of them in part."""

    caller: Caller
    requests_per_minute: float
    requests_last_day: int
    first_at: datetime
    last_at: datetime


def read_user_agent(value: bytes | None) -> str:
    """The user agent in a header, as it is kept: on one line; empty if there is none."""
    return one_line(value[:_READ_MAX_BYTES].decode(errors="replace"), USER_AGENT_MAX_LENGTH) if value else ""


@lru_cache(maxsize=4096)
def network_of(client: str) -> str:
    """The network of a client that limits count by (`client_address`): an IPv4 /24 or an IPv6 /48.

    It is empty for what is not an address, such as the peer of a Unix socket.
    """
    try:
        address = ip_address(client.partition("/")[0])
    except ValueError:
        return ""
    return str(ip_network((address, _NETWORK_BITS[address.version]), strict=False))
