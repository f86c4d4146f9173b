"""The recorder with stores that fail, refuse, hang and recover."""

import asyncio
import resource
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import msgspec
import pytest
from structlog.testing import capture_logs

from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.compiler import TargetedFlag
from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.evaluation.snapshot_assembly import compile_environment
from flagstaff.history.buffer import Buffer
from flagstaff.history.recorder import EvaluationRecorder, Recorder
from flagstaff.history.spool import EvaluationForm, Spool
from flagstaff.values.errors import unavailable
from tests.support.builders import make_environment, make_flag

DEADLINE_SECONDS = 20


class Store:
    """Keeps each batch once, as the database does, and fails on demand. A duplicate write is detected."""

    def __init__(self) -> None:
        self.batches: dict[int, RecordBatch] = {}
        self.came_again: list[int] = []
        self.loses_its_answer = False
        self.error: BaseException | None = None
        self.refused: set[str | None] = set()
        self.attempts = 0
        self.open = asyncio.Event()
        self.open.set()

    async def write(self, *batches: RecordBatch) -> set[int]:
        self.attempts += 1
        await self.open.wait()
        if self.error:
            raise self.error
        if self.refused & {user for batch in batches for group in batch.groups for user in group.users}:
            raise ValueError("one of these cannot be stored")
        new = {batch.id for batch in batches} - self.batches.keys()
        self.came_again += [batch.id for batch in batches if batch.id not in new]
        self.batches |= {batch.id: batch for batch in batches}
        if self.loses_its_answer:
            self.loses_its_answer = False
            raise unavailable()
        return new

    @property
    def users(self) -> list[str | None]:
        return [user for batch in self.batches.values() for group in batch.groups for user in group.users]


@pytest.fixture
def store() -> Iterator[Store]:
    """A store that must not receive a batch again after it has answered, unless a test expects that."""
    made = Store()
    yield made
    assert not made.came_again


@pytest.fixture
def snapshot() -> EnvironmentSnapshot:
    return make_snapshot()


def make_snapshot() -> EnvironmentSnapshot:
    environment = make_environment()
    return compile_environment(environment, [TargetedFlag(make_flag(environment, rollout_percentage=20))])


@asynccontextmanager
async def recording(store: Store, directory: Path, **options: int) -> AsyncIterator[EvaluationRecorder]:
    """A started recorder, stopped at the end; its store may be unavailable."""
    recorder = make_recorder(store, make_spool(directory, **options))
    await recorder.start()
    try:
        yield recorder
    finally:
        await recorder.stop(DEADLINE_SECONDS)


def make_spool(directory: Path, **options: int) -> Spool[RecordBatch]:
    return Spool(directory / "spool", EvaluationForm(), **options)


class _KeptRecords(Buffer):
    may_drop = False


def make_recorder(
    store: Store, spool: Spool[RecordBatch], supervisor: Supervisor | None = None, *, may_drop: bool = True
) -> EvaluationRecorder:
    supervisor = supervisor or Supervisor(first_pause_seconds=0.001)
    return EvaluationRecorder(
        buffer=Buffer() if may_drop else _KeptRecords(),
        write=store.write,
        spool=spool,
        supervisor=supervisor,
        flush_interval_seconds=0.01,
        retry_seconds=0.01,
    )


def uneven_batch() -> bytes:
    """Return a file with one more time than users."""
    layout: dict[str, list[object]] = {"recorded": [], "constant": []}
    columns = {"times": [1], "users": [], "emails": [None], "recorded": [b""]}
    group = {"environment_id": str(UUID(int=1)), "layout": layout, **columns}
    return b"\x01" + msgspec.msgpack.encode({"id": 1, "groups": [group]})


