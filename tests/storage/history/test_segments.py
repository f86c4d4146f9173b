"""Evaluations written to segments and read again, on both databases."""

import asyncio
from datetime import timedelta
from pathlib import Path
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.evaluation.history.filters import EvaluationFilter, FlagFilter
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.history.spool import EvaluationForm, Spool
from flagstaff.history.store.pages import BOUNDS, Bounds
from flagstaff.history.store.segments import CONTINUED_SIZE, SEGMENT_SIZE
from tests.support.history import ANYTHING, START, make_batch, make_group, make_layout, make_record, read, write
from tests.support.stores import Store

LAYOUT = make_layout()


async def sizes(database: Database) -> list[int]:
    """Return the sizes of all segments, oldest first."""
    columns = tables.segments.c
    async with database.read_history() as connection:
        return list((await connection.execute(sa.select(columns.size).order_by(columns.id))).scalars())


async def read_users(
    database: Database,
    environment_id: UUID,
    wanted: EvaluationFilter = ANYTHING,
    limit: int = 100,
    bounds: Bounds = BOUNDS,
) -> list[str | None]:
    return [each.user_id for each in await read(database, environment_id, wanted, limit, bounds)]


async def test_an_evaluation_that_does_not_fit_its_layout_is_refused(database: Database) -> None:
    with pytest.raises(ValueError, match="does not fit"):
        await write(database, make_batch(uuid4(), LAYOUT, make_record(recorded=b"\x01")))
    assert await sizes(database) == []


@pytest.mark.parametrize("value", [None, "", " ", "Ä\u0308ß\u1e9e", "İ🦊", "x" * 1024, "🦊" * 1024, "A\nb\x1f'\"%_\\"])
async def test_odd_users_and_emails_come_back_as_they_were_and_are_found(database: Database, value: str | None) -> None:
    environment_id = uuid4()
    records = [
        make_record(0),
        make_record(1, value, user_email=value),
        make_record(2, None, user_email="x@example.com"),
    ]
    await write(database, make_batch(environment_id, LAYOUT, *records))
    everything = await read(database, environment_id)
    assert [(each.user_id, each.user_email) for each in everything] == [
        (None, "x@example.com"),
        (value, value),
        ("ada", None),
    ]
    if value is not None:
        assert await read_users(database, environment_id, EvaluationFilter(user_id=value)) == [value]
        assert await read_users(database, environment_id, EvaluationFilter(user_email=value.swapcase())) == (
            [value] if value.swapcase().lower() == value.lower() else []
        )


async def test_a_small_segment_is_continued_and_its_evaluations_keep_their_ids(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, make_record(0, "first"), make_record(1, "second")))
    before = await read(database, environment_id)
    await write(database, make_batch(environment_id, LAYOUT, make_record(1, "third", user_email="3@example.com")))
    after = await read(database, environment_id)
    assert await sizes(database) == [3]
    assert [each.user_id for each in after] == ["third", "second", "first"]
    assert after[1:] == before
    assert len({each.id for each in after}) == 3
    for wanted in (EvaluationFilter(user_id="third"), EvaluationFilter(user_email="3@EXAMPLE.com")):
        assert await read_users(database, environment_id, wanted) == ["third"]


@pytest.mark.parametrize(("table", "column"), [(tables.segments, "content"), (tables.summaries, "counts")])
async def test_a_damaged_row_does_not_stop_the_recording(database: Database, table: sa.Table, column: str) -> None:
    damaged, sound = uuid4(), uuid4()
    await write(database, make_batch(damaged, LAYOUT, make_record(0, "first")))
    async with database.write_history() as connection:
        await connection.execute(table.update().values({column: b"\xc1 damaged"}))
    group = make_group(damaged, LAYOUT, make_record(1, "second"))
    with capture_logs() as entries:
        await write(database, RecordBatch(7, [group, make_group(sound, LAYOUT, make_record(1, "third"))]))
    assert [(entry["event"], entry["table"]) for entry in entries] == [("history_row_damaged", table.name)]
    assert await read_users(database, sound) == ["third"]
    since = EvaluationFilter(since=START + timedelta(seconds=1))
    assert (await read_users(database, damaged, since))[0] == "second"


async def test_no_segment_grows_without_bound(database: Database) -> None:
    environment_id = uuid4()
    for start in range(0, 900, 60):
        records = [make_record(start + each) for each in range(60)]
        await write(database, make_batch(environment_id, LAYOUT, *records))
    assert sum(await sizes(database)) == 900
    assert all(CONTINUED_SIZE <= size < CONTINUED_SIZE + 60 for size in (await sizes(database))[:-1])


async def test_a_large_batch_becomes_several_segments(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, *(make_record(each / 10) for each in range(1201))))
    assert await sizes(database) == [SEGMENT_SIZE, SEGMENT_SIZE, 201]
    assert len(await read(database, environment_id)) == 1201


