"""The URL of a Valkey server, in the forms that its client reads."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import SplitResult, parse_qsl

from flagstaff.settings.urls import split_url

_ACCEPTED = (
    "must be valkey://user:password@host:6379/0, valkeys:// for TLS, or unix:///path/to/socket?db=0 "
    "(redis:// and rediss:// are the same as valkey:// and valkeys://; write / as %2F and @ as %40 in a password)"
)
_TLS_FILES = ("ssl_ca_certs", "ssl_certfile", "ssl_keyfile")
_OPTIONS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "valkey": ("db",),
        "redis": ("db",),
        "valkeys": ("db", *_TLS_FILES),
        "rediss": ("db", *_TLS_FILES),
        "unix": ("db",),
    }
)


def parse_valkey_url(text: str) -> str:
    """A Valkey server and database. Certificates are always verified."""
    url = split_url(text)
    if url.scheme not in _OPTIONS or url.fragment:
        raise ValueError(_ACCEPTED)
    if url.scheme == "unix":
        is_valid = url.path.startswith("/") and url.path != "/" and not url.hostname and url.port is None
    else:
        is_valid = bool(url.hostname) and re.fullmatch(r"/?|/[0-9]{1,5}", url.path) is not None
    if not is_valid:
        raise ValueError(_ACCEPTED)
    _check_options(url)
    return text


def _check_options(url: SplitResult) -> None:
    accepted = _OPTIONS[url.scheme]
    try:
        options = parse_qsl(url.query, keep_blank_values=True, strict_parsing=True) if url.query else []
    except ValueError:
        raise ValueError(_ACCEPTED) from None
    for name, value in options:
        if name not in accepted:
            raise ValueError(f"has an option that is not accepted; {url.scheme}:// can have {', '.join(accepted)}")
        if name == "db" and not re.fullmatch("[0-9]{1,5}", value):
            raise ValueError("must have a whole number as its option db")
        if name in _TLS_FILES and not Path(value).is_file():
            raise ValueError(f"must name a file that exists in its option {name}")
