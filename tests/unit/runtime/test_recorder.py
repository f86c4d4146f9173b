"""The recorder against stores that fail, refuse, hang and come back."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from flagstaff.domain.errors import unavailable
from flagstaff.evaluation.compiler import TargetedFlag, compile_environment
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.runtime.recorder import Recorder
from flagstaff.runtime.spool import Spool
from tests.support.builders import make_environment, make_flag

DEADLINE_SECONDS = 20


class Store:
    """Keeps batches by their seeds, as the database does, and fails on demand."""

    def __init__(self) -> None:
        self.batches: dict[int, RecordBatch] = {}
        self.error: Exception | None = None
        self.attempts = 0
        self.open = asyncio.Event()
        self.open.set()

    async def write(self, batch: RecordBatch) -> None:
        self.attempts += 1
        await self.open.wait()
        if self.error:
            raise self.error
        self.batches[batch.id] = batch

    @property
    def users(self) -> list[str | None]:
        return [user for batch in self.batches.values() for group in batch.groups for user in group.users]


@pytest.fixture
def store() -> Store:
    return Store()


@pytest.fixture
def snapshot() -> EnvironmentSnapshot:
    return make_snapshot()


def make_snapshot() -> EnvironmentSnapshot:
    environment = make_environment()
    return compile_environment(environment, [TargetedFlag(make_flag(environment, rollout_percentage=20))])


@asynccontextmanager
async def recording(store: Store, directory: Path, **options: int) -> AsyncIterator[Recorder]:
    """A started recorder, stopped at the end; its store may be away."""
    spool = Spool(directory / "spool", **options)
    recorder = Recorder(write=store.write, spool=spool, flush_interval_seconds=0.01, retry_seconds=0.01)
    await recorder.start()
    try:
        yield recorder
    finally:
        await recorder.stop(DEADLINE_SECONDS)


def uneven_batch() -> bytes:
    """A file with a time for which there is no user."""
    layout = {"recorded": [], "constant": []}
    columns = {"times": [1], "users": [], "emails": [None], "recorded": [b""]}
    group = {"environment_id": str(UUID(int=1)), "layout": layout, **columns}
    return msgspec.msgpack.encode({"id": 1, "groups": [group]})


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not condition():
            await asyncio.sleep(0.001)


def files(directory: Path) -> list[Path]:
    return sorted((directory / "spool").iterdir())


async def test_records_reach_the_store_by_themselves(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", "ada@example.com", b"\x07")
        await until(lambda: recorder.written == 1)
        assert recorder.waiting == 0
    ((group,),) = [batch.groups for batch in store.batches.values()]
    assert (group.environment_id, group.layout) == (snapshot.environment_id, snapshot.layout)
    assert (len(group.times), group.users, group.emails, group.recorded) == (1, ["ada"], ["ada@example.com"], [b"\x07"])


async def test_records_of_one_snapshot_share_a_group(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    other = make_snapshot()
    async with recording(store, tmp_path) as recorder:
        for _ in range(3):
            recorder.record(snapshot, "ada", None, b"\x07")
            recorder.record(other, "eve", None, b"\x07")
    ((first, second),) = [batch.groups for batch in store.batches.values()]
    assert [len(first.times), len(second.times)] == [3, 3]


async def test_a_stop_writes_what_was_recorded_last(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
    assert (store.users, recorder.written, files(tmp_path)) == (["ada"], 1, [])


async def test_an_outage_keeps_records_on_disk_and_writes_them_in_order_afterwards(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        for user in "abc":
            recorder.record(snapshot, user, None, b"\x07")
            count = len(files(tmp_path))
            await until(lambda count=count: len(files(tmp_path)) > count)  # type: ignore[misc]
        await until(lambda: recorder.waiting == 3)
        assert (recorder.written, recorder.dropped) == (0, 0)
        store.error = None
        await until(lambda: recorder.written == 3)
        assert recorder.waiting == 0
    assert (store.users, files(tmp_path)) == (["a", "b", "c"], [])


async def test_a_stop_during_an_outage_leaves_the_records_to_the_next_start(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
    assert (store.users, len(files(tmp_path))) == ([], 1)
    store.error = None
    async with recording(store, tmp_path) as recorder:
        await until(lambda: recorder.written == 1)
    assert (store.users, files(tmp_path)) == (["ada"], [])


async def test_a_stop_waits_no_longer_than_its_deadline_for_a_store_that_hangs(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.open.clear()
    spool = Spool(tmp_path / "spool")
    recorder = Recorder(write=store.write, spool=spool, flush_interval_seconds=0.01)
    await recorder.start()
    recorder.record(snapshot, "ada", None, b"\x07")
    await until(lambda: store.attempts == 1)
    recorder.record(snapshot, "bob", None, b"\x07")
    await recorder.stop(0.05)
    store.open.set()
    async with recording(store, tmp_path):
        await until(lambda: len(store.users) == 2)
    assert store.users == ["ada", "bob"]


async def test_what_a_slow_store_has_in_hand_is_on_disk_too_until_it_is_done(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.open.clear()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: len(files(tmp_path)) == 1)
        await until(lambda: recorder.waiting == 1)
        store.open.set()
        await until(lambda: recorder.written == 1 and not files(tmp_path))
    assert (store.users, store.attempts) == (["ada"], 1)


async def test_what_the_disk_has_no_room_for_is_dropped_and_counted(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path, max_bytes=10) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: recorder.dropped == 1)
        assert (recorder.waiting, recorder.recorded) == (0, 1)


async def test_a_batch_that_the_store_refuses_does_not_hold_up_the_others(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = RuntimeError("refused")
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: recorder.dropped == 1)
        store.error = None
        recorder.record(snapshot, "bob", None, b"\x07")
        await until(lambda: recorder.written == 1)
    assert (store.users, files(tmp_path)) == (["bob"], [])


@pytest.mark.parametrize("content", [b"", b"\x81", b"\x82\xa4seed\x01", uneven_batch()])
async def test_a_damaged_file_is_dropped_and_counted_and_the_next_one_is_written(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path, content: bytes
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
    damaged = tmp_path / "spool" / "000000000000-7.batch"
    files(tmp_path)[0].rename(tmp_path / "spool" / "000000000001-1.batch")
    damaged.write_bytes(content)
    (tmp_path / "spool" / "000000000002-1.unfinished").write_bytes(b"torn")
    store.error = None
    async with recording(store, tmp_path) as recorder:
        await until(lambda: recorder.written == 1)
        assert recorder.dropped == 7
    assert (store.users, files(tmp_path)) == (["ada"], [])


async def test_a_stop_without_a_start_does_nothing(store: Store, tmp_path: Path) -> None:
    recorder = Recorder(write=store.write, spool=Spool(tmp_path / "spool"))
    await recorder.stop(DEADLINE_SECONDS)
    assert not (tmp_path / "spool").exists()
