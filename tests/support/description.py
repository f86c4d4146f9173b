"""The OpenAPI document, as the routes describe it."""

from functools import cache

from flagstaff.assembly.app import describe_api
from tests.support.api import Json

# A stream writes to its connection, and ends when its client leaves: tests/web/streams has the tests of it.
STREAMS = frozenset({"follow_project"})


@cache
def described() -> Json:
    """The document, made once for all tests of a process, which takes half a second. Do not change it."""
    return describe_api()
