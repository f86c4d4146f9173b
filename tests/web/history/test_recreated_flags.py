"""A flag is its id: counts, users and lists tell it from a deleted flag that had its key."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.database import tables
from flagstaff.history.retention import HistoryRetention
from tests.support.api import Caller, Json, environment_path, field_errors, flag_path
from tests.web.history.conftest import Evaluate
from tests.web.history.test_summarise_evaluations import CENTURIES, summarise

Numbers = tuple[int, int]


@pytest.fixture
async def recreated(ada: Caller, environment: Json, flag: Json, evaluate: Evaluate) -> list[Json]:
    """Three flags with one key, one after the other: evaluated three times, twice, and four times; the last one is."""
    await evaluate("ada", "bob", "eve")
    await ada.delete(flag_path(flag))
    second = await ada.create_flag(environment, key=flag["key"], enabled=False)
    await evaluate("ada", "dan")
    await ada.delete(flag_path(second))
    third = await ada.create_flag(environment, key=flag["key"], enabled=True, rollout_percentage=50)
    await evaluate("ada", "bob", "dan", "fay")
    return [flag, second, third]


async def numbers_of(ada: Caller, environment: Json, **query: Any) -> Json:
    """Return how often the flag that is asked for was on and off, and the same of its predecessors by id."""
    answer = await summarise(ada, environment, interval=CENTURIES, **query)
    intervals = answer["flags"].get(query["flag_key"], [])
    own = sum(each["on"] for each in intervals), sum(each["off"] for each in intervals)
    return {"own": own, **{each["flag_id"]: (each["on"], each["off"]) for each in answer["predecessors"]}}


@pytest.mark.each_case_on_both_databases
@pytest.mark.both_databases
@pytest.mark.parametrize("is_rolled_up", [False, True])
async def test_a_summary_counts_the_present_flag_and_names_its_predecessors(
    flagstaff: Flagstaff, ada: Caller, environment: Json, recreated: list[Json], is_rolled_up: bool
) -> None:
    if is_rolled_up:
        await roll_up(flagstaff)
    first, second, third = recreated
    key = first["key"]
    found = await numbers_of(ada, environment, flag_key=key)
    assert found.pop("own") in [(4 - off, off) for off in range(5)]
    assert found == {first["id"]: (3, 0), second["id"]: (0, 2)}
    assert await numbers_of(ada, environment, flag_key=key, flag_id=second["id"]) == {
        "own": (0, 2),
        first["id"]: (3, 0),
    }
    assert await numbers_of(ada, environment, flag_key=key, flag_id=first["id"]) == {"own": (3, 0)}

    await ada.delete(flag_path(third))
    assert await numbers_of(ada, environment, flag_key=key, flag_id=first["id"]) == {"own": (3, 0)}
    assert sorted(await numbers_of(ada, environment, flag_key=key)) == sorted(["own", first["id"], second["id"]])


@pytest.mark.both_databases
async def test_flags_of_one_key_stay_apart_when_each_is_rolled_up_by_itself(
    flagstaff: Flagstaff, ada: Caller, environment: Json, flag: Json, evaluate: Evaluate
) -> None:
    ids = [flag["id"]]
    for times in (1, 2, 3):
        await evaluate(*["ada"] * times)
        await roll_up(flagstaff)
        await ada.delete(flag_path(flag))
        flag = await ada.create_flag(environment, key=flag["key"], enabled=True)
        ids.append(flag["id"])
    await evaluate("ada")
    await roll_up(flagstaff)
    expected = {"own": (1, 0)} | {flag_id: (times, 0) for flag_id, times in zip(ids, (1, 2, 3), strict=False)}
    assert await numbers_of(ada, environment, flag_key=flag["key"]) == expected
    assert await numbers_of(ada, environment, flag_key=flag["key"]) == expected


@pytest.mark.both_databases
async def test_counts_that_an_earlier_release_has_rolled_up_are_divided_by_the_time_of_creation(
    flagstaff: Flagstaff, ada: Caller, environment: Json, recreated: list[Json]
) -> None:
    await roll_up(flagstaff)
    async with flagstaff.database.write_history() as connection:
        await connection.execute(tables.flag_counts.update().values(flag_id=None, others=None))
    query = {"flag_key": recreated[-1]["key"], "interval": "1h"}
    before = await summarise(ada, environment, **query)
    assert total_of(before) == 9  # all were counted in the minute in which the flag was created
    async with flagstaff.database.transaction() as transaction:
        later = datetime.now(UTC) + timedelta(hours=1)
        await transaction.connection.execute(tables.flags.update().values(created_at=later))
    after = await summarise(ada, environment, **query)
    assert total_of(after) == 0
    assert [(each["flag_id"], each["on"] + each["off"]) for each in after["predecessors"]] == [(None, 9)]


@pytest.mark.both_databases
async def test_an_earlier_release_sees_all_counts_of_a_key(
    flagstaff: Flagstaff, ada: Caller, environment: Json, recreated: list[Json]
) -> None:
    await roll_up(flagstaff)
    async with flagstaff.database.write_history() as connection:
        # It does not know the columns, and leaves them as they are when it adds to the counts.
        rows = (await connection.execute(sa.select(tables.flag_counts))).all()
    assert len(rows) == 2
    assert {str(row.flag_id) for row in rows} == {recreated[0]["id"]}


async def test_users_are_those_of_one_flag_and_of_its_rules(
    flagstaff: Flagstaff, ada: Caller, environment: Json, recreated: list[Json]
) -> None:
    """The second flag was off for two users, and the first on for three, for one of them by a rule."""
    first, second, _ = recreated
    for _ in range(2):
        for flag, expected in ((first, (3, 0)), (second, (0, 2))):
            query = {"flag_key": flag["key"], "flag_id": flag["id"]}
            users = (await summarise(ada, environment, interval="1d", **query))["distinct_users"]
            assert (users["on"], users["off"]) == expected
            assert users.get("reasons") == ({"Matched user_id targeting rule": 1} if flag is first else None)
        own = (await summarise(ada, environment, interval="1d", flag_key=first["key"]))["distinct_users"]
        assert own["on"] + own["off"] == 4
        everybody = (await summarise(ada, environment, interval="1d", total="true"))["users"]
        assert everybody == {"users": 5, "error": 0}
        await roll_up(flagstaff)


async def test_a_list_has_the_evaluations_of_the_present_flag_or_of_the_one_with_an_id(
    ada: Caller, environment: Json, recreated: list[Json]
) -> None:
    first, second, third = recreated
    path = f"{environment_path(environment)}/evaluations"

    async def count(**query: str) -> int:
        return len((await ada.get(path, params=query)).json()["items"])

    assert await count(flag_key=first["key"]) == 4
    assert await count(flag_key=first["key"], flag_id=first["id"]) == 3
    assert await count(flag_key=first["key"], flag_id=second["id"], enabled="false") == 2
    assert len((await ada.get(f"{flag_path(third)}/evaluations")).json()["items"]) == 4
    await ada.delete(flag_path(third))
    assert await count(flag_key=first["key"]) == 9


async def test_an_id_needs_the_key_and_must_be_one(ada: Caller, environment: Json, flag: Json) -> None:
    for path in ("evaluations", "evaluations/summary"):
        whole = f"{environment_path(environment)}/{path}"
        for query in (f"flag_id={flag['id']}", f"flag_key={flag['key']}&flag_id=7"):
            assert "flag_id" in field_errors(await ada.get(f"{whole}?{query}"))


async def test_the_environments_of_a_key_count_the_present_flag(
    ada: Caller, environment: Json, recreated: list[Json]
) -> None:
    path = f"/api/projects/{environment['project_id']}/flags/{recreated[0]['key']}/evaluations/summary"
    now = datetime.now(UTC)
    span = {"since": (now - timedelta(days=1)).isoformat(), "until": (now + timedelta(days=1)).isoformat()}
    counts = (await ada.get(path, params=span)).json()["environments"]
    (own,) = [each for each in counts if each["environment_id"] == environment["id"]]
    assert own["on"] + own["off"] == 4


async def roll_up(flagstaff: Flagstaff) -> None:
    """Roll up everything that was counted, as at the end of the hour."""
    later = datetime.now(UTC) + timedelta(hours=2)
    await HistoryRetention(flagstaff.database, lambda: later, timedelta(days=90)).roll_up()


def total_of(summary: Json) -> int:
    """Return how often the flags of a summary were evaluated."""
    return sum(each["on"] + each["off"] for flag in summary["flags"].values() for each in flag)