@contextmanager
def no_descriptors() -> Iterator[None]:
    """Prevent every file from being opened."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def has_dropped(recorder: Recorder[Any], records: int) -> bool:
    return recorder.dropped == records


def has_written(recorder: Recorder[Any], records: int) -> bool:
    return recorder.written == records


def has_tried_again(recorder: Recorder[Any], store: Store, attempts: int) -> bool:
    return recorder.is_stuck and store.attempts > attempts + 1


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
        await until(lambda: recorder.written == 1 and recorder.waiting == 0)
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
    spool = make_spool(tmp_path)
    recorder = make_recorder(store, spool)
    await recorder.start()
    recorder.record(snapshot, "ada", None, b"\x07")
    await until(lambda: store.attempts == 1)
    recorder.record(snapshot, "bob", None, b"\x07")
    await recorder.stop(0.05)
    store.open.set()
    async with recording(store, tmp_path):
        await until(lambda: len(store.users) == 2)
    assert store.users == ["ada", "bob"]


async def test_a_batch_that_a_slow_store_is_writing_is_also_on_disk_until_it_is_done(
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


async def test_the_log_says_first_that_records_are_dropped_and_at_the_end_how_many_were(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    with capture_logs() as entries:
        async with recording(store, tmp_path) as recorder:
            for outage in (1, 2):
                store.error = RuntimeError("refused")
                for number in range(1, 4):
                    recorder.record(snapshot, "ada", None, b"\x07")
                    wanted = 3 * outage - 3 + number
                    await until(partial(has_dropped, recorder, wanted))
                store.error = None
                recorder.record(snapshot, "bob", None, b"\x07")
                await until(partial(has_written, recorder, outage))
    told = [(each["event"], each["records"]) for each in entries if each["event"].startswith("evaluations_dropped")]
    assert told == [("evaluations_dropped", 1), ("evaluations_dropped_in_all", 3)] * 2


async def test_a_stop_during_an_outage_says_how_many_were_dropped(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = RuntimeError("refused")
    with capture_logs() as entries:
        async with recording(store, tmp_path) as recorder:
            recorder.record(snapshot, "ada", None, b"\x07")
            await until(lambda: recorder.dropped == 1)
    told = [(each["event"], each["records"]) for each in entries if each["event"].startswith("evaluations_dropped")]
    assert told == [("evaluations_dropped", 1), ("evaluations_dropped_in_all", 1)]


@pytest.mark.parametrize("content", [b"", b"\x81", b"\x01\x82\xa4seed\x01", uneven_batch()])
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


async def test_a_file_that_no_descriptor_is_left_for_is_kept_and_written_later(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: bool(files(tmp_path)))
        with no_descriptors(), capture_logs() as logged:
            store.error = None
            await until(lambda: any(entry["event"] == "spool_failed" for entry in logged) or recorder.dropped > 0)
        await until(lambda: recorder.written == 1)
        assert recorder.dropped == 0
    assert (store.users, files(tmp_path)) == (["ada"], [])


async def test_a_batch_whose_answer_was_lost_counts_once(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.loses_its_answer = True
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: recorder.written == 1 and recorder.waiting == 0)
        assert recorder.dropped == 0
    assert len(store.came_again) == 1
    store.came_again.clear()


async def test_a_batch_that_fails_while_it_is_copied_to_disk_is_there_once(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    """One task copies a slow batch while the other writes a failed batch to disk at the same moment."""
    store.open.clear()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: store.attempts == 1)
        in_flight = recorder._in_flight
        assert in_flight is not None
        copying = asyncio.create_task(recorder._copy_to_disk(in_flight))
        await asyncio.sleep(0)
        store.error = unavailable()
        store.open.set()
        await copying
        await until(lambda: store.attempts >= 2)
        assert (len(files(tmp_path)), recorder.waiting) == (1, 1)
        store.error = None
        await until(lambda: recorder.written == 1 and recorder.waiting == 0)


async def test_a_batch_that_an_earlier_process_had_written_is_not_counted_again(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    """A process that is killed between the commit and the removal of the file leaves the file there."""
    store.open.clear()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: [path.suffix for path in files(tmp_path)] == [".batch"])
        (copy,) = files(tmp_path)
        content = copy.read_bytes()
        store.open.set()
        await until(lambda: recorder.written == 1)
    copy.write_bytes(content)
    async with recording(store, tmp_path) as recorder:
        await until(lambda: bool(store.came_again) and not files(tmp_path))
        assert (recorder.written, recorder.waiting, recorder.dropped) == (0, 0, 0)
    store.came_again.clear()


async def test_a_file_that_cannot_be_deleted_delays_nothing_and_is_deleted_later(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    stubborn = tmp_path / "spool" / "000000000000-7.batch"
    (stubborn / "inside").mkdir(parents=True)  # a folder cannot be read or deleted like a file
    async with recording(store, tmp_path) as recorder:
        await until(lambda: recorder.dropped == 7)
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: recorder.written == 1 and recorder.waiting == 0)
        assert files(tmp_path) == [stubborn]
        (stubborn / "inside").rmdir()
        stubborn.rmdir()
        stubborn.touch()
        store.error = unavailable()
        recorder.record(snapshot, "bob", None, b"\x07")
        await until(lambda: len(files(tmp_path)) == 2)
        store.error = None
        await until(lambda: recorder.written == 2 and not files(tmp_path))
    assert store.users == ["ada", "bob"]


async def test_a_foreign_file_in_the_folder_is_left_alone(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    (tmp_path / "spool").mkdir()
    foreign = [tmp_path / "spool" / name for name in ("a-b-c.batch", "notes.txt")]
    for path in foreign:
        path.touch()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
    assert (store.users, files(tmp_path)) == (["ada"], foreign)


async def test_a_link_to_nothing_does_not_hide_the_other_files(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
    link = tmp_path / "spool" / "000000000009-1.batch"
    link.symlink_to("nothing")
    store.error = None
    async with recording(store, tmp_path) as recorder:
        await until(lambda: recorder.written == 1)
    assert (store.users, files(tmp_path)) == (["ada"], [link])


async def test_a_folder_that_cannot_be_created_does_not_prevent_a_start_and_is_created_later(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    (tmp_path / "spool").touch()  # a file in place of the folder
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: recorder.written == 1)
        store.error = unavailable()
        recorder.record(snapshot, "bob", None, b"\x07")
        await until(lambda: recorder.dropped == 1)
        (tmp_path / "spool").unlink()
        recorder.record(snapshot, "eve", None, b"\x07")
        await until(lambda: (tmp_path / "spool").is_dir() and len(files(tmp_path)) == 1)
        store.error = None
        await until(lambda: recorder.written == 2)
    assert store.users == ["ada", "eve"]


async def test_a_folder_that_disappears_is_made_again(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        (tmp_path / "spool").rmdir()
        recorder.record(snapshot, "ada", None, b"\x07")
        await until(lambda: (tmp_path / "spool").is_dir() and len(files(tmp_path)) == 1)
        store.error = None
        await until(lambda: recorder.written == 1)


async def test_what_an_earlier_process_left_is_taken_up_when_the_disk_is_back(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        recorder.record(snapshot, "ada", None, b"\x07")
    away = (tmp_path / "spool").rename(tmp_path / "away")
    (tmp_path / "spool").touch()
    async with recording(store, tmp_path) as recorder:
        (tmp_path / "spool").unlink()
        away.rename(tmp_path / "spool")
        recorder.record(snapshot, "bob", None, b"\x07")
        await until(lambda: recorder.waiting == 2)
        store.error = None
        await until(lambda: recorder.written == 2)
    assert (store.users, files(tmp_path)) == (["ada", "bob"], [])


async def test_a_task_that_failed_continues_with_the_batch_that_it_was_writing(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    supervisor = Supervisor(first_pause_seconds=0.001)
    recorder = make_recorder(store, make_spool(tmp_path), supervisor)
    await recorder.start()
    store.open.clear()
    recorder.record(snapshot, "ada", None, b"\x07")
    await until(lambda: store.attempts == 1)
    store.error = asyncio.CancelledError()  # raised by what the task awaits, although the task was not cancelled
    store.open.set()
    await until(lambda: supervisor.restarts["recorder-write"] > 0)
    store.error = None
    await until(lambda: recorder.written == 1 and recorder.waiting == 0)
    await recorder.stop(DEADLINE_SECONDS)
    assert store.users == ["ada"]


async def test_a_stop_without_a_start_does_nothing(store: Store, tmp_path: Path) -> None:
    recorder = make_recorder(store, make_spool(tmp_path))
    await recorder.stop(DEADLINE_SECONDS)
    assert not (tmp_path / "spool").exists()


async def test_records_that_may_not_be_dropped_wait_in_memory_until_the_store_takes_them(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    recorder = make_recorder(store, make_spool(tmp_path, max_bytes=0), may_drop=False)
    await recorder.start()
    assert not recorder.is_stuck
    for user in "abc":
        recorder.record(snapshot, user, None, b"\x07")
        attempts = store.attempts
        await until(partial(has_tried_again, recorder, store, attempts))
    assert (recorder.waiting, recorder.dropped, files(tmp_path)) == (3, 0, [])
    store.error = None
    await until(lambda: recorder.written == 3 and not recorder.is_stuck)
    await recorder.stop(DEADLINE_SECONDS)
    assert (sorted(filter(None, store.users)), recorder.dropped) == (["a", "b", "c"], 0)


async def test_a_stop_counts_records_as_dropped_that_could_only_wait_in_memory(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    recorder = make_recorder(store, make_spool(tmp_path, max_bytes=0), may_drop=False)
    await recorder.start()
    recorder.record(snapshot, "ada", None, b"\x07")
    await until(lambda: recorder.is_stuck)
    await recorder.stop(DEADLINE_SECONDS)
    assert (recorder.written, recorder.waiting, recorder.dropped) == (0, 0, 1)


async def fill(recorder: EvaluationRecorder, snapshot: EnvironmentSnapshot, directory: Path, count: int) -> list[str]:
    """Have so many batches on disk, each of one user."""
    users = [f"user-{number}" for number in range(count)]
    for number, user in enumerate(users):
        recorder.record(snapshot, user, None, b"\x07")
        await until(lambda: len(files(directory)) > number)  # noqa: B023 - awaited at once
    return users


async def test_what_waits_on_disk_is_written_in_few_transactions_and_in_its_order(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        users = await fill(recorder, snapshot, tmp_path, 40)
        store.error, store.attempts = None, 0
        await until(lambda: recorder.written == 40 and not files(tmp_path))
        assert store.attempts <= 7
    assert store.users == users


async def test_a_batch_that_is_refused_among_others_is_dropped_alone(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        users = await fill(recorder, snapshot, tmp_path, 12)
        store.refused, store.error = {"user-5"}, None
        await until(lambda: recorder.written == 11 and recorder.dropped == 1)
        await until(lambda: not files(tmp_path))
    assert store.users == [user for user in users if user != "user-5"]


async def test_batches_whose_common_answer_was_lost_are_counted_once(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        users = await fill(recorder, snapshot, tmp_path, 12)
        store.error = None
        await until(lambda: recorder.written > 0)
        store.loses_its_answer = True
        await until(lambda: not files(tmp_path))
        assert (recorder.written, recorder.waiting, recorder.dropped) == (12, 0, 0)
    assert store.users == users
    store.came_again.clear()


async def test_a_file_that_cannot_be_read_keeps_none_behind_it_from_the_store(
    store: Store, snapshot: EnvironmentSnapshot, tmp_path: Path
) -> None:
    store.error = unavailable()
    async with recording(store, tmp_path) as recorder:
        users = await fill(recorder, snapshot, tmp_path, 6)
    files(tmp_path)[3].write_bytes(b"\x01damaged")
    store.error = None
    async with recording(store, tmp_path) as recorder:
        await until(lambda: not files(tmp_path))
        assert (recorder.written, recorder.dropped) == (5, 1)
    assert store.users == [*users[:3], *users[4:]]
