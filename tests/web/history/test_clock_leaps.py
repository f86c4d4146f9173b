"""A clock that jumps ahead while the server runs: the periodic deletions remove nothing."""

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from tests.support.api import Caller, Json, environment_path
from tests.support.clock import Clock
from tests.support.jobs import do_now
from tests.web.history.conftest import Evaluate

KEY = {"idempotency-key": "one"}


async def purge_all(flagstaff: Flagstaff) -> None:
    await flagstaff.history.passed_time.look()
    await do_now(flagstaff, "history-purge", "idempotency-purge", "account-purge")


@pytest.mark.both_databases
async def test_a_clock_that_was_a_year_ahead_has_deleted_nothing(
    ada: Caller, eve: Caller, flagstaff: Flagstaff, clock: Clock, evaluate: Evaluate, environment: Json
) -> None:
    made = await ada.post("/api/projects", json={"name": "Shop"}, headers=KEY)
    await ada.create_flag(environment)
    await evaluate("ada")
    ended = eve.headers["authorization"]
    assert (await eve.post("/auth/logout")).status_code == 204
    sessions = (await ada.get("/api/me/sessions")).json()

    clock.advance(days=365)
    await purge_all(flagstaff)
    clock.advance(days=-365)
    await purge_all(flagstaff)

    page = await ada.get(f"{environment_path(environment)}/evaluations")
    assert [item["user_id"] for item in page.json()["items"]] == ["ada"]
    assert (await ada.get("/api/me/sessions")).json() == sessions
    refused = await eve.get("/api/me", headers={"authorization": ended})
    assert refused.status_code == 401, "a token that was ended works again"
    repeated = await ada.post("/api/projects", json={"name": "Shop"}, headers=KEY)
    assert repeated.json() == made.json()
