"""GET …/environments/{env_id}/reports and …/flags/{flag_id}/reports."""

from collections.abc import Callable
from uuid import uuid4

import pytest

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.history.applications import FlagCounts
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.support.clock import Clock
from tests.support.holds import watch_holds
from tests.web.applications.conftest import make_report


async def test_they_need_a_token(client: Caller, ada: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    for path in (environment_path(environment), flag_path(flag)):
        assert (await client.get(f"{path}/reports")).status_code == 401


async def test_reports_are_listed_nowhere_but_in_their_place(ada: Caller, eve: Caller, environment: Json) -> None:
    flag = await ada.create_flag(environment)
    missing = {**environment, "id": str(uuid4())}
    paths = [(eve, environment_path(environment)), (eve, flag_path(flag)), (ada, environment_path(missing))]
    for caller, path in [*paths, (ada, flag_path({**flag, "id": str(uuid4())}))]:
        assert (await caller.get(f"{path}/reports")).status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=yesterday", "since"),
        ("since=2026-11-20T10:00:00Z&until=2026-11-19T10:00:00Z", "since"),
        ("since=2026-01-01T10:00:00Z&until=2026-11-19T10:00:00Z", "since"),
        ("flag=x", "flag"),
    ],
)
async def test_an_invalid_span_is_refused(ada: Caller, environment: Json, query: str, field: str) -> None:
    assert field in field_errors(await ada.get(f"{environment_path(environment)}/reports?{query}"))


async def test_reports_are_added_up_by_flag_and_application(
    flagstaff: Flagstaff, ada: Caller, environment: Json, clock: Clock, report: Callable[..., None]
) -> None:
    flag = await ada.create_flag(environment, key="new")
    report(
        make_report(environment, new=FlagCounts(3, 1, {"red": 2, "blue": 1}), old=FlagCounts(0, 5)),
        make_report(environment, new=FlagCounts(1)),
    )
    await flagstaff.applications.collector.write()
    clock.advance(hours=1)
    report(make_report(environment, new=FlagCounts(0, 7)))
    await flagstaff.applications.collector.write()
    clock.advance(minutes=1)
    sdk = {"application": "checkout", "sdk": "unleash-python:6.9.1"}
    new = {"flag_key": "new", **sdk, "variants": {"red": 2, "blue": 1}}
    first, second = "2026-11-20T10:00:00.000000Z", "2026-11-20T11:00:00.000000Z"
    old = {"flag_key": "old", **sdk, "yes": 0, "no": 5, "variants": {}, "reported_at": first}
    assert (await ada.get(f"{environment_path(environment)}/reports")).json() == {
        "since": "2026-11-19T11:00:00.000000Z",
        "until": "2026-11-20T12:00:00.000000Z",
        "dropped": 0,
        "flags": [{**new, "yes": 4, "no": 8, "reported_at": second}, old],
    }
    by_hour = (await ada.get(f"{flag_path(flag)}/reports?since={first}&until={second}")).json()
    assert by_hour["hours"] == [
        {"start": first, **new, "yes": 4, "no": 1, "reported_at": first},
        {"start": second, **new, "variants": {}, "yes": 0, "no": 7, "reported_at": second},
    ]


@pytest.mark.both_databases
async def test_a_window_that_is_reported_again_is_not_counted_again(
    flagstaff: Flagstaff, ada: Caller, environment: Json, report: Callable[..., None]
) -> None:
    for _ in range(2):
        report(*(make_report(environment, b"w" * 16, new=FlagCounts(3)) for _ in range(2)))
        await flagstaff.applications.collector.write()
    (found,) = (await ada.get(f"{environment_path(environment)}/reports")).json()["flags"]
    assert found["yes"] == 3


@pytest.mark.both_databases
async def test_reports_of_deleted_environments_and_old_ones_are_purged(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, clock: Clock, report: Callable[..., None]
) -> None:
    doomed = await ada.create_environment(project, name="Doomed", key="doomed")
    report(
        make_report(environment, a=FlagCounts(1)), make_report({**doomed, "project_id": project["id"]}, b=FlagCounts(1))
    )
    await flagstaff.applications.collector.write()
    await ada.delete(f"/api/projects/{project['id']}/environments/{doomed['id']}")
    await flagstaff.applications.reports.purge()
    async with flagstaff.database.read_history() as connection:
        rows = await connection.exec_driver_sql(
            _ROWS if flagstaff.database.is_postgresql else _ROWS.replace("history.", "")
        )
        assert [row[0] for row in rows] == ["a"]
    clock.advance(days=91)
    await flagstaff.applications.reports.purge()
    async with flagstaff.database.read_history() as connection:
        rows = await connection.exec_driver_sql(
            _ROWS if flagstaff.database.is_postgresql else _ROWS.replace("history.", "")
        )
        assert list(rows) == []


_ROWS = "SELECT flag_key FROM history.reported_counts"


@pytest.mark.both_databases
async def test_the_longest_report_is_stored_in_small_steps(
    flagstaff: Flagstaff, ada: Caller, environment: Json, report: Callable[..., None]
) -> None:
    variants = {f"variant-{number}": 1 for number in range(30)}
    report(make_report(environment, **{f"flag-{number}": FlagCounts(1, 1, variants) for number in range(1_000)}))
    async with watch_holds(pause_seconds=0.0005) as holds:
        await flagstaff.applications.collector.write()
    assert holds.longest_in_units < 40, holds
    flags = (await ada.get(f"{environment_path(environment)}/reports")).json()["flags"]
    assert flags[0]["variants"] == variants
