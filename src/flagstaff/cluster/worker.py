"""A worker: one of the processes that serve on one port, forked from a parent that does not serve itself."""

import mmap
import socket
import struct
import time
import zlib
from dataclasses import dataclass

from flagstaff.cluster.worker_heartbeats import Heartbeats
from flagstaff.limits.shared_memory import SharedMemory
from flagstaff.telemetry.metrics import Metrics

# Memory that is not written to is not used, so the room for figures costs nothing.
_FIGURES_BYTES = 4 * 1024 * 1024
_REPORT_BYTES = 1024
_STATE = struct.Struct("=II")  # whether the worker serves, and how often it was replaced
_TEXT = struct.Struct("=III")  # a text's number, its length, and the checksum of both
_NUMBER = struct.Struct("@I")  # native, so that it is copied at once
_LEASE = struct.Struct("=16sII")  # the worker's id, how often it has renewed its lease, and whether it is leaving
_LEASE_BYTES = 64
_FIGURES_NUMBER_AT, _LEASE_NUMBER_AT, _FORMER_LEASE_NUMBER_AT, _REPORT_NUMBER_AT = 64, 128, 192, 256
_REPORT_AT, _LEASE_AT, _FORMER_LEASE_AT = 512, 2560, 2688
_HEAD_BYTES = mmap.PAGESIZE
_SLOT_BYTES = _HEAD_BYTES + 2 * _FIGURES_BYTES
_READ_ATTEMPTS = 100


class _Text:
    """Bytes with one writer. They are written to one of two places in turn, with their number and a checksum.

    So a worker that is killed while it writes leaves its earlier bytes, and half-written bytes are never read as a
    text.
    """

    def __init__(self, memory: mmap.mmap, number_at: int, start: int, size: int) -> None:
        self._memory = memory
        self._number_at = number_at
        self._start = start
        self._size = size

    def write(self, data: bytes) -> bool:
        """Replace the bytes; False if there is no room for them."""
        if len(data) > self._size - _TEXT.size:
            return False
        number = (self._number() + 1) & 0xFFFFFFFF
        place = self._place(number)
        self._memory[place + _TEXT.size : place + _TEXT.size + len(data)] = data
        _TEXT.pack_into(self._memory, place, number, len(data), zlib.crc32(data, number))
        _NUMBER.pack_into(self._memory, self._number_at, number)
        return True

    def read(self) -> bytes:
        """The bytes that were written last, or if they are damaged, those before; empty if there are none."""
        for _ in range(_READ_ATTEMPTS):
            number = self._number()
            for each in (number, number - 1):
                if each > 0 and (data := self._find(each)) is not None:
                    return data
            if number == self._number():
                return b""
        return b""

    def _find(self, number: int) -> bytes | None:
        """The text with this number; None if its place has another one, or a part of it."""
        place = self._place(number)
        found, length, checksum = _TEXT.unpack_from(self._memory, place)
        if found != number or length > self._size - _TEXT.size:
            return None
        data = self._memory[place + _TEXT.size : place + _TEXT.size + length]
        return data if zlib.crc32(data, number) == checksum else None

    def _number(self) -> int:
        number: int = _NUMBER.unpack_from(self._memory, self._number_at)[0]
        return number

    def _place(self, number: int) -> int:
        return self._start + (number % 2) * self._size


