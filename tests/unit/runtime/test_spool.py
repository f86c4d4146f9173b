"""The files of the spool, each of which contains its format version."""

from pathlib import Path
from uuid import uuid4

import msgspec
import pytest

from flagstaff.evaluation.history.records import RecordBatch
from flagstaff.history.spool import RECORDS_AT_ONCE, EvaluationForm, Spool, gather_spools, spool_folder
from tests.support.history import make_batch, make_layout, make_record

BATCH = make_batch(uuid4(), make_layout(), make_record())


async def open_spool(directory: Path) -> Spool[RecordBatch]:
    spool = Spool(directory, EvaluationForm())
    await spool.open()
    return spool


@pytest.mark.parametrize("content", [b"", b"\x04rest", b"torn"])
async def test_an_unknown_format_version_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "000000000000-1.batch").write_bytes(content)
    spool = await open_spool(tmp_path)
    assert spool.first
    with pytest.raises(ValueError, match="is unknown"):
        await spool.read(spool.first)


async def test_a_batch_is_read_as_it_was_appended(tmp_path: Path) -> None:
    spool = await open_spool(tmp_path)
    spooled = await spool.append(BATCH)
    assert spooled
    assert msgspec.msgpack.encode(*await spool.read(spooled)) == msgspec.msgpack.encode(BATCH)


async def test_attributes_are_read_as_they_were_appended(tmp_path: Path) -> None:
    batch = make_batch(uuid4(), make_layout(), make_record(), attributes=[b'{"plan":"gold"}'], has_all=True)
    spool = await open_spool(tmp_path)
    spooled = await spool.append(batch)
    assert spooled
    (group,) = (await spool.read(spooled))[0].groups
    assert (group.attributes, group.has_all) == ([b'{"plan":"gold"}'], True)


async def test_evaluations_of_single_flags_are_read_as_they_were_appended_in_little_space(tmp_path: Path) -> None:
    wide = make_layout(recorded=make_layout().recorded * 500)
    batch = make_batch(uuid4(), wide, make_record(recorded=b"\5"), flags=[7])
    spool = await open_spool(tmp_path)
    spooled = await spool.append(batch)
    assert spooled
    assert msgspec.msgpack.encode(*await spool.read(spooled)) == msgspec.msgpack.encode(batch)
    assert spooled.bytes < len(msgspec.msgpack.encode(batch)) / 10


async def test_a_damaged_file_of_evaluations_of_single_flags_is_refused(tmp_path: Path) -> None:
    (tmp_path / "000000000000-1.batch").write_bytes(b"\x03rest")
    spool = await open_spool(tmp_path)
    assert spool.first
    with pytest.raises(ValueError, match="damaged"):
        await spool.read(spool.first)


async def test_attributes_that_are_fewer_than_the_evaluations_are_refused(tmp_path: Path) -> None:
    content = msgspec.msgpack.decode(msgspec.msgpack.encode(BATCH))
    content["groups"][0]["attributes"] = []
    (tmp_path / "000000000000-1.batch").write_bytes(b"\x02" + msgspec.msgpack.encode(content))
    spool = await open_spool(tmp_path)
    assert spool.first
    with pytest.raises(ValueError, match="differ in length"):
        await spool.read(spool.first)


async def test_batches_of_workers_that_no_longer_exist_go_to_the_first_one_and_are_kept_once(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    gather_spools(folder, 3)
    batches = {slot: make_batch(uuid4(), make_layout(), make_record()) for slot in range(3)}
    for slot, batch in batches.items():
        await (await open_spool(spool_folder(folder, slot))).append(batch)
    for _ in range(2):  # the second call has nothing left to do
        gather_spools(folder, 2)
    assert [await ids(spool_folder(folder, slot)) for slot in range(2)] == [
        {batches[0].id, batches[2].id},
        {batches[1].id},
    ]
    assert not spool_folder(folder, 2).exists()


async def ids(directory: Path) -> set[int]:
    """Return the ids of the batches in a folder, and remove them."""
    spool, found = await open_spool(directory), set()
    while spool.first:
        found.add((await spool.read(spool.first))[0].id)
        await spool.remove(spool.first)
    return found


async def test_so_many_batches_are_read_at_once_as_are_within_the_limits_and_at_least_one(tmp_path: Path) -> None:
    spool = await open_spool(tmp_path)
    assert spool.oldest(64) == []
    large = make_batch(uuid4(), make_layout(), *map(make_record, range(RECORDS_AT_ONCE + 1)))
    first, *small = [await spool.append(batch) for batch in (large, BATCH, BATCH, BATCH)]
    assert spool.oldest(64) == [first]
    assert first is not None
    await spool.remove(first)
    assert spool.oldest(64) == small
    assert spool.oldest(2) == small[:2]
