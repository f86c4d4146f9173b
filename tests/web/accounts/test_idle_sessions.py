"""Sessions that are not used for long, with FLAGSTAFF_SESSION_IDLE_MINUTES."""

from contextlib import AsyncExitStack
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.values.errors import Error
from tests.support.api import Caller
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.support.sessions import PASSWORD, log_in
from tests.support.tokens import issue

LIMIT, LATE = 30, 6

pytestmark = pytest.mark.both_databases


@pytest.fixture
def environ() -> dict[str, str]:
    return {"FLAGSTAFF_SESSION_IDLE_MINUTES": str(LIMIT)}


async def test_a_session_that_was_not_used_for_so_long_ends(
    flagstaff: Flagstaff, ada: Caller, client: Caller, clock: Clock
) -> None:
    clock.advance(minutes=LIMIT + LATE)
    refused = await ada.get("/api/me")
    assert refused.status_code == 401
    assert refused.json()["detail"] == "The session has ended, because it was not used. Log in again."
    assert (await ada.get("/api/me")).status_code == 401, "a refused request is no use of it"
    assert (await ada.post("/auth/logout")).status_code == 401
    await do_now(flagstaff, "account-purge")
    client.headers["authorization"] = f"Bearer {await log_in(flagstaff, email='ada@example.com', password=PASSWORD)}"
    assert [each["current"] for each in (await client.get("/api/me/sessions")).json()] == [True]


async def test_a_session_that_is_used_stays_until_it_expires(flagstaff: Flagstaff, ada: Caller, clock: Clock) -> None:
    for _ in range(47):
        clock.advance(minutes=LIMIT)
        assert (await ada.get("/api/me")).status_code == 200
        await do_now(flagstaff, "last-seen", "account-purge")
    clock.advance(minutes=LIMIT)
    assert (await ada.get("/api/me")).status_code == 401


async def test_uses_are_written_by_no_request(flagstaff: Flagstaff, ada: Caller, clock: Clock) -> None:
    async def last_seen() -> object:
        async with flagstaff.database.read() as connection:
            return (await connection.execute(tables.sessions.select())).one().last_seen_at

    before, opened = await last_seen(), clock()
    clock.advance(minutes=LIMIT - 1)
    for _ in range(5):
        assert (await ada.get("/api/me")).status_code == 200
    assert await last_seen() == before
    await do_now(flagstaff, "last-seen")
    assert await last_seen() == opened + timedelta(minutes=LIMIT - 1)


async def test_a_session_that_is_used_while_the_database_refuses_writes_stays(
    flagstaff: Flagstaff, ada: Caller, clock: Clock
) -> None:
    def refuse(*given: Any) -> None:
        if given[2].startswith(("INSERT", "UPDATE", "DELETE")):
            raise OSError("No space left on device")

    writer = flagstaff.database._engines.writer.sync_engine
    sa.event.listen(writer, "before_cursor_execute", refuse)
    for _ in range(3):
        clock.advance(minutes=LIMIT)
        assert (await ada.get("/api/me")).status_code == 200
        for job in ("last-seen", "account-purge"):
            with pytest.raises((OSError, Error)):
                await do_now(flagstaff, job)
    sa.event.remove(writer, "before_cursor_execute", refuse)
    await do_now(flagstaff, "account-purge")
    assert (await ada.get("/api/me")).status_code == 200


async def test_an_access_token_is_not_a_session(
    flagstaff: Flagstaff, ada: Caller, callers: AsyncExitStack, clock: Clock
) -> None:
    machine = await issue(flagstaff, callers, "/api/me/tokens", ada, "project:read")
    clock.advance(hours=2)
    assert (await machine.get("/api/me")).status_code == 200
