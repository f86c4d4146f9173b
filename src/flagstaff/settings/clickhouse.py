"""The URL of a ClickHouse server, and the name of a table in it."""

import re

from flagstaff.settings.urls import split_url

_ACCEPTED = (
    "must be https://user:password@host:8443 or http://user:password@host:8123 "
    "(write / as %2F and @ as %40 in a password)"
)
_NAME = "[A-Za-z_][A-Za-z0-9_]{0,62}"


def parse_clickhouse_url(text: str) -> str:
    """The HTTP interface of a ClickHouse server. Certificates are always verified."""
    url = split_url(text)
    is_valid = url.scheme in {"http", "https"} and url.hostname and not url.query and not url.fragment
    if not is_valid:
        raise ValueError(_ACCEPTED)
    return text


def parse_clickhouse_table(text: str) -> str:
    """A table with its database."""
    if not re.fullmatch(rf"{_NAME}\.{_NAME}", text):
        raise ValueError(
            f"must be a database and a table of letters, digits and _, such as flagstaff.evaluations, not {text!r}"
        )
    return text