class WorkerBoard:
    """Memory that the workers and their parent share, with what they know of each other.

    It takes no lock, because any of them may be killed at any moment. Each part has one writer: the parent writes the
    workers' states, and each worker its own figures and reports.
    """

    def __init__(self, count: int) -> None:
        """Called by the parent; the workers inherit the memory."""
        self.count = count
        self.began = time.time()  # the workers' counters go on when one of them is replaced
        memory = self._memory = mmap.mmap(-1, count * _SLOT_BYTES)
        starts = range(0, count * _SLOT_BYTES, _SLOT_BYTES)

        def texts(number_at: int, at: int, size: int) -> list[_Text]:
            return [_Text(memory, start + number_at, start + at, size) for start in starts]

        self._figures = texts(_FIGURES_NUMBER_AT, _HEAD_BYTES, _FIGURES_BYTES)
        self._reports = texts(_REPORT_NUMBER_AT, _REPORT_AT, _REPORT_BYTES)
        self._leases = texts(_LEASE_NUMBER_AT, _LEASE_AT, _LEASE_BYTES)
        self._former_leases = texts(_FORMER_LEASE_NUMBER_AT, _FORMER_LEASE_AT, _LEASE_BYTES)
        self.limits = SharedMemory(count)
        """Through which workers share the limits, unless there is a Valkey."""
        self.heartbeats = Heartbeats(count)

    def record_state(self, slot: int, *, is_serving: bool, restarts: int) -> None:
        """Note whether a worker serves, and how often it was replaced."""
        _STATE.pack_into(self._memory, slot * _SLOT_BYTES, is_serving, restarts)

    @property
    def serving(self) -> list[int]:
        """The slots of the workers that serve."""
        return [slot for slot in range(self.count) if self._state(slot)[0]]

    @property
    def restarts(self) -> int:
        """The number of times that workers were replaced."""
        return sum(self._state(slot)[1] for slot in range(self.count))

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the number of workers, and of their replacements."""
        metrics.add_gauge("workers", "Workers that serve.", lambda: len(self.serving), max)
        metrics.add_counter("worker_restarts", "Replacements of workers.", lambda: self.restarts, max)

    def problems(self) -> list[str]:
        """A sentence about workers that are missing, if there are any."""
        missing = self.count - len(self.serving)
        return [f"{missing} of {self.count} workers are not running."] if missing else []

    def write_lease(self, slot: int, worker: str, renewals: int, *, is_leaving: bool) -> None:
        """Note that a worker has renewed its lease, or is leaving."""
        self._leases[slot].write(_LEASE.pack(worker.encode(), renewals, is_leaving))

    def end_lease(self, slot: int) -> None:
        """Note that a worker has ended. Its successor may write its own row at any time after."""
        if lease := self._leases[slot].read():
            worker, renewals, _ = _LEASE.unpack(lease)
            self._former_leases[slot].write(_LEASE.pack(worker, renewals, True))
            self._leases[slot].write(b"")

    def read_leases(self) -> list[tuple[int, str, int, bool]]:
        """The slots of the workers and of those before them, their ids, renewals, and whether they are leaving."""
        rows = [
            (slot, *_LEASE.unpack(lease))
            for slot in range(self.count)
            for text in (self._leases[slot], self._former_leases[slot])
            if (lease := text.read())
        ]
        return [
            (slot, worker.rstrip(b"\0").decode(), renewals, bool(is_leaving))
            for slot, worker, renewals, is_leaving in rows
        ]

    def write_report(self, slot: int, report: bytes) -> bool:
        """Replace what a worker says of itself; False if there is no room for it."""
        return self._reports[slot].write(report)

    def read_report(self, slot: int) -> bytes:
        """Return the last report of a worker, or of one before it in its slot; empty if there is none."""
        return self._reports[slot].read()

    def write_figures(self, slot: int, figures: bytes) -> bool:
        """Replace the figures of a worker; False if there is no room for them."""
        return self._figures[slot].write(figures)

    def read_figures(self, slot: int) -> bytes:
        """The figures that a worker, or its predecessor, wrote last; empty if there are none."""
        return self._figures[slot].read()

    def _state(self, slot: int) -> tuple[bool, int]:
        is_serving, restarts = _STATE.unpack_from(self._memory, slot * _SLOT_BYTES)
        return bool(is_serving), restarts


@dataclass(frozen=True, slots=True)
class Worker:
    """This process as a worker. `slot`, from 0, stays the same when a worker is replaced; the first has more duties.

    `parent` is the connection to the parent process, in lines of text. The parent has read the secret key once, so that
    a worker that replaces another has the same one, whatever has become of its file.
    """

    slot: int
    board: WorkerBoard
    parent: socket.socket
    secret_key: str

    @property
    def is_first(self) -> bool:
        """True if this worker does what only one of them must do."""
        return self.slot == 0

    def tell_started(self) -> None:
        """Tell the parent that this worker serves."""
        self.parent.sendall(b"started\n")
