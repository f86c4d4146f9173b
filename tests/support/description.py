"""The OpenAPI document, as the routes describe it."""

from functools import cache

from flagstaff.web.app import describe_api
from tests.support.api import Json


@cache
def described() -> Json:
    """The document, made once for all tests of a process, which takes half a second. Do not change it."""
    return describe_api()
