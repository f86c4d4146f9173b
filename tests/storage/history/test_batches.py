"""Batches of evaluations, written on both databases and read page by page."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.layout import Layout, LayoutFlag
from flagstaff.evaluation.history.records import RecordBatch, RecordedEvaluation, joined
from flagstaff.evaluation.outcomes import Outcome
from flagstaff.history.store import batches
from flagstaff.history.store.pages import Bounds, list_evaluations
from tests.support.history import ANYTHING, START, make_batch, make_group, make_layout, make_record, read, write


async def count_rows(database: Database) -> dict[str, int]:
    async with database.read_history() as connection:
        return {
            table.name: (await connection.execute(sa.select(sa.func.count()).select_from(table))).scalar_one()
            for table in (tables.batches, tables.layouts, tables.segments, tables.summaries)
        }


def users(found: Sequence[RecordedEvaluation]) -> list[str | None]:
    return [each.user_id for each in found]


async def test_an_empty_batch_writes_nothing(database: Database) -> None:
    await write(database, RecordBatch(1, []), make_batch(uuid4(), make_layout()))
    assert set((await count_rows(database)).values()) == {0}


async def test_a_batch_that_fails_half_way_leaves_nothing(database: Database) -> None:
    layout = make_layout()
    bad = make_batch(uuid4(), layout, make_record(), make_record(user_id=5))  # type: ignore[arg-type]
    with pytest.raises((TypeError, sa.exc.DBAPIError)):
        await write(database, bad)
    assert set((await count_rows(database)).values()) == {0}


async def test_a_record_is_read_as_it_was_made(database: Database) -> None:
    environment_id, layout = uuid4(), make_layout()
    record = make_record(0.123456, "Zoë 🦊", b"\x14\x66", user_email="Zoë@Example.com")
    await write(database, make_batch(environment_id, layout, record))
    (found,) = await read(database, environment_id)
    assert (found.user_id, found.user_email) == ("Zoë 🦊", "Zoë@Example.com")
    assert found.evaluated_at == START + timedelta(microseconds=123456)
    assert found.id.version == 7
    assert [(decision.flag.key, decision.outcome) for decision in found.decisions()] == [
        ("rollout", Outcome.NOT_IN_ROLLOUT),
        ("ruled", Outcome.USER_ID_RULE),
        ("off", Outcome.OFF),
    ]


async def test_a_layout_without_flags_can_be_recorded(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, Layout((), ()), make_record(recorded=b"")))
    (found,) = await read(database, environment_id)
    assert found.decisions() == []


async def test_the_same_batch_again_changes_nothing(database: Database) -> None:
    batch = make_batch(uuid4(), make_layout(), *(make_record(each) for each in range(3)))
    await write(database, batch)
    once = await count_rows(database)
    await write(database, batch)
    assert await count_rows(database) == once


async def test_a_batch_that_is_in_two_files_is_written_once(database: Database) -> None:
    batch = make_batch(uuid4(), make_layout(), *(make_record(each) for each in range(3)))
    async with database.write_history() as connection:
        assert await batches.write_batches(connection, batch, batch) == {batch.id}
        stored = await connection.execute(sa.select(sa.func.sum(tables.segments.c.size)))
        assert stored.scalar_one() == 3


async def test_batches_written_at_once_all_arrive(database: Database) -> None:
    environment_ids, layout = [uuid4() for _ in range(3)], make_layout()
    batches = [
        RecordBatch(
            random.randrange(2**60),
            [make_group(each, layout, make_record(place)) for each in random.sample(environment_ids, 3)],
        )
        for place in range(8)
    ]
    await asyncio.gather(*(write(database, batch) for batch in batches))
    assert [len(await read(database, each)) for each in environment_ids] == [8, 8, 8]


async def test_equal_layouts_are_stored_once_in_each_environment(database: Database) -> None:
    first, second, layout = uuid4(), uuid4(), make_layout()
    await write(
        database, *(make_batch(each, layout, make_record(place)) for place, each in enumerate([first, second] * 3))
    )
    assert (await count_rows(database))["layouts"] == 2


async def test_few_records_at_a_time_share_a_segment(database: Database) -> None:
    environment_id, layout = uuid4(), make_layout()
    await write(database, *(make_batch(environment_id, layout, make_record(place)) for place in range(20)))
    assert (await count_rows(database))["segments"] == 1


async def test_pages_continue_where_the_last_one_ended_whatever_arrives_in_between(database: Database) -> None:
    environment_id, layout = uuid4(), make_layout()
    await write(database, make_batch(environment_id, layout, *(make_record(each, str(each)) for each in range(5))))
    async with database.read_history() as connection:
        number = await batches.find_environment_number(connection, environment_id)
        assert number is not None
        first = await list_evaluations(connection, number, ANYTHING, limit=2, before=None)
    await write(database, make_batch(environment_id, layout, make_record(9, "late")))
    async with database.read_history() as connection:
        second = await list_evaluations(connection, number, ANYTHING, limit=2, before=first.next_before)
        third = await list_evaluations(connection, number, ANYTHING, limit=2, before=second.next_before)
    assert [users(page.items) for page in (first, second, third)] == [["4", "3"], ["2", "1"], ["0"]]
    assert third.next_before is None


async def test_an_environment_sees_only_its_own(database: Database) -> None:
    mine, other, layout = uuid4(), uuid4(), make_layout()
    await write(database, make_batch(mine, layout, make_record(0)), make_batch(other, layout, make_record(1, "eve")))
    assert users(await read(database, mine)) == ["ada"]
    assert await read(database, mine, EvaluationFilter(user_id="eve")) == []


async def test_since_is_inclusive_and_until_is_not(database: Database) -> None:
    environment_id = uuid4()
    await write(
        database, make_batch(environment_id, make_layout(), *(make_record(each, str(each)) for each in range(4)))
    )
    wanted = EvaluationFilter(since=START + timedelta(seconds=1), until=START + timedelta(seconds=3))
    assert users(await read(database, environment_id, wanted)) == ["2", "1"]


async def test_an_email_is_found_whatever_its_case_and_a_user_id_only_as_it_is(database: Database) -> None:
    environment_id = uuid4()
    records = [
        make_record(0, "Ada", user_email="Ada@Example.com"),
        make_record(1, "", user_email=""),
        make_record(2, None),
    ]
    await write(database, make_batch(environment_id, make_layout(), *records))
    assert users(await read(database, environment_id, EvaluationFilter(user_email="aDA@eXAMPLE.COM"))) == ["Ada"]
    assert users(await read(database, environment_id, EvaluationFilter(user_id="Ada"))) == ["Ada"]
    assert users(await read(database, environment_id, EvaluationFilter(user_id="ada"))) == []
    assert users(await read(database, environment_id, EvaluationFilter(user_id=""))) == [""]


async def test_a_flag_recreated_with_its_key_is_another_flag(database: Database) -> None:
    environment_id, old = uuid4(), make_layout()
    new = replace(old, constant=(LayoutFlag(uuid4(), "off", 0, Outcome.ON),))
    await write(database, make_batch(environment_id, old, make_record(0, "old")))
    await write(database, make_batch(environment_id, new, make_record(1, "new")))

    async def found(flag: FlagFilter) -> list[str | None]:
        return users(await read(database, environment_id, EvaluationFilter(flag=flag)))

    assert await found(FlagFilter(flag_id=old.constant[0].id)) == ["old"]
    assert await found(FlagFilter(flag_id=new.constant[0].id)) == ["new"]
    assert await found(FlagFilter(key="off")) == ["new", "old"]
    assert await found(FlagFilter(key="off", enabled=True)) == ["new"]


def random_batch(environment_id: UUID, layouts: Sequence[Layout], chance: random.Random) -> RecordBatch:
    """Return some hundred records around a random minute. Batches overlap, as those of several servers do."""
    start, groups = chance.randrange(3000), []
    for layout in chance.sample(layouts, 2):
        records = []
        for _ in range(chance.randrange(1, 200)):
            user = f"user-{chance.randrange(40)}"
            recorded = bytes(chance.choice([*range(101), 102, 103]) for _ in layout.recorded)
            record = make_record(start + chance.random() * 100, user, recorded, user_email=f"{user}@example.com")
            records.append(record)
        groups.append(make_group(environment_id, layout, *sorted(records, key=lambda record: record[0])))
    return RecordBatch(chance.randrange(2**60), groups)


@pytest.mark.parametrize("seed", range(2))
async def test_every_filter_finds_what_a_naive_search_finds_in_the_same_order(database: Database, seed: int) -> None:
    few = Bounds(searched=3, examined=3)
    chance, environment_id, layout = random.Random(seed), uuid4(), make_layout()
    swapped = Layout(layout.recorded[::-1], ())
    wider = Layout((*layout.recorded, replace(layout.constant[0], rollout_percentage=60)), ())
    batches = [random_batch(environment_id, [layout, swapped, wider], chance) for _ in range(8)]
    await write(database, *batches)
    everything = await read(database, environment_id, bounds=few)
    ids = [each.id for each in everything]
    assert ids == sorted(ids, reverse=True)
    assert len(ids) == sum(batch.size for batch in batches)

    for _ in range(15):
        key = chance.choice([None, "rollout", "ruled", "off", "nothing"])
        wanted = EvaluationFilter(
            user_id=chance.choice([None, None, "user-7", "nobody"]),
            user_email=chance.choice([None, None, "USER-7@example.com"]),
            flag=FlagFilter(key=key, enabled=chance.choice([None, True, False])) if key else None,
            since=START + timedelta(seconds=chance.randrange(1000)),
            until=START + timedelta(seconds=chance.randrange(1000, 3000)),
        )
        expected = [each.id for each in everything if is_wanted(each, wanted)]
        assert [each.id for each in await read(database, environment_id, wanted, bounds=few)] == expected, wanted


def is_wanted(evaluation: RecordedEvaluation, wanted: EvaluationFilter) -> bool:
    assert wanted.since is not None
    assert wanted.until is not None
    flag = wanted.flag
    return (
        wanted.since <= evaluation.evaluated_at < wanted.until
        and wanted.user_id in (None, evaluation.user_id)
        and (wanted.user_email is None or wanted.user_email.lower() == evaluation.user_email)
        and (
            flag is None
            or any(
                decision.flag.key == flag.key and flag.enabled in (None, decision.outcome.enabled)
                for decision in evaluation.decisions()
            )
        )
    )


async def test_batches_that_are_written_together_are_there_once_each_as_if_one_by_one(database: Database) -> None:
    first, second = uuid4(), uuid4()
    layout, other = make_layout(), make_layout()
    known = make_batch(first, layout, make_record(0, "known"))
    await write(database, known)
    several = [
        known,
        make_batch(first, layout, make_record(1, "a"), make_record(2, "b")),
        RecordBatch(1, []),
        make_batch(first, layout, make_record(3, "c")),
        make_batch(first, other, make_record(4, "d")),
        make_batch(first, layout, make_record(5, "e"), attributes=[b'{"plan": "pro"}'], has_all=True),
        make_batch(second, layout, make_record(6, "f")),
    ]
    for new in ({batch.id for batch in (several[1], *several[3:])}, set()):
        async with database.write_history() as connection:
            assert await batches.write_batches(connection, *several) == new
    assert users(await read(database, first)) == ["e", "d", "c", "b", "a", "known"]
    assert users(await read(database, second)) == ["f"]
    found = await read(database, first)
    assert [each.attributes for each in found] == [{"plan": "pro"}, *[None] * 5]
    assert (await count_rows(database))["batches"] == 6


def test_a_joined_group_has_every_column_of_its_parts() -> None:
    columns = {"attributes": [b"{}"], "flags": [0]}
    one = make_group(uuid4(), make_layout(), make_record(), **columns)
    both = joined([one, one])
    names = ("times", "users", "emails", "recorded", *columns)
    assert [len(getattr(both, name)) for name in names] == [2] * len(names)
    assert (both.environment_id, both.layout, both.has_all) == (one.environment_id, one.layout, one.has_all)
