"""GET …/environments/{env_id}/usage."""

from collections.abc import Callable
from uuid import UUID

import pytest

from flagstaff.applications import applications_service
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.history.applications import FlagCounts
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.support.clock import Clock
from tests.support.sessions import PASSWORD, log_in
from tests.web.applications.conftest import make_report


async def test_it_needs_a_token_and_a_member(client: Caller, eve: Caller, environment: Json) -> None:
    path = f"{environment_path(environment)}/usage"
    assert [(await caller.get(path)).status_code for caller in (client, eve)] == [401, 404]


@pytest.mark.parametrize("days", ["0", "91", "-1", "x", "1.5"])
async def test_the_days_are_1_to_90(ada: Caller, environment: Json, days: str) -> None:
    assert "days" in field_errors(await ada.get(f"{environment_path(environment)}/usage?days={days}"))


async def test_flags_that_do_not_exist_are_listed_with_who_asks_for_them_the_most_often_first(
    flagstaff: Flagstaff, ada: Caller, environment: Json, report: Callable[..., None]
) -> None:
    report(
        make_report(environment, rare=FlagCounts(0, 1), often=FlagCounts(0, 4_000)),
        make_report(environment, often=FlagCounts(0, 211)),
    )
    for _ in range(3):
        flagstaff.applications.collector.record_asked(UUID(environment["id"]), "often", exists=False)
    await flagstaff.applications.collector.write()
    usage = (await ada.get(f"{environment_path(environment)}/usage")).json()
    at = "2026-11-20T10:00:00.000000Z"
    assert usage == {
        "since": "2026-10-21T10:00:00.000000Z",
        "missing": [
            {"key": "often", "asked_by": {"checkout": 4_211, "": 3}, "asked_at": at, "archived": False},
            {"key": "rare", "asked_by": {"checkout": 1}, "asked_at": at, "archived": False},
        ],
        "unasked": [],
    }


@pytest.mark.both_databases
async def test_flags_that_nobody_asked_for_by_name_are_candidates_for_removal(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock, report: Callable[..., None]
) -> None:
    for key in ("reported", "asked", "quiet"):
        await ada.create_flag(environment, key=key)
    report(make_report(environment, reported=FlagCounts(1)))
    flagstaff.applications.collector.record_asked(UUID(environment["id"]), "asked", exists=True)
    await flagstaff.applications.collector.write()
    path = f"{environment_path(environment)}/usage"
    assert (await ada.get(path)).json()["unasked"] == ["quiet"]
    clock.advance(days=8)
    token = await log_in(flagstaff, email="ada@example.com", password=PASSWORD)
    ada.headers["authorization"] = f"Bearer {token}"
    assert (await ada.get(f"{path}?days=7")).json()["unasked"] == ["asked", "quiet", "reported"]
    assert (await ada.get(path)).json()["missing"] == []


async def test_an_archived_flag_that_is_asked_for_is_marked(
    flagstaff: Flagstaff, ada: Caller, environment: Json, report: Callable[..., None]
) -> None:
    await ada.post(f"{flag_path(await ada.create_flag(environment, key='archived'))}/archive")
    report(make_report(environment, archived=FlagCounts(0, 2), unknown=FlagCounts(0, 1)))
    await flagstaff.applications.collector.write()
    usage = (await ada.get(f"{environment_path(environment)}/usage")).json()
    assert [(each["key"], each["archived"]) for each in usage["missing"]] == [("archived", True), ("unknown", False)]
    assert usage["unasked"] == []


async def test_a_flag_is_no_candidate_however_many_others_are_asked_for_more_often(
    flagstaff: Flagstaff,
    ada: Caller,
    environment: Json,
    report: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(applications_service, "SUMS_MAX", 3)
    await ada.create_flag(environment, key="asked-once")
    missing = {f"missing-{number}": FlagCounts(9) for number in range(5)}
    report(make_report(environment, **missing, **{"asked-once": FlagCounts(1)}))
    await flagstaff.applications.collector.write()
    usage = (await ada.get(f"{environment_path(environment)}/usage")).json()
    assert usage["unasked"] == []
    assert [each["key"] for each in usage["missing"]] == ["missing-0", "missing-1", "missing-2"]
