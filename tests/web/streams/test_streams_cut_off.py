"""Streams at an instance whose lease has lapsed."""

from pathlib import Path

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller
from tests.web.streams.conftest import Streamer
from tests.web.streams.test_ofrep_streams import stream_path
from tests.web.streams.test_unleash_streams import STREAMING


@pytest.fixture
def template(sqlite_template: Path) -> Path:
    """SQLite only: the test ends the lease itself."""
    return sqlite_template


@pytest.mark.parametrize("protocol", ["OFREP", "Unleash"])
async def test_a_stream_that_begins_while_the_lease_has_lapsed_is_marked(
    flagstaff: Flagstaff, streamer: Streamer, client: Caller, sdk_key: str, protocol: str
) -> None:
    path = STREAMING if protocol == "Unleash" else await stream_path(client, sdk_key)
    before = await streamer.open(path, authorization=sdk_key)
    flagstaff.cluster.lease.end()
    during = await streamer.open(path, authorization=sdk_key)
    marks = ["flagstaff-stale" in each.response.headers for each in (before, during)]
    assert ([each.response.status_code for each in (before, during)], marks) == ([200, 200], [False, True])
