"""Days of people: every number of a summary equals a recount, over midnight in several time zones.

Also those of flags that were deleted and created again, and evaluated alone and with all others.
"""

import random
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import pytest
from uuid_utils.compat import uuid7

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.retention import HistoryRetention
from flagstaff.history.store.batches import find_environment_number
from flagstaff.history.store.flag_counts import HOUR, FlagCounts
from flagstaff.history.store.sums import MAX_HOURS
from flagstaff.values.intervals import minute_of
from tests.support.api import Caller, Json, environment_path, flag_path
from tests.support.history import make_batch, write

BEGIN = datetime(2026, 10, 23, 12, tzinfo=UTC)  # clocks change in Berlin on the 25th
NAMES = {"1d": "%Y-%m-%d", "week": "%G-%V", "month": "%Y-%m", "1h": "%Y-%m-%d %H %z"}
Record = tuple[datetime, UUID, str, bool]


async def record(
    flagstaff: Flagstaff, environment: Json, layouts: Sequence[Layout], chance: random.Random
) -> list[Record]:
    """Write evaluations of one layout after the other, of all flags and of single ones; return the result of each."""
    made: list[Record] = []
    length = timedelta(days=5) / len(layouts)
    for number, layout in enumerate(layouts):
        start = BEGIN + number * length
        times = sorted(start + chance.random() * length for _ in range(120))
        places = [chance.choice([None, *range(len(layout.flags))]) for _ in times]
        rows = []
        for at, place in zip(times, places, strict=True):
            shown = layout if place is None else layout.alone(place)
            row = bytes(chance.randrange(100) for _ in shown.recorded)
            rows.append((int(at.timestamp()) * 10**9, f"user-{chance.randrange(40)}", None, row))
            made += [(at, each.flag.id, each.flag.key, each.outcome.enabled) for each in shown.decisions(row)]
        await write(flagstaff.database, make_batch(UUID(environment["id"]), layout, *rows, flags=places))
    return made


def recount(records: Sequence[Record], interval: str, zone: ZoneInfo, flag_id: UUID) -> Counter[tuple[str, bool]]:
    """Count the results of a flag by the name of the interval and whether it was on."""
    return Counter(
        (at.replace(microsecond=0).astimezone(zone).strftime(NAMES[interval]), is_on)
        for at, found, _, is_on in records
        if found == flag_id
    )


def counted(intervals: Sequence[Json], interval: str, zone: ZoneInfo) -> Counter[tuple[str, bool]]:
    """Return the same from an answer."""
    found: Counter[tuple[str, bool]] = Counter()
    for each in intervals:
        name = datetime.fromisoformat(each["start"]).astimezone(zone).strftime(NAMES[interval])
        for side, is_on in (("on", True), ("off", False)):
            if each[side]:
                found[name, is_on] += each[side]
    return found


@pytest.mark.both_databases
@pytest.mark.parametrize("seed", range(2))
async def test_every_number_equals_a_recount(flagstaff: Flagstaff, ada: Caller, environment: Json, seed: int) -> None:
    chance = random.Random(seed)
    ids = [uuid7(), uuid7()]
    ids.append(UUID((await ada.create_flag(environment, key="often"))["id"]))
    other = LayoutFlag(uuid4(), "other", 0, Outcome.ON)
    layouts = [
        Layout((LayoutFlag(flag_id, "often", 30 + 20 * place, Outcome.NOT_IN_ROLLOUT),), (other,))
        for place, flag_id in enumerate(ids)
    ]
    records = await record(flagstaff, environment, layouts, chance)
    path = f"{environment_path(environment)}/evaluations/summary"
    later = datetime.now(UTC) + timedelta(hours=2)
    for is_rolled_up in (False, True):
        if is_rolled_up:
            retention = HistoryRetention(flagstaff.database, lambda: later, timedelta(days=36_500))
            await retention.roll_up()
        for name in ("Europe/Berlin", "Asia/Kathmandu", "UTC"):
            zone = ZoneInfo(name)
            for interval in NAMES:
                query: dict[str, Any] = {"tz": name, "interval": interval, "since": "2026-10-20", "until": "2026-11-01"}
                for flag_id in ids:
                    of_flag = {"flag_key": "often", "flag_id": str(flag_id)}
                    answer = (await ada.get(path, params={**query, **of_flag})).json()
                    found = counted(answer["flags"]["often"], interval, zone)
                    assert found == recount(records, interval, zone, flag_id), (name, interval)
                whole = (await ada.get(path, params=query)).json()
                assert counted(whole["flags"]["other"], interval, zone) == recount(records, interval, zone, other.id)
                assert counted(whole["flags"]["often"], interval, zone) == recount(records, interval, zone, ids[-1])
                assert [each["flag_id"] for each in whole["predecessors"]] == sorted(map(str, ids[:2]))
                total = (await ada.get(path, params={**query, "total": "true"})).json()["total"]
                assert sum(each["on"] + each["off"] for each in total) == len(records)


