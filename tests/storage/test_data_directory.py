"""The data directory: its permissions, its lock and its secret key."""

import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from flagstaff.database.data_directory import DataDirectory
from flagstaff.values.errors import Code, Error

SECRET = "s" * 48


@pytest.fixture
def directory(data_directory: Path) -> DataDirectory:
    return DataDirectory(data_directory)


def write_secret(directory: DataDirectory, content: bytes, mode: int = 0o600) -> Path:
    path = directory.path / "secret-key"
    path.write_bytes(content)
    path.chmod(mode)
    return path


def refusal(directory: DataDirectory) -> str:
    with pytest.raises(Error) as caught:
        directory.secret_key()
    assert caught.value.code is Code.INVALID
    assert "\n" not in caught.value.message
    return caught.value.message


@pytest.mark.parametrize("content", [b"", b" \n", b"short", b"\xff" * 48], ids=["empty", "blank", "short", "binary"])
def test_an_invalid_secret_key_is_refused_and_left_unchanged(directory: DataDirectory, content: bytes) -> None:
    path = write_secret(directory, content)
    assert f"{path} is empty or too short" in refusal(directory)
    assert path.read_bytes() == content


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o620])
def test_a_secret_key_that_others_can_get_at_is_refused_and_left_alone(directory: DataDirectory, mode: int) -> None:
    path = write_secret(directory, SECRET.encode(), mode)
    assert f"mode {mode:04o}). Run: chmod 600 {path}" in refusal(directory)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    path.chmod(0o600)
    assert directory.secret_key() == SECRET


def test_a_folder_in_the_secret_keys_place_is_refused(directory: DataDirectory) -> None:
    (directory.path / "secret-key").mkdir()
    assert "cannot be read" in refusal(directory)


def test_a_draft_left_by_a_kill_does_not_prevent_a_start(directory: DataDirectory) -> None:
    (directory.path / "secret-key.draft").write_text("half a k")
    secret = directory.secret_key()
    assert len(secret) >= 32
    assert [path.name for path in directory.path.iterdir()] == ["secret-key"]
    assert directory.secret_key() == secret


def test_first_starts_at_once_agree_on_one_key(data_directory: Path) -> None:
    program = (
        "import sys; from pathlib import Path; from flagstaff.database.data_directory import DataDirectory\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "print(DataDirectory(Path(sys.argv[1])).secret_key())"
    )
    command = [sys.executable, "-c", program, str(data_directory)]
    started = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    for process in started:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in started:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    secrets = {process.communicate(timeout=30)[0] for process in started}
    assert len(secrets) == 1
    assert secrets.pop().strip() == (data_directory / "secret-key").read_text()


def test_a_killed_start_does_not_block_another(directory: DataDirectory) -> None:
    program = (
        "import sys; from pathlib import Path; from flagstaff.database.data_directory import DataDirectory\n"
        "with DataDirectory(Path(sys.argv[1]))._held(): print('held', flush=True); sys.stdin.readline()"
    )
    command = [sys.executable, "-c", program, str(directory.path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        process.send_signal(signal.SIGKILL)
    assert directory.secret_key()


def test_a_directory_that_exists_keeps_its_mode_and_a_warning_says_what_to_run(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.mkdir()
    path.chmod(0o755)
    directory = DataDirectory(path)
    directory.prepare()
    with capture_logs() as log:
        directory.warn_if_open()
    assert stat.S_IMODE(path.stat().st_mode) == 0o755
    (entry,) = log
    assert (entry["event"], entry["log_level"], entry["mode"]) == ("data_directory_open", "warning", "0755")
    assert f"chmod 700 {path}" in entry["advice"]


def test_a_new_directory_is_private(tmp_path: Path) -> None:
    directory = DataDirectory(tmp_path / "new" / "data")
    directory.prepare()
    with capture_logs() as log:
        directory.warn_if_open()
    assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700
    assert log == []


def test_a_secret_key_that_is_not_text_is_reported(tmp_path: Path) -> None:
    (tmp_path / "secret-key").write_bytes(b"\xff" * 64)
    with pytest.raises(Error, match="is not text"):
        DataDirectory(tmp_path).find_secret_key()
