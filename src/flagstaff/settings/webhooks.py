"""Parsers for the settings of webhooks."""

from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

PORT_MAX = 65_535


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy through which messages are sent."""

    url: str
    user: str | None
    password: str | None


def parse_ports(text: str) -> tuple[range, ...]:
    """A comma-separated list of ports and ranges of ports."""

    def ports(item: str) -> range:
        first, dash, last = item.strip().partition("-")
        bounds = (first.strip(), last.strip() if dash else first.strip())
        if not all(each.isascii() and each.isdigit() and 1 <= int(each[:6]) <= PORT_MAX for each in bounds):
            raise ValueError(f"must be a comma-separated list of ports, such as 443, 8000-8999; {item!r} is not a port")
        if int(bounds[0]) > int(bounds[1]):
            raise ValueError(f"has the range {item.strip()}, whose end is before its start")
        return range(int(bounds[0]), int(bounds[1]) + 1)

    return tuple(ports(item) for item in text.split(",") if item.strip())


def parse_proxy(text: str) -> Proxy:
    """The URL of a proxy; the message of an error does not contain it, because it may have a password."""
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise _not_a_proxy() from None
    if url.scheme not in ("http", "https") or not url.hostname or url.path.strip("/") or url.query or url.fragment:
        raise _not_a_proxy()
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    port = port or (443 if url.scheme == "https" else 80)
    user, password = (None if each is None else unquote(each) for each in (url.username, url.password))
    return Proxy(f"{url.scheme}://{host}:{port}", user, password)


def _not_a_proxy() -> ValueError:
    return ValueError("must be the URL of a proxy, such as http://user:password@proxy.example.com:3128")


def parse_readable_file(text: str) -> Path:
    """A file that can be read."""
    path = Path(text)
    try:
        with path.open("rb"):
            return path
    except OSError as error:
        raise ValueError(f"names {text!r}, which cannot be read: {error.strerror}") from None