@pytest.mark.both_databases
async def test_an_environment_that_was_created_again_under_its_key_has_only_its_own_numbers(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    chance, zone = random.Random(3), ZoneInfo("Asia/Kolkata")
    layout = Layout((LayoutFlag(uuid7(), "often", 50, Outcome.NOT_IN_ROLLOUT),), ())
    first, path = await record(flagstaff, environment, [layout], chance), environment_path(environment)
    assert (await ada.delete(path)).status_code == 204
    body = {"name": environment["name"], "key": environment["key"]}
    again = (await ada.post(f"/api/projects/{environment['project_id']}/environments", json=body)).json()
    second = await record(flagstaff, again, [layout], chance)
    assert first != second
    query = {"tz": "Asia/Kolkata", "interval": "1h", "since": "2026-10-20", "until": "2026-11-01"}
    own = environment_path(again)
    answer = (await ada.get(f"{own}/evaluations/summary", params=query)).json()
    assert counted(answer["flags"]["often"], "1h", zone) == recount(second, "1h", zone, layout.recorded[0].id)
    assert answer["predecessors"] == []
    listed = 0
    cursor: Json | None = {}
    while cursor is not None:
        page = (await ada.get(f"{own}/evaluations", params={"limit": 100, "since": "2026-10-20", **cursor})).json()
        listed += len(page["items"])
        cursor = {"cursor": page["next_cursor"]} if page["next_cursor"] else None
    assert listed == len(second)
    for part in ("evaluations/summary", "evaluations", "callers"):
        assert (await ada.get(f"{path}/{part}")).status_code == 404
    assert (await ada.get(f"{own}/callers")).json() == []


async def test_the_hours_whose_minutes_are_looked_at_are_bounded(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    """An hour of UTC is in two hours of India, so each is divided by its minutes."""
    await record(flagstaff, environment, [Layout((), (LayoutFlag(uuid4(), "a", 0, Outcome.ON),))], random.Random(1))
    counts = FlagCounts(uuid4())
    counts.add(uuid4(), {(Outcome.ON, 0, ""): {0: 1}})
    columns, _ = counts.encode()
    begin = minute_of(datetime(2026, 9, 1, tzinfo=UTC))
    hours = range(begin, begin + 10 * 1440, HOUR)
    flags = MAX_HOURS // len(hours) + 1
    async with flagstaff.database.write_history() as connection:
        number = await find_environment_number(connection, UUID(environment["id"]))
        rows = [{"start": hour, "flag_key": f"flag-{flag}"} for hour in hours for flag in range(flags)]
        shared = {"environment": number, "span": HOUR, **columns}
        await connection.execute(tables.flag_counts.insert().values(shared), rows)
    path = f"{environment_path(environment)}/evaluations/summary"
    query = {"tz": "Asia/Kolkata", "interval": "1h", "since": "2026-09-01", "until": "2026-09-12"}
    refused = await ada.get(path, params=query)
    assert refused.status_code == 400
    assert "use a longer interval, a shorter time range or flag_key" in refused.text
    for shorter in ({"interval": "1d"}, {"until": "2026-09-05"}, {"flag_key": "flag-1"}):
        assert (await ada.get(path, params={**query, **shorter})).status_code == 200


async def test_a_date_alone_is_its_start_in_the_zone_and_the_answer_says_the_bounds(
    ada: Caller, environment: Json
) -> None:
    query = {"tz": "Europe/Berlin", "since": "2026-11-20", "until": "2026-11-21", "interval": "1d"}
    answer = (await ada.get(f"{environment_path(environment)}/evaluations/summary", params=query)).json()
    assert (answer["since"], answer["until"], answer["tz"]) == (
        "2026-11-19T23:00:00.000000Z",
        "2026-11-20T23:00:00.000000Z",
        "Europe/Berlin",
    )
    query["since"] = "2026-11-20T00:00:00+01:00"
    assert (await ada.get(f"{environment_path(environment)}/evaluations/summary", params=query)).json() == answer


@pytest.mark.both_databases
async def test_changes_are_counted_by_the_same_days(ada: Caller, environment: Json, flag: Json) -> None:
    await ada.post(f"{flag_path(flag)}/toggle")
    path = f"{environment_path(environment)}/changes/summary"
    for tz, interval, start in (
        ("Pacific/Kiritimati", "1d", "2026-11-20T10:00:00.000000Z"),
        ("Asia/Kathmandu", "1d", "2026-11-19T18:15:00.000000Z"),
        ("Europe/Berlin", "week", "2026-11-15T23:00:00.000000Z"),
        ("UTC", "month", "2026-11-01T00:00:00.000000Z"),
    ):
        query = {"tz": tz, "interval": interval, "since": "2026-11-19", "until": "2026-11-22"}
        answer = (await ada.get(path, params=query)).json()
        assert [each["start"] for each in answer["intervals"]] == [start]
        assert answer["intervals"][0]["changes"] >= 3


async def test_users_of_days_that_are_not_utc_are_not_known(ada: Caller, environment: Json, flag: Json) -> None:
    query = {"tz": "Europe/Berlin", "since": "2026-11-19", "until": "2026-11-22", "interval": "1d"}
    path = f"{environment_path(environment)}/evaluations/summary"
    of_flag = {"flag_key": flag["key"]}
    assert (await ada.get(path, params={**query, **of_flag})).json()["distinct_users"] is None
    weeks = {**query, **of_flag, "tz": "UTC", "interval": "week"}
    assert (await ada.get(path, params=weeks)).json()["distinct_users"] == {"on": 0, "off": 0, "error": 0}
