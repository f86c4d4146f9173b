"""Finds workers whose processes do not run, such as one that got SIGSTOP. It never ends one itself.

A process that is only busy is not found: its thread beats while the event loop works, and when even that thread gets no
turn, the kernel shows that another thread of the process runs, is ready to run or waits for the disk.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

LOOK_SECONDS = 0.25
SILENT_SECONDS = 1.5
"""With the time between two beats and that between two looks, a pause is found within two seconds."""
_LATE_SECONDS = 1.0
_BUSY = "RD"  # runs or is ready to run; waits for the disk
_FREEZER = Path("/sys/fs/cgroup/freezer")


@dataclass(slots=True)
class _Sign:
    pid: int
    beats: int
    since: float


class Pulse:
    """The parent's view of the heartbeats. `look` is to be called at least every `LOOK_SECONDS`."""

    def __init__(self, read_beats: Callable[[int], int], clock: Callable[[], float] = time.monotonic) -> None:
        """`read_beats` returns how often the worker with a slot has beaten."""
        self._read_beats = read_beats
        self._clock = clock
        self._signs: dict[int, _Sign] = {}
        self._looked_at = clock()

    def look(self, pids: Mapping[int, int]) -> list[int]:
        """The slots of the workers, given with their process ids, that have not run for `SILENT_SECONDS`."""
        now = self._clock()
        if now - self._looked_at < LOOK_SECONDS:
            return []
        if now - self._looked_at > _LATE_SECONDS:
            self._signs.clear()  # this process did not run either, as when a terminal stops both with Ctrl-Z
        self._looked_at = now
        return [slot for slot, pid in pids.items() if now - self._last_sign(slot, pid, now).since >= SILENT_SECONDS]

    def _last_sign(self, slot: int, pid: int, now: float) -> _Sign:
        sign, beats = self._signs.get(slot), self._read_beats(slot)
        if sign is None or (sign.pid, sign.beats) != (pid, beats) or _is_busy(pid):
            sign = self._signs[slot] = _Sign(pid, beats, now)
        return sign


def _is_busy(pid: int) -> bool:
    return any(state in _BUSY for state in _thread_states(pid)) and not _is_frozen(pid)


def _is_frozen(pid: int) -> bool:
    """Return whether the process is in a frozen control group of version 1: its threads seem to wait for a disk."""
    try:
        groups = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
        paths = [path for _, kind, path in (line.split(":", 2) for line in groups) if kind == "freezer"]
        return any((_FREEZER / path.lstrip("/") / "freezer.state").read_text() == "FROZEN\n" for path in paths)
    except OSError:
        return False  # a root group has no state


def _thread_states(pid: int) -> list[str]:
    """The state of each thread, as the kernel abbreviates it; of one that has just ended, none."""
    states = []
    for thread in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            states.append(thread.read_text().rpartition(")")[2].split()[0])
        except (FileNotFoundError, ProcessLookupError):
            continue
    return states
