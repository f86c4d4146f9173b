"""Damaged backups: every one is refused."""

import io
import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flagstaff.database.backup.load import load
from flagstaff.database.backup.manifest import CHECKSUMS, MANIFEST, Manifest
from flagstaff.database.backup.reading import open_backup
from flagstaff.database.backup.writing import open_writer
from flagstaff.values.errors import Code, Error
from tests.storage.backup.conftest import BackUp, nobody
from tests.support.api import Json
from tests.support.contents import contents, fill_every_table
from tests.support.stores import Store, sqlite_store


@pytest.fixture
async def full(sqlite_template: Path, data_directory: Path) -> Store:
    """A SQLite database: backups of both databases have the same form."""
    store = sqlite_store(sqlite_template, data_directory)
    await fill_every_table(store)
    return store


def read_whole(path: Path) -> dict[str, bytes]:
    """Check a backup and return its parts."""
    with open_backup(path) as backup:
        backup.check(lambda _: None)
    with tarfile.open(path) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar.getmembers()}  # type: ignore[union-attr]


def rewritten(path: Path, **changes: Any) -> Path:
    """Return a backup with a changed manifest and valid checksums."""
    parts = read_whole(path)
    manifest = msgspec.json.decode(parts.pop(MANIFEST)) | changes
    del parts[CHECKSUMS]
    result = path.with_name("rewritten.tar")
    with open_writer(result) as writer:
        for name, content in parts.items():
            writer.add(name, content)
        writer.finish(msgspec.convert(manifest, Manifest))
    return result


@pytest.mark.parametrize("content", [b"", b"not a backup", b"\0" * 10_240], ids=["empty", "text", "zeros"])
def test_a_file_of_another_kind_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(Error, match="is not a backup, or it is damaged") as refusal:
        read_whole(path)
    assert refusal.value.code is Code.INVALID


def test_another_tar_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.tar"
    with tarfile.open(path, "w") as tar:
        tar.addfile(tarfile.TarInfo("README"), io.BytesIO())
    with pytest.raises(Error, match="its end is missing"):
        read_whole(path)


@pytest.mark.parametrize("path", ["nowhere.tar", ""])
def test_what_cannot_be_read_is_refused(tmp_path: Path, path: str) -> None:
    with pytest.raises(Error, match="cannot be read"), open_backup(tmp_path / path):
        pass


async def test_a_backup_that_ends_too_soon_is_refused_wherever_it_ends(full: Store, back_up: BackUp) -> None:
    path = await back_up(full)
    content = path.read_bytes()
    end_of_content = content.rindex(MANIFEST.encode() + b"\n") + len(MANIFEST) + 1
    for length in range(0, end_of_content, 509):
        path.write_bytes(content[:length])
        with pytest.raises(Error) as refusal:
            read_whole(path)
        assert refusal.value.code is Code.INVALID, length


async def test_a_damaged_byte_is_noticed_or_is_not_content(full: Store, back_up: BackUp) -> None:
    path = await back_up(full)
    content, whole = path.read_bytes(), read_whole(path)
    noticed = 0
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        try:
            found = read_whole(path)
        except Error as error:
            noticed += error.code is Code.INVALID
        else:
            assert found == whole, place
    assert noticed


async def test_a_backup_of_a_newer_format_is_refused(full: Store, back_up: BackUp) -> None:
    path = rewritten(await back_up(full), format=99, flagstaff="9.9")
    with pytest.raises(Error, match=r"This version is too old .* made by Flagstaff 9\.9") as refusal, open_backup(path):
        pass
    assert refusal.value.code is Code.CONFLICT


async def test_a_backup_of_a_newer_revision_is_refused_and_changes_nothing(
    full: Store, back_up: BackUp, target: Store
) -> None:
    path = rewritten(await back_up(full), revision="9999")
    with (
        open_backup(path) as backup,
        pytest.raises(Error, match="revision 9999, which is unknown") as refusal,
    ):
        await load(target.database_url, target.data_directory, backup, progress=nobody)
    assert refusal.value.code is Code.CONFLICT
    assert not list(target.data_directory.iterdir())


async def test_a_backup_of_an_older_development_build_is_refused_and_changes_nothing(
    full: Store, back_up: BackUp, target: Store
) -> None:
    path = rewritten(await back_up(full), revision="0031")
    with (
        open_backup(path) as backup,
        pytest.raises(Error, match=r"revision 0031, which only development builds before 1\.0 had") as refusal,
    ):
        await load(target.database_url, target.data_directory, backup, progress=nobody)
    assert refusal.value.code is Code.CONFLICT
    assert not list(target.data_directory.iterdir())


async def test_a_backup_that_contradicts_itself_changes_nothing_even_if_it_may_replace(
    full: Store, back_up: BackUp, target: Store
) -> None:
    path = await back_up(full)
    with open_backup(path) as backup:
        await load(target.database_url, target.data_directory, backup, progress=nobody)
        before = await contents(target)
        tables = msgspec.to_builtins(backup.manifest)["tables"]
    for damage in ({"rows": 4711}, {"table": tables[-1]["table"] | {"columns": [{"name": "id", "kind": "uuid"}]}}):
        contradicting = rewritten(path, tables=[*tables[:-1], tables[-1] | damage])
        with open_backup(contradicting) as backup, pytest.raises(Error) as refusal:
            await load(target.database_url, target.data_directory, backup, replace=True, progress=nobody)
        assert refusal.value.code is Code.INVALID
        contradicting.unlink()
        assert await contents(target) == before


async def test_a_backup_without_one_of_its_tables_or_with_another_is_refused(
    full: Store, back_up: BackUp, target: Store
) -> None:
    path = await back_up(full)
    with open_backup(path) as backup:
        tables = msgspec.to_builtins(backup.manifest)["tables"]
    version: Json = {"schema": None, "name": "alembic_version", "key": ["version_num"]}
    columns = [{"name": "version_num", "kind": "text"}]
    foreign: Json = {"table": version | {"columns": columns}, "counter": None, "parts": []}
    for given in ([], tables[:-1], [*tables, foreign | {"rows": 1}], [*tables, tables[0]]):
        wrong = rewritten(path, tables=given)
        with open_backup(wrong) as backup, pytest.raises(Error, match="tables differ") as refusal:
            await load(target.database_url, target.data_directory, backup, progress=nobody)
        assert refusal.value.code is Code.INVALID
        wrong.unlink()


async def test_a_row_that_the_database_refuses_is_not_shown(full: Store, back_up: BackUp, target: Store) -> None:
    path = await back_up(full)
    with open_backup(path) as backup:
        tables = msgspec.to_builtins(backup.manifest)["tables"]
    accounts = next(each for each in tables if each["table"]["name"] == "accounts")
    accounts["parts"] *= 2
    with open_backup(rewritten(path, tables=tables)) as backup, pytest.raises(Error) as refusal:
        await load(target.database_url, target.data_directory, backup, progress=nobody)
    assert refusal.value.code is Code.INVALID
    assert "@example.com" not in f"{refusal.value} {refusal.value.__cause__}"
