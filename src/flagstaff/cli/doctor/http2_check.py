"""Asks, through the public URL, whether browsers get HTTP/2, for `flagstaff doctor`. It sends no request."""

import asyncio
import ssl
from urllib.parse import SplitResult, urlsplit

from flagstaff.cli.doctor.findings import Finding, ok, warn
from flagstaff.hooks.client.resolver import Resolver

_CHECK = "HTTP/2"
_HTTPS_PORT = 443
_TIMEOUT_SECONDS = 5.0


async def check_http2(public_url: str, *, timeout_seconds: float = _TIMEOUT_SECONDS) -> Finding | None:
    """The finding, after `timeout_seconds` at most; None for a URL without TLS, with which browsers use HTTP/1.1."""
    url = urlsplit(public_url)
    if url.scheme != "https":
        return None
    try:
        async with asyncio.timeout(timeout_seconds):
            protocol = await _negotiate(url)
    except ssl.SSLCertVerificationError as error:
        return warn(
            _CHECK,
            f"not known: this machine does not trust the certificate of {public_url}: {error.verify_message}",
            "Correct or renew it. If your own authority has issued it, name the authority's file in SSL_CERT_FILE.",
        )
    except OSError as error:
        reason = f"no answer within {timeout_seconds:g} seconds" if isinstance(error, TimeoutError) else str(error)
        return warn(
            _CHECK,
            f"not known: {public_url} cannot be reached from this machine: {reason}",
            "Check FLAGSTAFF_PUBLIC_URL and the proxy. If browsers can reach it, run this command where they do.",
        )
    if protocol == "h2":
        return ok(_CHECK, f"{public_url} offers it")
    return warn(
        _CHECK,
        f"{public_url} offers only HTTP/1.1, with which a browser opens six connections for all of its tabs",
        "Turn HTTP/2 on in the proxy. Otherwise, pages with streams in six tabs leave no connection for others.",
    )


async def _negotiate(url: SplitResult) -> str | None:
    """The protocol that the server chooses if it is offered HTTP/2; None if it does not choose.

    Raises:
        OSError: it cannot be reached. SSLCertVerificationError if its certificate is not valid here.
    """
    host, port = url.hostname or "", url.port or _HTTPS_PORT
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2", "http/1.1"])
    failure: OSError | None = None
    for address in await Resolver().resolve(host, port):
        try:
            _, writer = await asyncio.open_connection(address, port, ssl=context, server_hostname=host)
        except OSError as error:
            failure = failure or error
            continue
        protocol: str | None = writer.get_extra_info("ssl_object").selected_alpn_protocol()
        writer.transport.abort()
        return protocol
    raise failure or OSError("the name has no address")
