"""The machine that the bench runs on: its cores, its tools, and the resources that a process uses."""

import os
import shutil
import socket
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

_TOOLS = ("wrk", "nginx", "taskset")
_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class NotReadyError(Exception):
    """The bench cannot run. The message says what is missing and what to do."""


@dataclass(frozen=True)
class Cores:
    """The core for the servers and the core for the load."""

    server: int
    load: int


def check_tools() -> None:
    """Raise NotReadyError if a program is missing."""
    # Debian installs nginx in a directory that is only in root's PATH.
    os.environ["PATH"] += os.pathsep + "/usr/sbin"
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if missing:
        raise NotReadyError(
            f"The bench needs {' and '.join(missing)}. On Debian and Ubuntu: apt-get install wrk nginx-light util-linux"
        )


def choose_cores() -> Cores:
    """One core for the server under load and another for the load."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        raise NotReadyError("The bench needs two cores: one for the server and one for the load.")
    return Cores(cores[0], cores[1])


def free_port() -> int:
    """A free port."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


class CpuTime(NamedTuple):
    """Processor time, in seconds: in the program and in the kernel."""

    user: float
    system: float


def cpu_time(pid: int) -> CpuTime:
    """The processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return CpuTime(int(fields[11]) / _TICKS_PER_SECOND, int(fields[12]) / _TICKS_PER_SECOND)


def cpu_seconds(pid: int) -> float:
    """The processor time that a process has used, in the program and in the kernel."""
    return sum(cpu_time(pid))


def resident_mib(pid: int, *, peak: bool = False) -> float:
    """The memory that a process uses, or its maximum so far."""
    wanted = "VmHWM:" if peak else "VmRSS:"
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(wanted):
            return int(line.split()[1]) / 1024
    raise NotReadyError("This system does not report the memory of a process. Run the bench on Linux.")


class Scheduled(NamedTuple):
    """The seconds for which processes have run, those for which they have waited for a processor, and how often."""

    ran: float
    waited: float
    slices: int

    def plus(self, other: "Scheduled") -> "Scheduled":
        """Those of these and of other processes."""
        return Scheduled(self.ran + other.ran, self.waited + other.waited, self.slices + other.slices)

    def since(self, before: "Scheduled") -> "Scheduled":
        """What has come since an earlier reading."""
        return Scheduled(self.ran - before.ran, self.waited - before.waited, self.slices - before.slices)


def scheduled(processes: Iterable[int]) -> Scheduled:
    """Those of all threads of these processes; nothing of one that has ended, as PostgreSQL's workers do."""
    total = Scheduled(0.0, 0.0, 0)
    for process in processes:
        with suppress(FileNotFoundError, ProcessLookupError):
            for task in Path(f"/proc/{process}/task").iterdir():
                ran, waited, slices = map(int, (task / "schedstat").read_text().split())
                total = total.plus(Scheduled(ran / 1e9, waited / 1e9, slices))
    return total
