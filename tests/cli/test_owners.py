"""Commands of root give the files that they make to the owner of the data directory, who runs the server."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from flagstaff.database.data_directory import DataDirectory
from flagstaff.database.files import give_to_owner
from tests.support.command import run_flagstaff
from tests.support.server import ServerProcess
from tests.support.stores import Store

OTHER = 65534  # the user nobody, on most systems
PASSWORD = "a long password\n"
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files to another user")


@pytest.fixture
def folder(sqlite_template: Path) -> Iterator[Path]:
    """A data directory of another user, with a database and an account."""
    top = Path(tempfile.mkdtemp(prefix="flagstaff-owners-"))
    folder = shutil.copytree(sqlite_template, top / "data")
    for path in (folder, *folder.rglob("*")):
        os.chown(path, OTHER, OTHER)
    run(folder, "users", "create", "ada@example.com", "--password-stdin", stdin=PASSWORD)
    yield folder
    shutil.rmtree(top)


def run(folder: Path, *arguments: str, stdin: str = "") -> None:
    done = run_flagstaff(*arguments, environ={"FLAGSTAFF_DATA_DIR": str(folder)}, stdin=stdin)
    assert done.returncode == 0, done.stderr
    assert foreign(folder) == []


def foreign(folder: Path) -> list[str]:
    """The files in a folder that are not its owner's."""
    return [str(path.relative_to(folder)) for path in folder.rglob("*") if path.lstat().st_uid != OTHER]


def test_commands_that_open_the_service(folder: Path) -> None:
    run(folder, "users", "reset-password", "ada@example.com", "--password-stdin", stdin=PASSWORD)
    run(folder, "trust-clock")
    assert (folder / "secret-key").stat().st_mode & 0o777 == 0o600


def test_a_command_that_fails(folder: Path) -> None:
    os.chown(folder / "secret-key", 0, 0)
    failed = run_flagstaff("users", "promote", "eve@example.com", environ={"FLAGSTAFF_DATA_DIR": str(folder)})
    assert failed.returncode == 1
    assert foreign(folder) == []


def test_restore_and_copy_and_backup(folder: Path, tmp_path: Path) -> None:
    backup = tmp_path / "backup.tar"
    run(folder, "backup", str(backup))
    assert backup.stat().st_uid == 0
    run(folder, "restore", "--replace", str(backup))
    empty = folder.with_name("empty")
    empty.mkdir(0o700)
    os.chown(empty, OTHER, OTHER)
    run(folder, "copy", "--to", str(empty))
    assert foreign(empty) == []
    assert (empty / "flagstaff.sqlite").exists()


def test_migrate(folder: Path) -> None:
    run(folder, "migrate", "--to", "base", "--force")
    run(folder, "migrate")


def test_a_new_history(folder: Path) -> None:
    for path in folder.glob("history.sqlite*"):
        path.unlink()
    run(folder, "history", "new")
    assert (folder / "history.sqlite").exists()


async def test_a_server_at_its_stop(folder: Path) -> None:
    async with ServerProcess(Store(None, folder)) as server:
        assert await server.stop() == 0
    assert foreign(folder) == []


def test_files_of_others_stay(folder: Path) -> None:
    (folder / "tls.key").write_text("root's")
    (folder / "backups" / "spool").mkdir(parents=True)
    (folder / "spool" / "worker-1").mkdir(parents=True, exist_ok=True)
    (folder / "history-20261130T100000Z.sqlite-wal").touch()
    give_to_owner(folder)
    assert set(foreign(folder)) == {"tls.key", "backups", "backups/spool"}


def test_links_and_files_with_several_names_stay(folder: Path) -> None:
    secret = folder.with_name("of-root")
    secret.write_text("nobody else's")
    (folder / "secret-key").unlink()
    (folder / "secret-key").symlink_to(secret)
    (folder / "outbox").mkdir()
    (folder / "outbox" / "hard").hardlink_to(secret)
    (folder / "outbox" / "made").touch()
    give_to_owner(folder)
    assert secret.stat().st_uid == 0
    assert set(foreign(folder)) == {"secret-key", "outbox/hard"}


def test_a_folder_of_root_stays(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.chown(tmp_path / "file", OTHER, OTHER)
    with DataDirectory(tmp_path).locked(), closing((tmp_path / "made").open("w")):
        pass
    assert (tmp_path / "made").stat().st_uid == 0
    assert (tmp_path / "file").stat().st_uid == OTHER


def test_a_data_directory_behind_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(folder)
    (folder / "history.sqlite-journal").touch()
    give_to_owner(tmp_path / "link")
    assert foreign(folder) == []


def test_a_lock_that_is_a_link_is_refused_and_nothing_is_written_through_it(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "target").write_text("precious")
    (folder / "server.lock").unlink(missing_ok=True)
    (folder / "server.lock").symlink_to(tmp_path / "target")
    refused = run_flagstaff("migrate", environ={"FLAGSTAFF_DATA_DIR": str(folder)})
    assert (refused.returncode, "Traceback" in refused.stderr) == (1, False), refused.stderr
    assert (tmp_path / "target").read_text() == "precious"
