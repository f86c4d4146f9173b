"""Parsers for the texts of settings. Each returns the value, or raises a ValueError that says what is accepted.

Error messages never contain the value of a secret.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from email.utils import quote
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, get_args
from urllib.parse import SplitResult, unquote

from flagstaff.settings.urls import split_url

IPNetwork = IPv4Network | IPv6Network
Security = Literal["none", "starttls", "tls"]
LogFormat = Literal["auto", "json", "console"]
Registration = Literal["open", "closed"]
CommonPasswords = Literal["auto", "accept", "refuse"]
HistoryAttributes = Literal["all", "used", "none"]
WhenCutOff = Literal["serve", "refuse"]
FetchMode = Literal["polling", "streaming"]

MAX_WORKERS = 128

_SECONDS = MappingProxyType({"second": 1, "minute": 60, "hour": 3_600, "day": 86_400})
_BYTES = MappingProxyType(
    {"": 1}
    | {f"{letter}B": 1000**power for power, letter in enumerate("KMGT", 1)}
    | {f"{letter}iB": 1024**power for power, letter in enumerate("KMGT", 1)}
)
_MIN_BYTES = 1_000_000
_SWITCH = MappingProxyType(
    {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
)
_SMTP: Mapping[str, tuple[Security, int]] = MappingProxyType(
    {"smtp": ("none", 25), "smtp+starttls": ("starttls", 587), "smtps": ("tls", 465)}
)
_DEFAULT_PORTS = MappingProxyType({"http": 80, "https": 443})
_HOST = re.compile(r"[\w.:%-]+", re.ASCII)
_INSTANCE_NAME = re.compile(r"[\w.:/@-]{1,200}", re.ASCII)
_PATH_PREFIX = re.compile(r"(?=.{0,101}\Z)(?:/[\w~-][\w.~-]*)*/?", re.ASCII)
_PATH = re.compile(r"[\w./~%-]*", re.ASCII)
_MAILBOX = re.compile(
    r"(?:(?P<name>[^<>]*)<)?(?P<address>[\w+-]+(?:\.[\w+-]+)*@[\w-]+(?:\.[\w-]+)*)(?(name)>)", re.ASCII
)
_SPECIALS = re.compile(r'[][()<>:;@\\,."]')  # RFC 5322, 3.2.3


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `count` requests in any `window_seconds`."""

    count: int
    window_seconds: int


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


def whole_number_parser(minimum: int, maximum: int) -> Callable[[str], int]:
    """A parser for whole numbers from `minimum` to `maximum`."""

    def parse(text: str) -> int:
        if not re.fullmatch("[0-9]{1,9}", text) or not minimum <= int(text) <= maximum:
            raise ValueError(f"must be a whole number from {minimum} to {maximum}, not {text!r}")
        return int(text)

    return parse


def minutes_parser(minimum: int, maximum: int) -> Callable[[str], timedelta | None]:
    """A parser for whole minutes from `minimum` to `maximum`, or None for off."""
    parse_number = whole_number_parser(minimum, maximum)

    def parse(text: str) -> timedelta | None:
        if text == "off":
            return None
        try:
            return timedelta(minutes=parse_number(text))
        except ValueError as error:
            raise ValueError(str(error).replace("must be", "must be off or", 1)) from None

    return parse


def parse_workers(text: str) -> int | Literal["auto"]:
    """A number of processes, or auto."""
    if text == "auto":
        return "auto"
    try:
        return whole_number_parser(1, MAX_WORKERS)(text)
    except ValueError:
        raise ValueError(f"must be a whole number from 1 to {MAX_WORKERS}, or auto, not {text!r}") from None


def parse_port(text: str) -> int:
    """A TCP port."""
    if text.startswith("tcp://"):
        raise ValueError(
            "was set by Kubernetes for a service named flagstaff; "
            "set enableServiceLinks: false in the pod, or give the service another name"
        )
    return whole_number_parser(0, 65_535)(text)


def parse_directory(text: str) -> Path:
    """A directory, which does not have to exist."""
    try:
        path = Path(text).expanduser()
    except RuntimeError:
        raise ValueError(f"must be a directory; the home directory in {text!r} is unknown") from None
    try:
        str(path.absolute()).encode()
    except UnicodeEncodeError:  # the name of a file is bytes, which Python then reads as lone surrogates
        raise ValueError("must be a directory whose whole path is in UTF-8") from None
    return path


def parse_instance_name(text: str) -> str:
    """A name that is sent in a header."""
    if not _INSTANCE_NAME.fullmatch(text):
        raise ValueError("must be at most 200 letters, digits and characters of ._:/@-")
    return text


def parse_secret_key(text: str) -> str:
    """The key that signs tokens."""
    if len(text) < 32:
        raise ValueError("must be at least 32 characters long; generate one with `openssl rand -base64 48`")
    return text


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


def parse_rate_limit(text: str) -> RateLimit | None:
    """A number of requests per unit of time, or None for off."""
    if text == "off":
        return None
    limit = re.fullmatch(r"([1-9][0-9]{0,8})/(second|minute|hour|day)", text)
    if not limit:
        raise ValueError(
            "must be off or a number from 1 to 999999999 per second, minute, hour or day, such as 200/minute, "
            f"not {text!r}"
        )
    return RateLimit(count=int(limit[1]), window_seconds=_SECONDS[limit[2]])


def parse_bytes(text: str) -> int | None:
    """A number of bytes, or None for off."""
    if text == "off":
        return None
    size = re.fullmatch(r"([0-9]{1,18}) ?((?:[KMGT]i?B)?)", text)
    number: int = int(size[1]) * _BYTES[size[2]] if size else 0
    if number < _MIN_BYTES:
        raise ValueError(f"must be off or at least 1MB, as in 10GB, 500MiB or 2000000000, not {text!r}")
    return number


def parse_history_bytes(text: str) -> int | Literal["auto"] | None:
    """A number of bytes, auto, or None for off."""
    return "auto" if text == "auto" else parse_bytes(text)


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


def parse_switch(text: str) -> bool:
    """On or off."""
    if text.lower() not in _SWITCH:
        raise ValueError(f"must be on or off, not {text!r}")
    return _SWITCH[text.lower()]


def choice_parser(choices: Any) -> Callable[[str], str]:
    """A parser of the words of a Literal."""
    *others, last = get_args(choices)

    def parse(text: str) -> str:
        if text not in get_args(choices):
            raise ValueError(f"must be {', '.join(others)} or {last}, not {text!r}")
        return text

    return parse