async def test_a_batch_that_needs_no_other_segment_continues_none(database: Database) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, make_record(0)))
    await write(database, make_batch(environment_id, LAYOUT, *(make_record(1) for _ in range(CONTINUED_SIZE))))
    assert await sizes(database) == [1, CONTINUED_SIZE]


@pytest.mark.parametrize("case", ["another layout", "an older batch", "another hour", "another environment"])
async def test_what_does_not_fit_a_small_segment_begins_another(database: Database, case: str) -> None:
    environment_id = uuid4()
    await write(database, make_batch(environment_id, LAYOUT, make_record(10, "first")))
    match case:
        case "another layout":
            batch = make_batch(environment_id, make_layout(), make_record(11, "other"))
        case "an older batch":
            batch = make_batch(environment_id, LAYOUT, make_record(9, "other"))
        case "another hour":
            batch = make_batch(environment_id, LAYOUT, make_record(3600, "other"))
        case _:
            batch = make_batch(uuid4(), LAYOUT, make_record(11, "other"))
    await write(database, batch)
    assert await sizes(database) == [1, 1]
    found = await read_users(database, environment_id)
    assert found == {"an older batch": ["first", "other"], "another environment": ["first"]}.get(
        case, ["other", "first"]
    )


async def test_a_batch_across_the_full_hour_is_divided_there(database: Database) -> None:
    environment_id = uuid4()
    records = [make_record(3600 + each, str(each)) for each in (-2, -1, 0, 1, 2)]
    await write(database, make_batch(environment_id, LAYOUT, *records))
    assert await sizes(database) == [2, 3]
    assert await read_users(database, environment_id) == ["2", "1", "0", "-1", "-2"]


async def test_a_clock_that_steps_back_loses_nothing(database: Database) -> None:
    environment_id = uuid4()
    records = [make_record(each, str(each)) for each in (5, 3600, 7, 3, 3601)]
    await write(database, make_batch(environment_id, LAYOUT, *records))
    assert await read_users(database, environment_id, limit=2) == ["3601", "3600", "7", "5", "3"]


@pytest.mark.parametrize("limit", [1, 3, 7])
async def test_segments_that_overlap_are_merged_in_the_order_of_time(database: Database, limit: int) -> None:
    environment_id, other = uuid4(), make_layout()
    for start, step, layout in ((0, 5, LAYOUT), (1, 2, other), (2, 7, LAYOUT), (3, 1, other)):
        records = [make_record(start + step * each, str(start + step * each)) for each in range(6)]
        await write(database, make_batch(environment_id, layout, *records))
    found = [int(user or 0) for user in await read_users(database, environment_id, limit=limit)]
    assert found == sorted(found, reverse=True)
    assert len(found) == 24
    assert len({each.id for each in await read(database, environment_id, limit=limit)}) == 24


async def test_many_segments_of_one_moment_do_not_stop_a_search(database: Database) -> None:
    one = Bounds(searched=1, examined=1)
    environment_id = uuid4()
    await write(database, *(make_batch(environment_id, make_layout(), make_record(1, str(each))) for each in range(5)))
    for wanted in (ANYTHING, EvaluationFilter(flag=FlagFilter(key="rollout", enabled=True))):
        assert await read_users(database, environment_id, wanted, bounds=one) == ["4", "3", "2", "1", "0"]
    assert await read_users(database, environment_id, EvaluationFilter(user_id="2"), bounds=one) == ["2"]


async def test_a_batch_written_twice_at_once_is_there_once(database: Database) -> None:
    environment_id = uuid4()
    batch = make_batch(environment_id, LAYOUT, make_record(0), make_record(1))
    await asyncio.gather(*(write(database, batch) for _ in range(4)))
    assert await sizes(database) == [2]


async def test_a_batch_that_waited_on_disk_though_it_had_arrived_is_there_once_after_a_restart(
    store: Store, tmp_path: Path
) -> None:
    environment_id = uuid4()
    batch = make_batch(environment_id, LAYOUT, make_record(0, "Zoë", user_email=""))
    for _ in range(2):
        spool, database = (
            Spool(tmp_path / "spool", EvaluationForm()),
            Database(store.database_url, store.data_directory),
        )
        await spool.open()
        waiting = spool.first or await spool.append(batch)
        assert waiting is not None
        try:
            await write(database, *await spool.read(waiting))
            await write(database, make_batch(environment_id, LAYOUT, make_record(1)))
            assert await read_users(database, environment_id, EvaluationFilter(user_id="Zoë")) == ["Zoë"]
        finally:
            await database.close()


async def test_evaluations_are_found_at_the_ends_of_their_hour(database: Database) -> None:
    environment_id = uuid4()
    for second in (0, 1800, 3599.999999):
        await write(database, make_batch(environment_id, LAYOUT, make_record(second, str(second))))
    for until, expected in ((0, []), (0.000001, ["0"]), (1800, ["0"]), (3600, ["3599.999999", "1800", "0"])):
        wanted = EvaluationFilter(until=START + timedelta(seconds=until))
        assert await read_users(database, environment_id, wanted) == expected
