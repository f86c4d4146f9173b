"""Reports of applications are limited by the different counts in an environment and hour, and stored in short steps."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import sqlalchemy as sa

from flagstaff.applications.applications_service import COUNTS_AT_ONCE
from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.history.applications import FlagCounts
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.clock import Clock
from tests.web.applications.conftest import make_report

pytestmark = pytest.mark.both_databases


TEN_AN_HOUR = {"FLAGSTAFF_MAX_REPORTED_COUNTS_PER_HOUR": "10"}


def flags(first: int, count: int) -> dict[str, FlagCounts]:
    return {f"flag-{number}": FlagCounts(1, 2) for number in range(first, first + count)}


@pytest.mark.parametrize("environ", [TEN_AN_HOUR])
async def test_further_counts_of_an_hour_are_dropped_and_those_that_are_known_go_on(
    flagstaff: Flagstaff,
    ada: Caller,
    project: Json,
    environment: Json,
    clock: Clock,
    report: Callable[..., None],
) -> None:
    path = f"{environment_path(environment)}/reports"
    staging = await ada.get_environment(project, "staging")
    for first, count in ((0, 3), (1, 4), (0, 20)):
        report(make_report(environment, **flags(first, count)))
        report(make_report(staging, **flags(0, 1)))
        flagstaff.applications.collector.record_asked(
            make_report(environment).environment_id, f"flag-{first}", exists=True
        )
        await flagstaff.applications.collector.write()

    found = (await ada.get(path)).json()
    assert {each["flag_key"]: (each["yes"], each["no"]) for each in found["flags"]} == {
        "flag-0": (2, 4),
        "flag-1": (3, 6),
        "flag-2": (3, 6),
        "flag-3": (2, 4),
        "flag-4": (2, 4),
    }
    assert found["dropped"] == flagstaff.applications.collector.dropped == 30
    flag = await ada.create_flag(environment, key="flag-9")
    assert (await ada.get(f"{flag_path(flag)}/reports")).json()["dropped"] == 30
    elsewhere = (await ada.get(f"{environment_path(staging)}/reports")).json()
    assert (elsewhere["dropped"], elsewhere["flags"][0]["yes"]) == (0, 3)
    usage = (await ada.get(f"{environment_path(environment)}/usage")).json()
    assert {each["key"] for each in usage["missing"]} >= {"flag-0", "flag-1"}

    clock.advance(hours=1)
    report(make_report(environment, **flags(10, 2)))
    await flagstaff.applications.collector.write()
    assert len((await ada.get(path)).json()["flags"]) == 7


@pytest.mark.parametrize("environ", [TEN_AN_HOUR])
async def test_what_a_report_lacks_is_shown_once_and_purged_with_its_environment(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json, clock: Clock, report: Callable[..., None]
) -> None:
    doomed = await ada.create_environment(project, name="Doomed", key="doomed")
    path = f"{environment_path(environment)}/reports"
    for _ in range(2):
        for place in (environment, {**doomed, "project_id": project["id"]}):
            window = place["id"].encode()[:16]
            report(replace(make_report(place, window, **flags(0, 1)), dropped=7))
        await flagstaff.applications.collector.write()
    assert (await ada.get(path)).json()["dropped"] == 7

    await ada.delete(f"/api/projects/{project['id']}/environments/{doomed['id']}")
    await flagstaff.applications.reports.purge()
    assert await count_rows(flagstaff) == 1
    clock.advance(days=91)
    await flagstaff.applications.reports.purge()
    assert await count_rows(flagstaff) == 0


async def count_rows(flagstaff: Flagstaff) -> int:
    table = "history.dropped_reports" if flagstaff.database.is_postgresql else "dropped_reports"
    async with flagstaff.database.read_history() as connection:
        return int((await connection.exec_driver_sql(f"SELECT count(*) FROM {table}")).scalar_one())


async def test_many_wide_reports_are_stored_in_short_transactions(
    flagstaff: Flagstaff, ada: Caller, environment: Json, report: Callable[..., None]
) -> None:
    written: list[int] = [0]
    engine = flagstaff.database._engines.history_writer.sync_engine

    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, _context: Any, many: bool) -> None:
        if "reported_counts" in statement and statement.startswith("INSERT"):
            written[-1] += len(parameters) if many else 1

    sa.event.listen(engine, "before_cursor_execute", note)
    sa.event.listen(engine, "commit", lambda _: written.append(0))
    variants = {f"v{number}": 1 for number in range(23)}
    for _ in range(5):
        report(make_report(environment, **{f"f{number}": FlagCounts(1, 1, variants) for number in range(150)}))
    await flagstaff.applications.collector.write()

    assert sum(written) == 5 * 150 * 25
    assert max(written) <= COUNTS_AT_ONCE
    assert (await ada.get(f"{environment_path(environment)}/reports")).json()["flags"][0]["yes"] == 5
