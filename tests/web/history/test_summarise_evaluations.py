"""GET …/environments/{env_id}/evaluations/summary."""

from datetime import UTC, datetime, timedelta
from time import time_ns
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import msgspec
import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store.distinct_users.user_sums import MOST_SEGMENTS
from flagstaff.history.store.flag_counts import DAY
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.support.history import make_batch, write
from tests.support.holds import ask, watch_holds
from tests.web.history.conftest import Elsewhere, Evaluate

HOUR = 3600 * 10**9  # in nanoseconds
CENTURIES = "99999d"  # one interval from 1970 on, whatever the time is


async def summarise(caller: Caller, environment: Json, **query: Any) -> Json:
    """Return the summary of two days around now, by the machine's own clock, which evaluations are recorded with."""
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
        ("interval=year", "interval"),
        ("interval=7h&tz=Europe/Berlin", "interval"),
        ("interval=25h&tz=Europe/Berlin", "interval"),
        ("tz=Berlin", "tz"),
        ("tz=%2B01:00", "tz"),
        ("tz=../etc/passwd", "tz"),
        ("tz=", "tz"),
        ("since=2026-11-21T00:00:00Z&until=2026-11-20T00:00:00Z", "since"),
        ("since=1971-01-01T00:00:00Z", "interval"),
        ("until=rubbish", "until"),
        ("flag_key=UPPER", "flag_key"),
        ("total=yes", "total"),
        ("users=1", "users"),
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
        "tz": "UTC",
        "flags": {},
        "predecessors": [],
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
                "off_reasons": ["Flag is globally disabled"],
            }
        ],
        "off": [
            {
                "start": "1970-01-01T00:00:00.000000Z",
                "on": 0,
                "off": 4,
                "reasons": {"Flag is globally disabled": 4},
                "off_reasons": ["Flag is globally disabled"],
            }
        ],
    }


async def test_the_parts_of_a_rollout_add_up(ada: Caller, environment: Json, evaluate: Evaluate) -> None:
    await ada.create_flag(environment, key="rollout", rollout_percentage=50)
    await evaluate(*map(str, range(40)))
    days = (await summarise(ada, environment, interval="1d"))["flags"]["rollout"]
    assert sum(day["on"] for day in days) + sum(day["off"] for day in days) == 40
    assert sum(day["reasons"]["User in 50% rollout"] for day in days) == sum(day["on"] for day in days)


@pytest.mark.parametrize(
    "query", [{"flag_key": "rollout"}, {"interval": "1d"}, {"flag_key": "rollout", "interval": "25h"}]
)
async def test_users_are_counted_for_one_flag_by_whole_days_only(
    ada: Caller, environment: Json, evaluate: Evaluate, query: dict[str, str]
) -> None:
    await ada.create_flag(environment, key="rollout", rollout_percentage=50)
    await evaluate("ada")
    summary = await summarise(ada, environment, **query)
    assert "distinct_users" not in summary
    assert ["distinct_users" in each for each in summary["flags"]["rollout"]] == [False]


