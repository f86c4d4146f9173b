"""The HTTP session of the exporters: little of a response is read, and a redirect is a failure."""

from contextlib import suppress
from typing import Any

import requests
from urllib3.exceptions import HTTPError

_MOST_BYTES = 4096  # a usual answer is empty


def make_session() -> requests.Session:
    """A session that ends each answer at once. The exporters only look at the status and its headers."""
    session = requests.Session()
    session.stream = True
    session.hooks["response"] = [_end]
    return session


def _end(response: requests.Response, **_: Any) -> None:
    """Read an answer that is there, so that its connection can be used again, and close it.

    Raises:
        TooManyRedirects: when it is a redirect, which the exporters would take for a success.
    """
    if response.raw.length_remaining is not None:  # otherwise its length could come byte by byte
        with suppress(HTTPError):  # the status has come
            response.raw.read1(_MOST_BYTES, decode_content=False)
    response.close()
    if 300 <= response.status_code < 400:
        raise requests.TooManyRedirects(f"The receiver redirects (status {response.status_code}): use its own URL.")
