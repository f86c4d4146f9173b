"""Parsers for addresses in settings: hosts, networks, origins, URLs, mailboxes and mail servers.

Like those in `values.py`, each raises a ValueError that says what is accepted, and never shows a secret.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import quote
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from types import MappingProxyType
from typing import Literal
from urllib.parse import SplitResult, unquote

from flagstaff.settings.urls import split_url

IPNetwork = IPv4Network | IPv6Network
Security = Literal["none", "starttls", "tls"]
_SMTP: Mapping[str, tuple[Security, int]] = MappingProxyType(
    {"smtp": ("none", 25), "smtp+starttls": ("starttls", 587), "smtps": ("tls", 465)}
)
_DEFAULT_PORTS = MappingProxyType({"http": 80, "https": 443})
_HOST = re.compile(r"[\w.:%-]+", re.ASCII)
_PATH_PREFIX = re.compile(r"(?=.{0,101}\Z)(?:/[\w~-][\w.~-]*)*/?", re.ASCII)
_PATH = re.compile(r"[\w./~%-]*", re.ASCII)
_MAILBOX = re.compile(
    r"(?:(?P<name>[^<>]*)<)?(?P<address>[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)*)(?(name)>)", re.ASCII
)
_SPECIALS = re.compile(r'[][()<>:;@\\,."]')  # RFC 5322, 3.2.3


@dataclass(frozen=True, slots=True)
class SmtpServer:
    """A mail server and how to connect to it."""

    host: str
    port: int
    security: Security
    user: str | None = None
    password: str | None = field(default=None, repr=False)


def parse_host(text: str) -> str:
    """An address or a host name to listen on."""
    if not _HOST.fullmatch(text):
        raise ValueError(f"must be an IP address or a host name, not {text!r}")
    return text


def is_loopback(host: str) -> bool:
    """Return whether an address or a name of a host always means this machine; names are not looked up."""
    try:
        address = ip_address(host)
    except ValueError:
        return host == "localhost"
    # Of IPv4 addresses in IPv6, versions of Python say different things; nobody needs to listen on one.
    return address.is_loopback and getattr(address, "ipv4_mapped", None) is None


def _url(text: str, accepted: str) -> SplitResult:
    """The parts of a URL with one of these schemes."""
    url = split_url(text)
    if url.scheme not in accepted.split():
        schemes = " or ".join(f"{scheme}://" for scheme in accepted.split())
        raise ValueError(f"must be a valid URL that starts with {schemes} (write / as %2F and @ as %40 in a password)")
    return url


def parse_smtp(text: str) -> SmtpServer:
    """A mail server. If no port is given, it is the usual one for the scheme."""
    url = _url(text, " ".join(_SMTP))
    if not url.hostname or url.path.strip("/") or url.query or url.fragment or bool(url.username) != bool(url.password):
        raise ValueError("must be smtp+starttls://user:password@host:port; user:password@ and :port are optional")
    security, port = _SMTP[url.scheme]
    return SmtpServer(
        host=url.hostname,
        port=url.port or port,
        security=security,
        user=unquote(url.username) if url.username else None,
        password=unquote(url.password) if url.password else None,
    )


def _web_address(text: str) -> SplitResult | None:
    """The parts of a web address; None if the text is not one or has credentials, a query or a fragment."""
    url = _url(text, "http https")
    if url.username is not None or url.query or url.fragment or not _PATH.fullmatch(url.path):
        return None
    return url if _HOST.fullmatch(url.hostname or "") else None


def parse_public_url(text: str) -> str:
    """A web address whose path, if it has one, is a prefix of all paths. It is returned without a trailing slash."""
    url = _web_address(text)
    if not url:
        raise ValueError(
            "must be a web address without credentials, query or fragment, such as https://flags.example.com, "
            f"not {text!r}"
        )
    if not _PATH_PREFIX.fullmatch(url.path):
        raise ValueError(
            "must have no path, or one of at most 100 letters, digits and characters of ._~- between single slashes, "
            f"none of which is followed by a dot, such as https://example.com/flags, not {text!r}"
        )
    return text.removesuffix("/")


def parse_mail_from(text: str) -> str:
    """One mailbox in the form of a From header."""
    mailbox = _MAILBOX.fullmatch(text)
    if not mailbox or not text.isprintable():
        raise ValueError(f"must be one address, such as Flagstaff <flags@example.com>, not {text!r}")
    name, address = (mailbox["name"] or "").strip(' "'), mailbox["address"]
    if not name:
        return address
    # A name that contains a comma would be read as two senders. The library's Address does the same, and takes 0.6 MB.
    return f'"{quote(name)}" <{address}>' if _SPECIALS.search(name) else f"{name} <{address}>"


def parse_networks(text: str) -> tuple[IPNetwork, ...]:
    """A comma-separated list of IP networks."""

    def network(item: str) -> IPNetwork:
        try:
            return ip_network(item)
        except ValueError:
            raise ValueError(
                f"must be a comma-separated list of networks, such as 10.0.0.0/8, fd00::/8; {item!r} is not a network"
            ) from None

    return tuple(network(item) for item in _items(text))


def parse_origins(text: str) -> tuple[str, ...]:
    """A comma-separated list of origins, each in the form that browsers send."""

    def origin(item: str) -> str:
        if "*" in item:
            raise ValueError(
                f"must name each origin, as in https://flags.example.com; a wildcard such as {item!r} is not accepted, "
                "since it would let every page on the web call /api (/sdk answers every page without this setting)"
            )
        url = _web_address(item)
        if not url or url.path.strip("/"):
            raise ValueError(
                "must be a comma-separated list of origins without a path, such as https://flags.example.com; "
                f"{item!r} is not an origin"
            )
        host = f"[{url.hostname}]" if ":" in (url.hostname or "") else url.hostname
        # Browsers send origins in lower case and without the scheme's default port.
        port = "" if url.port in (None, _DEFAULT_PORTS[url.scheme]) else f":{url.port}"
        return f"{url.scheme}://{host}{port}"

    return tuple(origin(item) for item in _items(text))


def _items(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]
