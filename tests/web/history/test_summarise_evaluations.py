"""GET …/environments/{env_id}/evaluations/summary."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
import sqlalchemy as sa

from flagstaff.bootstrap import Flagstaff
from flagstaff.storage import tables
from flagstaff.storage.database import Database
from flagstaff.storage.history.rollups import DAY
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.support.holds import ask, watch_holds
from tests.web.history.conftest import Elsewhere, Evaluate

CENTURIES = "99999d"  # one interval from 1970 on, whatever the time is


async def summarise(caller: Caller, environment: Json, **query: Any) -> Json:
    """The summary of two days around now, by the machine's own clock, by which evaluations are recorded."""
    now = datetime.now(UTC)
    span = {"since": (now - timedelta(days=1)).isoformat(), "until": (now + timedelta(days=1)).isoformat()}
    answer = await caller.get(f"{environment_path(environment)}/evaluations/summary", params={**span, **query})
    assert answer.status_code == 200, answer.text
    body: Json = answer.json()
    return body


async def test_it_needs_a_token(client: Caller, environment: Json) -> None:
    assert (await client.get(f"{environment_path(environment)}/evaluations/summary")).status_code == 401


async def test_an_environment_that_is_not_there_or_not_yours_is_not_found(elsewhere: Elsewhere) -> None:
    for caller, path in elsewhere:
        assert (await caller.get(f"{path}/evaluations/summary")).status_code == 404


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("interval=", "interval"),
        ("interval=0m", "interval"),
        ("interval=1s", "interval"),
        ("interval=-1h", "interval"),
        ("interval=999999999d", "interval"),
        ("interval=1m", "interval"),
        ("since=2026-11-21T00:00:00Z&until=2026-11-20T00:00:00Z", "since"),
        ("since=1971-01-01T00:00:00Z", "interval"),
        ("until=rubbish", "until"),
        ("flag_key=UPPER", "flag_key"),
        ("limit=5", "limit"),
    ],
)
async def test_a_query_that_makes_no_sense_is_refused_by_name(
    ada: Caller, environment: Json, query: str, field: str
) -> None:
    assert field in field_errors(await ada.get(f"{environment_path(environment)}/evaluations/summary?{query}"))


async def test_without_a_time_it_is_about_the_last_day_by_hour(ada: Caller, environment: Json) -> None:
    answer = await ada.get(f"{environment_path(environment)}/evaluations/summary")
    assert answer.json() == {
        "since": "2026-11-19T10:00:00.000000Z",
        "until": "2026-11-20T10:00:00.000000Z",
        "interval": "1h",
        "flags": {},
    }


async def test_it_counts_on_and_off_by_reason(ada: Caller, environment: Json, flag: Json, evaluate: Evaluate) -> None:
    await ada.create_flag(environment, key="off", enabled=False)
    await evaluate("ada", "bob", "eve")
    await ada.post(f"{flag_path(flag)}/toggle")
    await evaluate("ada")
    flags = (await summarise(ada, environment, interval=CENTURIES))["flags"]
    assert flags == {
        flag["key"]: [
            {
                "start": "1970-01-01T00:00:00.000000Z",
                "on": 3,
                "off": 1,
                "reasons": {
                    "Matched user_id targeting rule": 1,
                    "Flag enabled globally": 2,
                    "Flag is globally disabled": 1,
                },
            }
        ],
        "off": [
            {
                "start": "1970-01-01T00:00:00.000000Z",
                "on": 0,
                "off": 4,
                "reasons": {"Flag is globally disabled": 4},
            }
        ],
    }


async def test_the_parts_of_a_rollout_add_up(ada: Caller, environment: Json, evaluate: Evaluate) -> None:
    await ada.create_flag(environment, key="rollout", rollout_percentage=50)
    await evaluate(*map(str, range(40)))
    days = (await summarise(ada, environment, interval="1d"))["flags"]["rollout"]
    assert sum(day["on"] for day in days) + sum(day["off"] for day in days) == 40
    assert sum(day["reasons"]["User in 50% rollout"] for day in days) == sum(day["on"] for day in days)


async def test_a_long_summary_never_holds_the_event_loop_for_long(
    flagstaff: Flagstaff, ada: Caller, environment: Json, evaluate: Evaluate
) -> None:
    await evaluate("ada")
    await store_counts(flagstaff.database, flags=100, days=90)
    today = datetime.now(UTC)
    query = urlencode({"since": (today - timedelta(days=90)).isoformat(), "until": today.isoformat(), "interval": "1d"})
    path = f"{environment_path(environment)}/evaluations/summary"
    assert ada.token
    await ask(flagstaff.asgi, "GET", path, token=ada.token, query=query)  # statements are compiled once

    async with watch_holds(pause_seconds=0.001) as holds:
        status, length = await ask(flagstaff.asgi, "GET", path, token=ada.token, query=query)

    assert (status, length > 1_000_000) == (200, True)
    assert holds.longest_in_units < 50


async def store_counts(database: Database, *, flags: int, days: int) -> None:
    """Counts by day and hour for as many flags and days, as the roll-up leaves them."""
    counts = msgspec.msgpack.encode([(outcome, 20, dict.fromkeys(range(24), 7)) for outcome in (4, 5)])
    today = int(datetime.now(UTC).timestamp()) // 60 // DAY * DAY
    async with database.write_history() as connection:
        number = (await connection.execute(sa.select(tables.recorded_environments.c.number))).scalar_one()
        shared = {"environment": number, "span": DAY, "version": 1, "counts": counts}
        for day in range(days):
            rows = [{**shared, "start": today - day * DAY, "flag_key": f"many-{each}"} for each in range(flags)]
            await connection.execute(tables.flag_counts.insert(), rows)


async def test_it_can_be_about_one_flag_also_a_deleted_one(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await ada.create_flag(environment, key="another")
    await evaluate("ada")
    await ada.delete(flag_path(flag))
    assert list((await summarise(ada, environment, flag_key=flag["key"]))["flags"]) == [flag["key"]]
