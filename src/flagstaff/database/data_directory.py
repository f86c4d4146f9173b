"""The folder for Flagstaff's files: used by one server at a time, and private to its user."""

import fcntl
import os
import secrets
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import structlog

from flagstaff.database.files import WORK_PREFIX, find_status, give_to_owner
from flagstaff.database.situations import find_file_situation
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

_LOCK_FILE = "server.lock"  # the process id of the server, and the files that it has open
_SECRET_FILE = "secret-key"  # noqa: S105 - a name, not a secret
_DRAFT = f"{_SECRET_FILE}.draft"
_SECRET_MIN_LENGTH = 32
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


class DataDirectory:
    """The data directory, created with mode 0700 when first needed. An existing one keeps its mode."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Create the folder, and lock it inside this context, for a command that writes in it.

        Raises:
            Error: UNAVAILABLE or CONFLICT, as `prepare` and `lock` do.
        """
        with self.given_to_owner():
            self.lock()
            try:
                yield
            finally:
                self.unlock()

    @contextmanager
    def given_to_owner(self) -> Iterator[None]:
        """Create the folder, and after this context give what root has made in it to the folder's owner.

        Otherwise the server, which runs as this owner, could not use these files. Raises Error UNAVAILABLE if the
        folder cannot be created.
        """
        self.prepare()
        try:
            yield
        finally:
            give_to_owner(self.path)

    def prepare(self) -> None:
        """Create the folder; raises Error UNAVAILABLE if that fails."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            message = f"The data directory {self.path} cannot be used: {error.strerror}."
            raise Error(Code.UNAVAILABLE, message) from error

    def warn_if_open(self) -> None:
        """Log a warning if other users can read or change the folder. The operator chooses its mode."""
        mode = stat.S_IMODE(self.path.stat().st_mode)
        if mode & _OTHERS:
            advice = f"other users can access Flagstaff's files; run: chmod 700 {self.path}"
            log.warning("data_directory_open", path=str(self.path), mode=f"{mode:04o}", advice=advice)

    def lock(self) -> None:
        """Lock the folder until this process ends for any reason, and delete what killed commands have left.

        Raises Error CONFLICT if it is locked.
        """
        descriptor = self._open_lock()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            other = os.pread(descriptor, 32, 0).decode(errors="replace").partition("\n")[0].strip()
            os.close(descriptor)
            raise Error(
                Code.CONFLICT,
                f"Another Flagstaff (process {other}) already serves from {self.path}. "
                "Stop it, or set FLAGSTAFF_DATA_DIR to another folder for this one.",
            ) from error
        try:
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        except OSError as error:
            os.close(descriptor)
            raise self._unusable(_LOCK_FILE, error) from error
        self._lock = descriptor
        for left in self.find_work_folders():
            try:
                shutil.rmtree(left)
            except OSError as error:
                log.warning("leftovers_not_deleted", folder=left.name, error=error.strerror)

    def unlock(self) -> None:
        """Unlock the folder."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def is_locked(self) -> bool:
        """Return whether another process has locked the folder; raises Error UNAVAILABLE if it cannot be determined."""
        if not (self.path / _LOCK_FILE).exists():
            return False
        descriptor = self._open_lock()
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def find_work_folders(self) -> list[Path]:
        """The folders in which commands make new files while they lock this one; left by killed ones if it is not."""
        found = sorted(self.path.glob(f"{WORK_PREFIX}*"))
        return [each for each in found if each.is_dir() and not each.is_symlink()]

    def note_files(self, numbers: Mapping[str, int]) -> None:
        """Write which files this process of the server has open: their numbers (inodes), by name.

        SQLite itself replaces a log after the last process that had it open, so the notes of processes that have ended
        go. If it fails, as on a full disk, other processes do not notice that a file was replaced.
        """
        try:
            with self._held(), (self.path / _LOCK_FILE).open("r+") as file:
                server, *_ = content = file.read().splitlines() or [""]
                kept = [f"{pid} {name} {number}" for pid, name, number in _noted_files(content) if _is_alive(pid)]
                noted = [f"{os.getpid()} {name} {number}" for name, number in numbers.items()]
                file.seek(0)
                file.write("\n".join([server, *kept, *noted]))
                file.truncate()
        except OSError as error:
            log.warning("open_files_not_noted", error=error.strerror)

    def find_replaced_file(self) -> str | None:
        """The name of a file that the server that has locked the folder has open, and that is not there any more.

        None if all are there, or if no server runs. Raises Error UNAVAILABLE if that cannot be determined.
        """
        try:
            content = (self.path / _LOCK_FILE).read_text(errors="replace").splitlines()
        except OSError:
            return None
        others = [each for each in _noted_files(content) if not _is_there(self.path / each.name, each.number)]
        if not others or not self.is_locked():
            return None
        # The lock tells that the server itself is alive, also to a command that cannot see its processes.
        return next((name for pid, name, _ in others if str(pid) == content[0] or _is_alive(pid)), None)

    def _open_lock(self) -> int:
        try:
            # Not through a link, with which the folder's owner could have root's commands write elsewhere.
            return os.open(self.path / _LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise self._unusable(_LOCK_FILE, error) from error

    def _unusable(self, name: str, error: OSError) -> Error:
        """The error for a file that could not be written."""
        message = f"The data directory {self.path} cannot be used: {error.strerror}."
        situation = find_file_situation(self.path / name, self.path)
        return Error(Code.UNAVAILABLE, situation.message if situation else message)

    def secret_key(self) -> str:
        """The secret key in the folder, created by the first call with mode 0600.

        Raises:
            Error: INVALID when the file cannot be used as it is; the message says what to do.
        """
        path = self.path / _SECRET_FILE
        try:
            with self._held():
                if not self.has_secret_key():  # a link to a missing file is not replaced
                    self._make_secret_key(path)
            mode, text = stat.S_IMODE(path.stat().st_mode), path.read_text().strip()
        except UnicodeDecodeError:
            mode, text = 0, ""
        except OSError as error:
            raise Error(Code.INVALID, f"The secret key {path} cannot be read: {error.strerror}.") from error
        if mode & _OTHERS:
            raise Error(
                Code.INVALID,
                f"Other users can read or change the secret key {path} (mode {mode:04o}). Run: chmod 600 {path} "
                "(or, if someone may have read it, delete it and run once: flagstaff serve --new-secret-key. Then all "
                "users must log in again).",
            )
        if len(text) < _SECRET_MIN_LENGTH:
            raise Error(
                Code.INVALID,
                f"The secret key {path} is empty or too short. Restore it from a backup. Or delete it and run once: "
                "flagstaff serve --new-secret-key. Then all users must log in again.",
            )
        return text

    def has_secret_key(self) -> bool:
        """Return whether the folder has the file of the secret key, whatever is in it."""
        return os.path.lexists(self.path / _SECRET_FILE)

    def find_secret_key(self) -> str | None:
        """The secret key in the folder, if any; raises Error UNAVAILABLE when it cannot be read."""
        try:
            return (self.path / _SECRET_FILE).read_text().strip()
        except FileNotFoundError:
            return None
        except UnicodeDecodeError:
            message = f"The secret key {self.path / _SECRET_FILE} is not text."
            raise Error(Code.UNAVAILABLE, message) from None
        except OSError as error:
            message = f"The secret key {self.path / _SECRET_FILE} cannot be read: {error.strerror}."
            raise Error(Code.UNAVAILABLE, message) from error

    def secret_key_mode(self) -> int | None:
        """The permissions of the secret key's file, if there is one."""
        path = self.path / _SECRET_FILE
        return stat.S_IMODE(path.stat().st_mode) if path.exists() else None

    def keep_secret_key(self, key: str) -> None:
        """Write a secret key, replacing any other; raises Error UNAVAILABLE when it cannot be written."""
        path = self.path / _SECRET_FILE
        try:
            descriptor, draft = tempfile.mkstemp(prefix=f"{_SECRET_FILE}.", dir=self.path)
            with os.fdopen(descriptor, "w") as file:
                file.write(key)
                file.flush()
                os.fsync(file.fileno())
            Path(draft).rename(path)
        except OSError as error:
            raise Error(Code.UNAVAILABLE, f"The secret key {path} cannot be written: {error.strerror}.") from error

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Lock out other processes briefly, also while a server has locked the folder."""
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)

    def _make_secret_key(self, path: Path) -> None:
        # Written under another name and renamed, so a crash leaves no partial key, only a draft that the next start
        # replaces.
        draft = self.path / _DRAFT
        draft.unlink(missing_ok=True)
        try:
            descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w") as file:
                file.write(secrets.token_urlsafe(48))
                file.flush()
                os.fsync(file.fileno())
            draft.rename(path)
        except OSError as error:
            raise self._unusable(_SECRET_FILE, error) from error


class _Note(NamedTuple):
    pid: int
    name: str
    number: int


def _noted_files(content: Sequence[str]) -> list[_Note]:
    """The files that processes have open, from the lines of the lock after the server's process id."""
    lines = [line.split() for line in content[1:]]
    fit = [line for line in lines if len(line) == 3 and line[0].isdecimal() and line[2].isdecimal()]
    return [_Note(int(pid), name, int(number)) for pid, name, number in fit]


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return True


def _is_there(path: Path, number: int) -> bool:
    found = find_status(path)
    return found is not None and found.st_ino == number
