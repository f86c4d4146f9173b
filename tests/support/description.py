"""The OpenAPI document that is committed and served; tests/web/test_openapi.py compares it with the routes."""

import json
from functools import cache
from pathlib import Path

from tests.support.api import Json

COMMITTED = Path(__file__).parents[2] / "src" / "flagstaff" / "assembly" / "openapi.json"
# A stream writes to its connection, and ends when its client leaves: tests/web/streams tests it.
STREAMS = frozenset({"follow_project", "follow_projects"})


@cache
def described() -> Json:
    """Return the document, which each process reads once, because creating it takes a second. Do not change it."""
    document: Json = json.loads(COMMITTED.read_bytes())
    return document
