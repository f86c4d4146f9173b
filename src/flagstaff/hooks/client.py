"""Sends a message to a receiver, whose address is checked when it is connected to, and only then.

A name is resolved once, all of its addresses are checked, and one of them is connected to. So no second resolution can
lead elsewhere, and no spelling of an address gets past the check.
"""

import asyncio
import email.utils
import socket
import ssl
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any, NamedTuple

import httpcore

from flagstaff.hooks.addresses import Networks, is_allowed

ATTEMPT_SECONDS = 15.0
ANSWER_MAX_BYTES = 1024
_CONNECTIONS_MAX = 64
_IDLE_SECONDS = 30.0


class Answer(NamedTuple):
    """A response: its status, its first kilobyte, and for how many seconds it asks to wait before the next attempt."""

    status: int
    text: str
    retry_after_seconds: float | None


class SendError(Exception):
    """No response has come. The text says why, without the URL, which may contain a secret."""


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to allowed addresses only. With `only_networks`, public addresses are not enough."""

    def __init__(self, networks: Networks, *, only_networks: bool) -> None:
        self._networks, self._only_networks = networks, only_networks
        self._backend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the interface's
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to one of a host's addresses, if all of them are allowed; raises SendError."""
        addresses = await self._resolve(host, port)
        failure: Exception = SendError(f"{host} has no address.")
        for address in addresses:
            try:
                return await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore.ConnectError as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def _resolve(self, host: str, port: int) -> list[str]:
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise SendError(f"{host} has no address: {error.strerror or error}") from error
        addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
        for each in addresses:
            address = ip_address(each.partition("%")[0])
            if not is_allowed(address, self._networks, only_networks=self._only_networks):
                wanted = "in FLAGSTAFF_WEBHOOK_NETWORKS, as http demands" if self._only_networks else "public"
                raise SendError(
                    f"{host} has the address {address}, which is not {wanted}. The operator can allow its network with "
                    "FLAGSTAFF_WEBHOOK_NETWORKS."
                )
        return addresses


class WebhookClient:
    """Sends messages, over https and, to networks that the operator allows, over http."""

    def __init__(self, networks: Networks) -> None:
        """`networks` are those that may be reached besides public addresses."""
        self._networks = networks
        self._pools: dict[bytes, httpcore.AsyncConnectionPool] = {}

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Send a message, and read the beginning of the response. Redirects are responses like others.

        Raises:
            SendError: no response came within 15 seconds, or the address is not allowed.
        """
        target = httpcore.URL(url)
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS):
                given = [(name.encode(), value.encode()) for name, value in headers.items()]
                timeouts = dict.fromkeys(("connect", "read", "write", "pool"), ATTEMPT_SECONDS)
                async with self._pool(target.scheme).stream(
                    "POST", target, headers=given, content=body, extensions={"timeout": timeouts}
                ) as response:
                    text = await _read_beginning(response)
                    return Answer(response.status, text, _retry_after(response.headers))
        except (TimeoutError, httpcore.TimeoutException) as error:
            raise SendError(f"No response within {ATTEMPT_SECONDS:g} seconds.") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, OSError, ValueError) as error:
            raise SendError(f"No response: {str(error) or type(error).__name__}") from error

    async def close(self) -> None:
        """Close the connections that are kept."""
        for pool in self._pools.values():
            await pool.aclose()

    def _pool(self, scheme: bytes) -> httpcore.AsyncConnectionPool:
        if scheme not in self._pools:
            self._pools[scheme] = httpcore.AsyncConnectionPool(
                ssl_context=ssl.create_default_context(),
                max_connections=_CONNECTIONS_MAX,
                max_keepalive_connections=_CONNECTIONS_MAX,
                keepalive_expiry=_IDLE_SECONDS,
                network_backend=GuardedBackend(self._networks, only_networks=scheme == b"http"),
            )
        return self._pools[scheme]


async def _read_beginning(response: httpcore.Response) -> str:
    """The first kilobyte of a response, which may be without end."""
    read = b""
    async for part in response.aiter_stream():
        read += part[:ANSWER_MAX_BYTES]
        if len(read) >= ANSWER_MAX_BYTES:
            break
    return read[:ANSWER_MAX_BYTES].decode(errors="replace").replace("\0", "�")


def _retry_after(headers: list[tuple[bytes, bytes]]) -> float | None:
    """The seconds that `Retry-After` demands, as a number or as a date; None if there is none that can be read."""
    for name, value in headers:
        if name.lower() != b"retry-after":
            continue
        text = value.decode("ascii", errors="replace").strip()
        if text.isascii() and text.isdigit():
            return float(text[:9])
        try:
            moment = email.utils.parsedate_to_datetime(text)
        except ValueError:
            return None
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.fromtimestamp(time.time(), UTC)).total_seconds())
    return None
