"""The ids of events: recognised whichever release has stored them, and forgotten oldest first."""

import asyncio
from collections.abc import Collection, Sequence
from uuid import UUID

import sqlalchemy as sa

from flagstaff.database import tables
from flagstaff.database.database import Database
from flagstaff.history.store import event_ids
from flagstaff.history.store.batches import lock_environments
from flagstaff.metrics.events import digest_id
from flagstaff.projects.sdk_keys import KeyKind

DAY = 20_000
FAR = 10**6
ENVIRONMENT = UUID(int=7)


def digests(ids: Collection[object], kind: KeyKind = KeyKind.SERVER) -> list[str]:
    return [digest_id("errors", str(each), kind) for each in ids]


async def add(
    database: Database,
    ids: Collection[object],
    kind: KeyKind | None = KeyKind.SERVER,
    *,
    day: int = DAY,
    generation_ids: int = FAR,
) -> int:
    """Add ids to an environment, and return how many were new."""
    async with database.write_history() as connection:
        number = (await lock_environments(connection, [ENVIRONMENT]))[ENVIRONMENT]
        given = digests(ids, kind or KeyKind.SERVER)
        return len(await event_ids.add_new_ids(connection, number, given, kind, day, generation_ids))


async def generations(database: Database) -> Sequence[event_ids.IdGeneration]:
    async with database.read_history() as connection:
        return await event_ids.list_generations(connection)


async def forget(database: Database, generation: event_ids.IdGeneration) -> None:
    more = True
    while more:
        async with database.write_history() as connection:
            more = await event_ids.delete_generation(connection, generation.id, 3)


async def insert_as_the_release_before(database: Database, ids: Collection[object]) -> int:
    """Add a row for each id, as releases before revision 1003 do, and return how many were new."""
    async with database.write_history() as connection:
        number = (await lock_environments(connection, [ENVIRONMENT]))[ENVIRONMENT]
        name = "history.event_ids" if database.is_postgresql else "event_ids"
        statement = f"INSERT INTO {name} (environment, digest, day) VALUES (:number, :digest, :day) "
        insert = sa.text(statement + "ON CONFLICT DO NOTHING RETURNING digest")
        new = 0
        for each in digests(ids):
            given = {"number": number, "digest": each, "day": DAY}
            new += len((await connection.execute(insert, given)).all())
        return new


async def test_an_id_that_either_release_has_stored_is_not_new_to_the_other(database: Database) -> None:
    assert await insert_as_the_release_before(database, range(300)) == 300
    assert await add(database, range(200, 1_000)) == 700
    assert await insert_as_the_release_before(database, range(1_100)) == 100
    assert await add(database, range(1_200)) == 100
    assert await insert_as_the_release_before(database, range(1_200)) == 0


async def test_each_of_many_ids_is_new_once_and_takes_eight_bytes(database: Database) -> None:
    for start in range(0, 12_000, 3_000):
        assert await add(database, range(start, start + 4_000)) == (4_000 if start == 0 else 3_000)
    assert await add(database, range(13_000)) == 0
    (generation,) = await generations(database)
    assert generation.ids == 13_000
    async with database.read_history() as connection:
        pages = tables.event_id_pages.c
        rows = (await connection.execute(sa.select(pages.first, pages.content).order_by(pages.first))).all()
    assert max(len(each.content) for each in rows) <= 8 * event_ids.PAGE_IDS
    assert sum(len(each.content) for each in rows) == 8 * 13_000
    ordered = [sorted(each.content[at : at + 8].hex() for at in range(0, len(each.content), 8)) for each in rows]
    assert all(first <= page[0] for (first, _), page in zip(rows, ordered, strict=True))
    assert all(page[-1] < after.first for page, after in zip(ordered, rows[1:], strict=False))


async def test_a_digest_is_not_found_across_two_others(database: Database) -> None:
    first, second, across = "00" * 7 + "01", "02" + "03" * 7, "00" * 6 + "01" + "02"
    async with database.write_history() as connection:
        number = (await lock_environments(connection, [ENVIRONMENT]))[ENVIRONMENT]
        for given in ([first], [second], [across]):
            found = await event_ids.add_new_ids(connection, number, given, None, DAY)
            assert found == set(given)


async def test_ids_that_are_written_at_the_same_time_are_new_to_one_writer(database: Database) -> None:
    assert sum(await asyncio.gather(*(add(database, range(500)) for _ in range(4)))) == 500


async def test_the_oldest_ids_are_forgotten_and_the_others_stay(database: Database) -> None:
    for start in range(0, 6_000, 1_000):
        await add(database, range(start, start + 1_000), generation_ids=1_500)
    found = await generations(database)
    assert [each.ids for each in found] == [2_000, 2_000, 2_000]
    await forget(database, found[0])
    assert await add(database, range(2_000, 6_000)) == 0
    assert await add(database, range(2_000), day=DAY + 1) == 2_000


async def test_a_generation_has_a_quarter_of_the_ids_or_of_one_day(database: Database) -> None:
    for start in range(0, 12_000, 1_000):
        await add(database, range(start, start + 1_000), generation_ids=1_000)
    assert [each.ids for each in await generations(database)] == [*[1_000] * 4, 2_000, 2_000, 3_000, 1_000]
    await add(database, ["tomorrow"], day=DAY + 1)
    await add(database, ["delayed"], day=DAY - 1)
    assert [(each.day, each.ids) for each in await generations(database)][-2:] == [(DAY, 1_000), (DAY + 1, 2)]


async def test_ids_of_pages_are_apart_from_those_of_servers(database: Database) -> None:
    await add(database, range(10))
    assert await add(database, range(10), KeyKind.BROWSER) == 10
    assert await add(database, range(10), None) == 0
    assert [(each.key_kind, each.ids) for each in await generations(database)] == [
        (KeyKind.SERVER, 10),
        (KeyKind.BROWSER, 10),
    ]
