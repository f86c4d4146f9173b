"""The log names the trace of a request, if the request names it in the form of W3C's Trace Context."""

import io
import json
from pathlib import Path

import pytest

from tests.support.api import Caller

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SPAN = "00f067aa0ba902b7"


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: these requests do not depend on the database."""
    return sqlite_template


async def logged(client: Caller, log_stream: io.StringIO, *given: str) -> list[object]:
    """Return the traces' ids in the entries of requests with these headers."""
    for number, traceparent in enumerate(given):
        headers = {"x-request-id": f"request-{number}", "traceparent": traceparent}
        assert (await client.get("/api/me", headers=headers)).status_code == 401
    entries = [json.loads(line) for line in log_stream.getvalue().splitlines()]
    found = {each["request_id"]: each.get("trace_id") for each in entries if each["event"] == "request"}
    return [found[f"request-{number}"] for number in range(len(given))]


async def test_an_invalid_traceparent_is_ignored(client: Caller, log_stream: io.StringIO) -> None:
    invalid = (
        "",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE.upper()}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}-01-more",
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-zz",
        f"01-{TRACE}-{SPAN}-01-{'x' * 1000}",
        f"00-{TRACE} -{SPAN}-01",
    )
    assert await logged(client, log_stream, *invalid) == [None] * len(invalid)


async def test_entries_have_the_id_of_the_trace(client: Caller, log_stream: io.StringIO) -> None:
    valid = f"00-{TRACE}-{SPAN}-01", f"00-{TRACE}-{SPAN}-00", f"cc-{TRACE}-{SPAN}-01-new"
    assert await logged(client, log_stream, *valid) == [TRACE] * 3
