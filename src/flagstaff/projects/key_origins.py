"""The origins of the pages that may use a browser's SDK key: their form, and which pages they match.

They are compared with the Origin header, which browsers write in one form (RFC 6454, and UTS 46 for names), so only
that form is accepted. A `*` stands for exactly one label, as in a certificate for TLS.
"""

import re
from collections.abc import Collection
from ipaddress import ip_address

ORIGINS_MAX = 50
ORIGIN_MAX_LENGTH = 300
ORIGIN_PATTERN = r"^[a-z][a-z0-9+.-]*://(\*\.)?[^/?#@\s]+$"

_EXAMPLE = "such as https://shop.example.com"
_SCHEME = re.compile("[a-z][a-z0-9+.-]*")
_LABEL = re.compile("[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?")
_HOST_MAX_LENGTH = 253
_DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443"}
_ANY_LABEL = "*."


def check_origin(given: str) -> str:
    """The origin of a page, exactly as browsers send it; `*.` before a name stands for one label."""
    if given == "*":
        raise ValueError("must not be '*'; leave the list empty to allow pages of every origin")
    if len(given) > ORIGIN_MAX_LENGTH:
        raise ValueError(f"must be at most {ORIGIN_MAX_LENGTH} characters long")
    scheme, separator, rest = given.partition("://")
    if not separator or not _SCHEME.fullmatch(scheme.lower()):
        raise ValueError(f"must begin with a scheme, {_EXAMPLE}")
    address = re.split("[/?#\\\\]", rest, maxsplit=1)[0]
    if "@" in address:
        raise ValueError(f"must not have a user name; write the scheme, the host and the port, if any, {_EXAMPLE}")
    written = f"{scheme.lower()}://{_check_address(address, _DEFAULT_PORTS.get(scheme.lower()))}"
    if address != rest:
        raise ValueError(f"must not have a path; write {written}")
    if given != written:
        raise ValueError(f"must be written as browsers send it: {written}")
    return given


def allows(origins: Collection[str], origin: str) -> bool:
    """Return whether a page at `origin`, as its browser sends it, is at one of the allowed `origins`."""
    if origin in origins:
        return True
    scheme, _, host = origin.partition("://")
    _, dot, parent = host.partition(".")
    return bool(dot) and f"{scheme}://{_ANY_LABEL}{parent}" in origins


def _check_address(address: str, default_port: str | None) -> str:
    """The host and the port of an origin, as browsers write them; raises ValueError."""
    if address.startswith("["):
        host, bracket, port = address.partition("]")
        host = f"[{_check_ip(host[1:])}]" if bracket else _refuse_host(address)
    else:
        host, colon, port = address.partition(":")
        host, port = _check_host(host), colon + port
    if not port:
        return host
    number = port.removeprefix(":")
    if not (port.startswith(":") and number.isascii() and number.isdecimal() and 0 < int(number[:6]) < 2**16):
        raise ValueError(f"must have a port from 1 to 65535 after the host, or none, {_EXAMPLE}")
    number = str(int(number))
    return host if number == default_port else f"{host}:{number}"


def _check_host(host: str) -> str:
    wildcard, name = (_ANY_LABEL, host[2:]) if host.startswith(_ANY_LABEL) else ("", host)
    if "*" in name:
        raise ValueError("must have '*' only as the whole first label of the host, as in https://*.example.com")
    labels = _in_ascii(name).split(".")
    if wildcard and (len(labels) < 2 or labels[-1].isdecimal()):
        raise ValueError("must have a domain of two labels or more after '*.', as in https://*.example.com")
    if labels[-1].isdecimal():
        return _check_ip(name)
    written = ".".join(labels)
    if len(written) > _HOST_MAX_LENGTH or not all(map(_LABEL.fullmatch, labels)):
        return _refuse_host(host)
    return wildcard + written


def _in_ascii(name: str) -> str:
    if name.isascii():
        return name.lower()
    import idna  # noqa: PLC0415 -- half a megabyte, for names that are rare

    try:
        return idna.encode(name, uts46=True).decode()
    except idna.IDNAError:
        return _refuse_host(name)


def _check_ip(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        return _refuse_host(text)


def _refuse_host(host: str) -> str:
    raise ValueError(f"must have the name or the address of a host after the scheme, {_EXAMPLE}; {host!r} is neither")
