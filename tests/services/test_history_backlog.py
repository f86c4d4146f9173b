"""What waited during outages of a real store is written faster than it grows, beside requests that hold the loop."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.database.database import Database
from flagstaff.database.sqlite.files import HISTORY_FILE
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.history.buffer import Buffer
from flagstaff.history.history_service import History
from flagstaff.history.recorder import EvaluationRecorder
from flagstaff.history.spool import EvaluationForm, Spool
from tests.support.builders import AT, make_environment, make_flag
from tests.support.history import read
from tests.support.postgres import PostgresServer
from tests.support.stores import Store, sqlite_store

FLUSH_SECONDS = 0.05
REQUESTS, REQUEST_SECONDS = 5, 0.001  # each round of the loop takes 5 ms
WAITING = 100  # batches
DEADLINE_SECONDS = 60


@contextmanager
def postgresql_outage(server: PostgresServer) -> Iterator[None]:
    """Stop the server."""
    server.stop()
    yield
    server.start()


@contextmanager
def sqlite_outage(folder: Path) -> Iterator[None]:
    """Take the history's file away."""
    (folder / HISTORY_FILE).rename(folder / "aside")
    yield
    (folder / "aside").rename(folder / HISTORY_FILE)


Outage = Callable[[], Any]


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, sqlite_template: Path, data_directory: Path) -> tuple[Store, Outage]:
    """A store that may fail, and its outage."""
    if request.param == "sqlite":
        return sqlite_store(sqlite_template, data_directory), partial(sqlite_outage, data_directory)
    store: Store = request.getfixturevalue("outage_store")
    return store, partial(postgresql_outage, request.getfixturevalue("outage_postgres"))


@asynccontextmanager
async def busy() -> AsyncIterator[None]:
    """Hold the loop as requests do: whoever waits for it waits for all of them."""

    async def answer() -> None:
        while True:
            until = time.perf_counter() + REQUEST_SECONDS
            while time.perf_counter() < until:
                pass
            await asyncio.sleep(0)

    requests = [asyncio.create_task(answer()) for _ in range(REQUESTS)]
    try:
        yield
    finally:
        for each in requests:
            each.cancel()
        await asyncio.wait(requests)


class Applications:
    """Evaluates a flag for another user in each batch that is collected."""

    def __init__(self, record: Callable[..., None], environment_id: UUID) -> None:
        environment = make_environment(id=environment_id)
        flags = [TargetedFlag(make_flag(environment, rollout_percentage=20))]
        self._snapshot = compile_environment(environment, flags)
        self._record = record
        self.evaluated: list[str] = []

    async def run(self) -> None:
        while True:
            self.evaluated.append(f"user-{len(self.evaluated)}")
            self._record(self._snapshot, self.evaluated[-1], None, b"\x07")
            await asyncio.sleep(FLUSH_SECONDS)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():
            await asyncio.sleep(0.01)


async def test_what_waited_in_repeated_outages_is_written_faster_than_it_grows_under_load(
    place: tuple[Store, Outage], tmp_path: Path
) -> None:
    store, outage = place
    database = Database(store.database_url, store.data_directory)
    await database.open_files()
    history = History(database, lambda: AT)
    transactions = 0

    async def write(*batches: RecordBatch) -> Any:
        nonlocal transactions
        transactions += 1
        return await history.record(*batches)

    recorder = EvaluationRecorder(
        buffer=Buffer(),
        write=write,
        spool=Spool(tmp_path / "spool", EvaluationForm()),
        supervisor=Supervisor(),
        flush_interval_seconds=FLUSH_SECONDS,
        retry_seconds=0.1,
    )
    environment_id = UUID(int=7)
    applications = Applications(recorder.record, environment_id)
    await recorder.start()
    evaluating = asyncio.create_task(applications.run())
    try:
        await until(lambda: recorder.written > 0)
        for _ in range(2):
            with outage():
                wanted = recorder.waiting + WAITING
                await until(lambda: recorder.waiting > wanted)  # noqa: B023 - awaited at once
            tried = transactions
            async with busy():
                await until(lambda: recorder.waiting < WAITING / 3)
            assert transactions - tried < WAITING / 5
    finally:
        evaluating.cancel()
        await recorder.stop(DEADLINE_SECONDS)
    found = await read(database, environment_id)
    await database.close()
    assert sorted(str(each.user_id) for each in found) == sorted(applications.evaluated)
    assert recorder.dropped == 0
