"""HTTP clients of servers on this machine."""

import ssl
from functools import cache
from typing import Any

import httpx


def open_client(base_url: str = "", **options: Any) -> httpx.AsyncClient:
    """A client; `options` are those of httpx. Without `verify`, httpx reads all certificates, for 45 milliseconds."""
    return httpx.AsyncClient(base_url=base_url, verify=no_certificates(), **options)


@cache
def no_certificates() -> ssl.SSLContext:
    """What httpx needs to call servers without TLS."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
