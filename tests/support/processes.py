"""Processes that tests start."""

from asyncio.subprocess import Process
from pathlib import Path

from tests.support.forks import ForkedProcess


def children_of(pid: int) -> list[int]:
    """The processes that a process has started and not reaped yet, by its first thread."""
    return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def is_running(pid: int) -> bool:
    """Return whether a process has not ended; one that nobody has waited for counts as ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


async def kill(process: Process | ForkedProcess | None) -> None:
    """Kill a process (SIGKILL) if it is running, and wait for its end."""
    if process is not None and process.returncode is None:
        process.kill()
        await process.wait()


async def terminate(process: Process) -> None:
    """End a process in order (SIGTERM) if it is running, and wait for its end."""
    if process.returncode is None:
        process.terminate()
    await process.wait()