async def test_it_counts_the_users_who_had_a_flag_on_and_off_each_once(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await evaluate("ada", "bob", "bob", None)
    await evaluate("", user_email="Eve@example.com")
    await ada.post(f"{flag_path(flag)}/toggle")
    await evaluate("ada", "dan")
    await evaluate(None, user_email="eve@EXAMPLE.com")
    summary = await summarise(ada, environment, interval=CENTURIES, flag_key=flag["key"])
    (interval,) = summary["flags"][flag["key"]]
    assert (interval["on"], interval["off"]) == (5, 3)
    reasons = {"Matched user_id targeting rule": 1}
    assert (
        interval["distinct_users"] == summary["distinct_users"] == {"on": 3, "off": 3, "error": 0, "reasons": reasons}
    )


@pytest.mark.both_databases
async def test_it_says_how_precise_the_number_of_many_users_is(
    flagstaff: Flagstaff, ada: Caller, environment: Json, flag: Json
) -> None:
    layout = Layout((), (LayoutFlag(UUID(flag["id"]), flag["key"], 0, Outcome.ON),))
    now = time_ns()
    batches = [
        make_batch(
            UUID(environment["id"]), layout, *((now, f"user-{user}", None, b"") for user in range(start, start + 1000))
        )
        for start in (0, 500, 1000)
    ]
    await write(flagstaff.database, *batches)
    users = (await summarise(ada, environment, interval="1d", flag_key=flag["key"]))["distinct_users"]
    assert users == {"on": pytest.approx(2000, rel=4 * 0.0163), "off": 0, "error": 0.0163}


async def test_users_are_not_counted_if_they_are_not_wanted(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await evaluate("ada", "bob")
    summary = await summarise(ada, environment, interval="1d", flag_key=flag["key"], users="false")
    (interval,) = summary["flags"][flag["key"]]
    assert (interval["on"], "distinct_users" in interval, "distinct_users" in summary) == (2, False, False)


async def test_a_flag_that_was_never_evaluated_had_no_users(ada: Caller, environment: Json, flag: Json) -> None:
    summary = await summarise(ada, environment, interval="7d", flag_key=flag["key"])
    assert (summary["flags"], summary["distinct_users"]) == ({}, {"on": 0, "off": 0, "error": 0})


@pytest.mark.both_databases
async def test_users_that_are_not_counted_yet_are_not_none(
    flagstaff: Flagstaff, ada: Caller, environment: Json, flag: Json
) -> None:
    layout = Layout((), (LayoutFlag(UUID(flag["id"]), flag["key"], 0, Outcome.ON),))
    hours = range(time_ns() - (MOST_SEGMENTS + 1) * HOUR, time_ns(), HOUR)
    records = [(time, "ada", None, b"") for time in hours]  # each in its own segment, as before an upgrade
    await write(flagstaff.database, make_batch(UUID(environment["id"]), layout, *records))
    since = (datetime.now(UTC) - timedelta(days=40)).isoformat()
    query = {"since": since, "interval": "1d", "flag_key": flag["key"]}

    summary = await summarise(ada, environment, **query)
    assert summary["distinct_users"] is None
    assert {day["distinct_users"] for day in summary["flags"][flag["key"]]} == {None}

    await HistoryRetention(flagstaff.database, lambda: datetime.now(UTC), timedelta(days=90)).roll_up()
    summary = await summarise(ada, environment, **query)
    assert summary["distinct_users"] == {"on": 1, "off": 0, "error": 0}
    assert all(day["distinct_users"] == {"on": 1, "off": 0, "error": 0} for day in summary["flags"][flag["key"]])


async def test_the_users_of_centuries_are_those_of_the_days_that_were_recorded(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await evaluate("ada", "bob")
    span = {"since": "1971-01-01T00:00:00Z", "until": "2999-12-31T00:00:00Z"}
    for interval in ("1000d", CENTURIES):
        summary = await summarise(ada, environment, flag_key=flag["key"], interval=interval, **span)
        reasons = {"Matched user_id targeting rule": 1}
        assert summary["distinct_users"] == {"on": 2, "off": 0, "error": 0, "reasons": reasons}


async def test_it_adds_up_all_flags_if_only_the_total_is_wanted(
    ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    await ada.create_flag(environment, key="off", enabled=False)
    await evaluate("ada", "bob")
    start = {"start": "1970-01-01T00:00:00.000000Z"}
    answer = await summarise(ada, environment, interval=CENTURIES, total="true")
    users = {"users": {"users": 2, "error": 0}}
    assert (answer["flags"], answer["total"]) == ({}, [{**start, "on": 2, "off": 2, **users}])
    assert answer["users"] == users["users"]
    answer = await summarise(ada, environment, interval=CENTURIES, total="true", users="false")
    assert (answer["total"], "users" in answer) == ([{**start, "on": 2, "off": 2}], False)
    answer = await summarise(ada, environment, interval=CENTURIES, total="true", flag_key=flag["key"])
    assert (answer["flags"], answer["total"]) == ({}, [{**start, "on": 2, "off": 0}])


@pytest.mark.both_databases
@pytest.mark.parametrize(("total", "least_bytes"), [("false", 1_000_000), ("true", 5_000)])
async def test_a_long_summary_never_holds_the_event_loop_for_long(
    flagstaff: Flagstaff, ada: Caller, environment: Json, evaluate: Evaluate, total: str, least_bytes: int
) -> None:
    await evaluate("ada")
    await store_counts(flagstaff.database, flags=100, days=90)
    today = datetime.now(UTC)
    since = today - timedelta(days=90)
    query = urlencode({"since": since.isoformat(), "until": today.isoformat(), "interval": "1d", "total": total})
    path = f"{environment_path(environment)}/evaluations/summary"
    assert ada.token
    await ask(flagstaff.edge.asgi, "GET", path, token=ada.token, query=query)  # statements are compiled once

    async with watch_holds(pause_seconds=0.001) as holds:
        status, length = await ask(flagstaff.edge.asgi, "GET", path, token=ada.token, query=query)

    assert (status, length > least_bytes) == (200, True)
    assert holds.longest_in_units < 50


async def store_counts(database: Database, *, flags: int, days: int) -> None:
    """Store counts by day and hour for this many flags and days, as the roll-up stores them."""
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
