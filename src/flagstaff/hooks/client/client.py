"""Sends a message to a receiver, whose address is checked when it is connected to, and only then.

A name is resolved once, all of its addresses are checked, and one of them is connected to. So no second resolution can
lead elsewhere, and no spelling of an address gets past the check.

lazy_client.py loads this module for the first message, because the library takes 1 MB.
"""

import asyncio
import email.utils
import ssl
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack, suppress
from datetime import UTC, datetime
from ipaddress import ip_address
from typing import Any

import httpcore

from flagstaff.hooks.client.addresses import DEFAULT_PORTS, Address, Reach, is_allowed, read_address
from flagstaff.hooks.client.answers import Answer, SendError
from flagstaff.hooks.client.bounded_stream import BoundedStream, ResponseTooLongError
from flagstaff.hooks.client.resolver import Resolver
from flagstaff.hooks.client.tls import Tls
from flagstaff.settings.webhooks import Proxy

ATTEMPT_SECONDS = 15.0
ANSWER_MAX_BYTES = 1024
_CONNECTIONS_MAX = 64
_IDLE_SECONDS = 30.0


class GuardedBackend(httpcore.AsyncNetworkBackend):
    """Connects to allowed addresses only. With `only_networks`, public addresses are not enough.

    Without a reach, it connects to any address: the operator's proxy may be anywhere.
    """

    def __init__(self, reach: Reach | None, resolver: Resolver, *, only_networks: bool = False) -> None:
        self._reach, self._resolver, self._only_networks = reach, resolver, only_networks
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
                stream = await self._backend.connect_tcp(address, port, timeout, local_address, socket_options)
                return BoundedStream(stream)
            except httpcore.ConnectError as error:
                failure = error
        raise failure

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)

    async def _resolve(self, host: str, port: int) -> list[str]:
        try:
            addresses = await self._resolver.resolve(host, port)
        except OSError as error:
            raise SendError(f"{host} has no address: {error.strerror or error}") from error
        if self._reach is not None:
            for each in addresses:
                address = ip_address(each.partition("%")[0])
                _require_allowed(host, address, self._reach, only_networks=self._only_networks)
        return addresses


class WebhookClient:
    """Sends messages, over https and, to networks that the operator allows, over http."""

    def __init__(self, reach: Reach, tls: Tls | None = None, resolver: Resolver | None = None) -> None:
        """Nothing is opened yet."""
        self._reach, self._tls, self._resolver = reach, tls or Tls(), resolver or Resolver()
        self._proxy_context: ssl.SSLContext | None = None
        self._pools: dict[bytes, httpcore.AsyncConnectionPool] = {}

    async def send(self, url: str, headers: dict[str, str], body: bytes) -> Answer:
        """Send a message, and read the beginning of the response. Redirects are responses like others.

        Raises:
            SendError: no response came within 15 seconds, or the address or the port is not allowed.
        """
        target = httpcore.URL(url)
        self._require_reachable(target)
        try:
            async with asyncio.timeout(ATTEMPT_SECONDS):
                given = [(name.encode(), value.encode()) for name, value in headers.items()]
                timeouts = dict.fromkeys(("connect", "read", "write", "pool"), ATTEMPT_SECONDS)
                async with AsyncExitStack() as stack:
                    proxy = self._reach.proxy
                    if proxy is None:
                        pool = self._pool(target.scheme)
                    else:
                        pool = await stack.enter_async_context(self._make_proxied(proxy))
                    response = await stack.enter_async_context(
                        pool.stream("POST", target, headers=given, content=body, extensions={"timeout": timeouts})
                    )
                    text = await _read_beginning(response)
                    return Answer(response.status, text, _retry_after(response.headers))
        except (TimeoutError, httpcore.TimeoutException) as error:
            raise SendError(f"No response within {ATTEMPT_SECONDS:g} seconds.") from error
        except httpcore.ProxyError as error:
            raise SendError(f"The proxy refuses: {error}") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError, OSError, ValueError) as error:
            raise SendError(f"No response: {str(error) or type(error).__name__}") from error

    async def close(self) -> None:
        """Close the connections that are kept."""
        for pool in self._pools.values():
            await pool.aclose()

    def _require_reachable(self, target: httpcore.URL) -> None:
        """Refuse a port that is not allowed, and through a proxy, which resolves names, an address inside."""
        port = target.port or DEFAULT_PORTS[target.scheme.decode()]
        if not self._reach.allows_port(port):
            raise SendError(f"The port {port} is not in FLAGSTAFF_WEBHOOK_PORTS.")
        if self._reach.proxy is None:
            return
        host = target.host.decode()
        address = read_address(host)
        is_plain = target.scheme == b"http"
        if address is not None:
            _require_allowed(host, address, self._reach, only_networks=is_plain)
        elif is_plain:
            raise SendError("http is sent through a proxy only to an address in FLAGSTAFF_WEBHOOK_NETWORKS.")

    def _pool(self, scheme: bytes) -> httpcore.AsyncConnectionPool:
        if scheme not in self._pools:
            is_plain = scheme == b"http"
            self._pools[scheme] = httpcore.AsyncConnectionPool(
                ssl_context=None if is_plain else self._tls.context,
                max_connections=_CONNECTIONS_MAX,
                max_keepalive_connections=_CONNECTIONS_MAX,
                keepalive_expiry=_IDLE_SECONDS,
                network_backend=GuardedBackend(self._reach, self._resolver, only_networks=is_plain),
            )
        return self._pools[scheme]

    def _make_proxied(self, proxy: Proxy) -> httpcore.AsyncConnectionPool:
        """A pool for one message: the library's keeps a connection for good if TLS fails behind the proxy."""
        if self._proxy_context is None and proxy.url.startswith("https:"):
            self._proxy_context = Tls(self._tls.ca_file).context
        return httpcore.AsyncHTTPProxy(
            proxy.url,
            proxy_auth=None if proxy.user is None else (proxy.user, proxy.password or ""),
            ssl_context=self._tls.context,
            proxy_ssl_context=self._proxy_context,
            max_connections=1,
            network_backend=GuardedBackend(None, self._resolver),
        )


def _require_allowed(host: str, address: Address, reach: Reach, *, only_networks: bool) -> None:
    if not is_allowed(address, reach.networks, only_networks=only_networks):
        wanted = "in FLAGSTAFF_WEBHOOK_NETWORKS, as http demands" if only_networks else "public"
        raise SendError(
            f"{host} has the address {address}, which is not {wanted}. The operator can allow its network with "
            "FLAGSTAFF_WEBHOOK_NETWORKS."
        )


async def _read_beginning(response: httpcore.Response) -> str:
    """The first kilobyte of a response, which may be without end."""
    read = b""
    with suppress(ResponseTooLongError):
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
            moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
            return max(0.0, (moment - datetime.fromtimestamp(time.time(), UTC)).total_seconds())
        except (ValueError, OverflowError, TypeError):  # of a year with many digits, among others
            return None
    return None
