"""URLs of PostgreSQL as hosted services and other programs write them, in the form that the driver understands.

The driver passes the parameters that it does not know to the server, which refuses the connection. Error messages never
contain the URL, which may hold a password.
"""

import os
import ssl
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit

_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_VERIFYING = ("verify-ca", "verify-full")
# What other drivers and libpq read as `ssl`.
_SSL: Mapping[str, str] = MappingProxyType(
    {"true": "require", "1": "require", "false": "disable", "0": "disable"} | {mode: mode for mode in _SSL_MODES}
)
# These settings of clients have no effect here: Flagstaff has times, a pool and a name of its own, and finds poolers.
_WITHOUT_EFFECT = frozenset(
    {
        "application_name",
        "connect_timeout",
        "connection_limit",
        "fallback_application_name",
        "keepalives",
        "keepalives_count",
        "keepalives_idle",
        "keepalives_interval",
        "load_balance_hosts",
        "pgbouncer",
        "pool_timeout",
        "sslcompression",
        "sslsni",
        "tcp_user_timeout",
    }
)
_SESSIONS = ("any", "primary", "read-write")
_FILES = ("sslcert", "sslkey", "sslrootcert", "sslcrl")
_FORM = "must be a valid URL that starts with postgresql:// or postgres:// (write / as %2F and @ as %40 in a password)"


def parse_database_url(text: str) -> str:
    """The URL of a PostgreSQL database, with one or several hosts.

    A server that can be written to is chosen of several hosts, unless `target_session_attrs` says otherwise.
    `channel_binding=require` is met by `sslmode=verify-full` with the system's certificates, unless a file is given:
    the driver cannot bind a login to its connection, so the certificate proves whose server it is.

    Raises:
        ValueError: if it is not valid.
    """
    if text.startswith("sqlite"):
        raise ValueError("must be a PostgreSQL URL; to use SQLite, leave it unset and set FLAGSTAFF_DATA_DIR")
    url = _split(text)
    given = dict(parse_qsl(url.query, keep_blank_values=True))
    kept = {name: value for name, value in given.items() if name not in _WITHOUT_EFFECT}
    _read_tls(kept)
    _read_session(kept, has_several_hosts="," in url.netloc.rpartition("@")[2])
    return text if kept == given else f"{text.partition('?')[0]}{f'?{urlencode(kept)}' if kept else ''}"


def _split(text: str) -> SplitResult:
    try:
        url = urlsplit(text)
        for host in url.netloc.rpartition("@")[2].split(","):
            _ = urlsplit(f"//{host}").port  # raises ValueError if it is no number, or too large
    except ValueError:
        raise ValueError(_FORM) from None
    is_valid = url.scheme in ("postgresql", "postgres") and not url.fragment and "@" not in url.path
    if not is_valid or any(character.isspace() for character in text):
        raise ValueError(_FORM)
    return url


def _read_tls(parameters: dict[str, str]) -> None:
    if (given := parameters.pop("ssl", None)) is not None:
        if given not in _SSL:
            raise ValueError("must have no parameter ssl, or ssl=true, ssl=false or a value of sslmode")
        parameters.setdefault("sslmode", _SSL[given])
    if parameters.get("sslmode") not in (None, *_SSL_MODES):
        raise ValueError(f"must have one of these as sslmode: {', '.join(_SSL_MODES)}")
    if parameters.pop("channel_binding", "prefer") == "require":
        parameters["sslmode"] = "verify-full"
        parameters.setdefault("sslrootcert", "system")
    if parameters.get("sslrootcert") == "system":
        parameters.setdefault("sslmode", "verify-full")
        parameters["sslrootcert"] = _certificates_of_the_system()
    for name in _FILES:
        if name in parameters and not Path(parameters[name]).expanduser().is_file():
            raise ValueError(f"has the parameter {name}, but its file does not exist or cannot be read")
    if parameters.get("sslmode") in _VERIFYING and "sslrootcert" not in parameters and not _has_usual_certificates():
        parameters["sslrootcert"] = _certificates_of_the_system()


def _read_session(parameters: dict[str, str], *, has_several_hosts: bool) -> None:
    given = parameters.get("target_session_attrs")
    if given not in (None, *_SESSIONS):
        raise ValueError(f"must have one of these as target_session_attrs: {', '.join(_SESSIONS)}")
    if given is None and has_several_hosts:
        parameters["target_session_attrs"] = "read-write"


def _has_usual_certificates() -> bool:
    """Return whether there are certificates where libpq and the driver look for them."""
    return "PGSSLROOTCERT" in os.environ or Path("~/.postgresql/root.crt").expanduser().exists()


def _certificates_of_the_system() -> str:
    path = ssl.get_default_verify_paths().cafile
    if path is None:
        raise ValueError("needs the certificates of the system, which were not found; name their file as sslrootcert")
    return path
