"""Exports take a bounded part of the memory and of a processor core, and an account has few at a time."""

import asyncio
import csv
import io
import tracemalloc
from collections.abc import AsyncIterator, Iterable
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from flagstaff.assembly.bootstrap import Flagstaff
from flagstaff.concurrency.lots import LOT_BYTES, Lot
from flagstaff.database import tables
from flagstaff.http.exports import AT_ONCE, IN_ALL, Exports
from flagstaff.values.errors import Code, Error
from tests.support.api import Caller, Json, environment_path, project_path
from tests.support.builders import make_environment, make_flag, store_all
from tests.support.holds import ask

LONG = "й" * 10_000


async def store_long_flags(flagstaff: Flagstaff, environment: Json, count: int) -> None:
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    flags = [make_flag(home, key=f"flag-{number:03}", description=LONG) for number in range(count)]
    await store_all(flagstaff.database, *flags)


async def test_an_account_has_two_exports_at_a_time(
    flagstaff: Flagstaff, ada: Caller, eve: Caller, project: Json, environment: Json
) -> None:
    path, end, begun = f"{project_path(project)}/changes.csv", asyncio.Event(), asyncio.Semaphore(0)
    assert ada.token

    async def linger() -> None:
        begun.release()
        await end.wait()

    asgi = flagstaff.edge.asgi
    slow = [asyncio.create_task(ask(asgi, "GET", path, token=ada.token, linger=linger)) for _ in range(AT_ONCE)]
    for _ in slow:
        await begun.acquire()
    for other in (path, f"{environment_path(environment)}/export"):
        refused = await ada.get(other)
        assert (refused.status_code, refused.headers["retry-after"]) == (429, "30")
        assert "exports" in refused.json()["detail"]
    assert (await ada.get(project_path(project))).status_code == 200
    own = await eve.create_project()
    assert (await eve.get(f"{project_path(own)}/changes.csv")).status_code == 200
    end.set()
    assert [status for status, _ in await asyncio.gather(*slow)] == [200] * AT_ONCE
    assert (await ada.get(path)).status_code == 200


def test_all_together_are_bounded_as_well_and_the_refused_are_counted() -> None:
    exports = Exports()
    running = [exports.running(uuid4()) for _ in range(IN_ALL)]
    for each in running:
        each.__enter__()
    with pytest.raises(Error) as refused, exports.running(uuid4()):
        pass
    assert (refused.value.code, exports.refused) == (Code.LIMITED, 1)
    running[0].__exit__(None, None, None)
    with exports.running(uuid4()):
        pass


async def test_all_exports_together_take_half_of_the_time() -> None:
    exports, loop = Exports(), asyncio.get_running_loop()
    worked = 0.0

    async def batches() -> AsyncIterator[Iterable[bytes]]:
        nonlocal worked
        for _ in range(5):
            began = loop.time()
            while loop.time() < began + 0.005:
                pass
            worked += loop.time() - began
            yield (b"x",)

    async def take() -> bytes:
        return b"".join([part async for part in exports.made(batches())])

    began = loop.time()
    assert await asyncio.gather(*(take() for _ in range(4))) == [b"xxxxx"] * 4
    assert loop.time() - began >= 1.9 * worked


def test_a_batch_has_as_many_rows_as_have_some_256_kb() -> None:
    lot = Lot(500)
    lot.adapt(100 * 10_000)
    assert lot.rows == 26
    lot.adapt(26 * 1_000_000)
    assert lot.rows == 5
    lot.adapt(5 * 100)
    assert lot.rows == 500
    lot.adapt(0)
    assert lot.rows == 500


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["flagstaff", "unleash"])
async def test_an_export_of_long_descriptions_holds_few_of_them_in_memory(
    flagstaff: Flagstaff, ada: Caller, environment: Json, kind: str
) -> None:
    path = f"{environment_path(environment)}/export"
    assert ada.token
    await ask(flagstaff.edge.asgi, "GET", path, query=f"format={kind}", token=ada.token)
    await store_long_flags(flagstaff, environment, 600)
    tracemalloc.start()
    try:
        status, length = await ask(flagstaff.edge.asgi, "GET", path, query=f"format={kind}", token=ada.token)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (status, length > 12_000_000) == (200, kind == "flagstaff")
    # The descriptions of all have 12 MB, and as many again as rows; the flags without them take 4 MB.
    assert peak < 12_000_000


async def test_each_flag_has_its_description_in_whichever_batch(
    flagstaff: Flagstaff, ada: Caller, environment: Json
) -> None:
    await store_long_flags(flagstaff, environment, 150)
    home = make_environment(UUID(environment["project_id"]), id=UUID(environment["id"]))
    await store_all(flagstaff.database, make_flag(home, key="flag-x", description=None))
    answer = await ada.get(f"{environment_path(environment)}/export?format=flagstaff")
    flags = answer.json()["flags"]
    assert [each["key"] for each in flags] == [*(f"flag-{number:03}" for number in range(150)), "flag-x"]
    assert [each["description"] for each in flags] == [LONG] * 150 + [None]


@pytest.mark.both_databases
async def test_changes_with_long_descriptions_are_exported_in_small_batches_once_each(
    flagstaff: Flagstaff, ada: Caller, project: Json, environment: Json
) -> None:
    await ada.create_flag(environment, description=LONG)
    async with flagstaff.database.transaction() as transaction:
        created = sa.select(tables.changes).where(tables.changes.c.action == "flag.created")
        row = dict((await transaction.connection.execute(created)).mappings().one())
        del row["id"]
        await transaction.connection.execute(tables.changes.insert(), [row] * 400)
    path = f"{project_path(project)}/changes.csv"
    answer = await ada.get(path, params={"action": "flag.created"})
    rows = list(csv.DictReader(io.StringIO(answer.text, newline="")))
    assert len(answer.content) > 16 * LOT_BYTES
    numbers = [int(each["id"]) for each in rows]
    assert (len(numbers), numbers) == (401, sorted(set(numbers), reverse=True))
