"""GET /api/projects/{project_id}/flags/{flag_key}/evaluations/summary."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from tests.support.api import NO_IDS, Caller, Json, field_errors, project_path
from tests.web.history.conftest import Evaluate


def summary_path(project: Json, key: str = "new-checkout") -> str:
    return f"{project_path(project)}/flags/{key}/evaluations/summary"


@pytest.fixture
def around_now() -> dict[str, str]:
    """Return two days around now, by the machine's own clock, which evaluations are recorded with."""
    now = datetime.now(UTC)
    return {"since": (now - timedelta(days=1)).isoformat(), "until": (now + timedelta(days=1)).isoformat()}


async def test_it_needs_a_token(client: Caller, project: Json) -> None:
    assert (await client.get(summary_path(project))).status_code == 401


async def test_a_project_that_is_not_there_or_not_yours_is_not_found(ada: Caller, eve: Caller, project: Json) -> None:
    assert (await eve.get(summary_path(project))).status_code == 404
    for project_id in (uuid4(), *NO_IDS):
        assert (await ada.get(summary_path({"id": project_id}))).status_code == 404, project_id


@pytest.mark.parametrize("key", ["UPPER", "1st", "a" * 129])
async def test_what_can_be_no_key_of_a_flag_is_not_found(ada: Caller, project: Json, key: str) -> None:
    assert (await ada.get(summary_path(project, key))).status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("since=2026-11-21T00:00:00Z&until=2026-11-20T00:00:00Z", "since"),
        ("until=rubbish", "until"),
        ("interval=1h", "interval"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_by_name(
    ada: Caller, project: Json, query: str, field: str
) -> None:
    assert field in field_errors(await ada.get(f"{summary_path(project)}?{query}"))


async def test_more_than_31_days_are_refused_and_31_are_summarised(ada: Caller, project: Json) -> None:
    for since, until, status in (
        ("2026-10-01T00:00:00Z", "2026-11-01T00:00:00Z", 200),
        ("2026-10-01T00:00:00Z", "2026-11-01T00:00:01Z", 400),
        ("1971-01-01T00:00:00Z", "2026-11-01T00:00:00Z", 400),
    ):
        answer = await ada.get(summary_path(project), params={"since": since, "until": until})
        assert answer.status_code == status
        if status == 400:
            assert field_errors(answer) == {"since": "must be at most 31 days before until"}


async def test_without_a_time_it_is_about_the_last_day(ada: Caller, project: Json) -> None:
    environments = [await ada.get_environment(project, key) for key in ("production", "staging")]
    assert (await ada.get(summary_path(project))).json() == {
        "since": "2026-11-19T10:00:00.000000Z",
        "until": "2026-11-20T10:00:00.000000Z",
        "environments": [{"environment_id": each["id"], "on": 0, "off": 0} for each in environments],
    }


@pytest.mark.both_databases
async def test_it_counts_one_flag_in_each_environment(
    ada: Caller, project: Json, flag: Json, evaluate: Evaluate, around_now: dict[str, str]
) -> None:
    staging = await ada.get_environment(project, "staging")
    await ada.create_flag(staging, enabled=False)
    await ada.create_flag(staging, key="another")
    await evaluate("ada", "bob", "eve")
    await evaluate("ada", "bob", environment="staging")

    answer = await ada.get(summary_path(project), params=around_now)

    assert answer.json()["environments"] == [
        {"environment_id": flag["environment_id"], "on": 3, "off": 0},
        {"environment_id": staging["id"], "on": 0, "off": 2},
    ]
