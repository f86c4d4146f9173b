"""The parent of the workers: starts, replaces and ends them, and passes on what they tell each other."""

import math
import os
import selectors
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import structlog

from flagstaff.cli.forks import fork
from flagstaff.cli.listeners import Listeners
from flagstaff.cli.parent_channel import FAILED, RELOAD, STARTED, TELL, Channel, describe, read_failure, read_told
from flagstaff.cli.pulse import LOOK_SECONDS, Pulse
from flagstaff.cli.server import AT_ONCE, WITHOUT_DRAIN
from flagstaff.cluster.worker import WorkerBoard
from flagstaff.values.errors import Code, Error

log = structlog.get_logger(__name__)

Work = Callable[[socket.socket], None]
"""The work of a process, given its connection to the parent."""

_STOP_SECONDS = 9.5  # longer than a worker needs, and within the ten seconds that process managers allow
_LEFT_SECONDS = 1.0  # a process that does not run, as in a frozen control group, ends only when it runs again
_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 10.0
_STEADY_SECONDS = 10.0  # a worker that has run for this long did not fail because of how it started
_MANY_FAILURES = 2  # in a row, after which a worker's connections are left to the others


@dataclass(slots=True)
class _Process:
    pid: int
    channel: Channel
    began: float
    is_worker: bool
    has_started: bool = False
    has_ended: bool = False
    killed_at: float | None = None
    is_left: bool = False
    failure: Error | None = None


@dataclass(slots=True)
class _Slot:
    """A worker and its successors."""

    number: int
    process: _Process | None = None
    starts_at: float = 0.0
    starts: int = 0
    failures: int = 0  # in a row


class Parent:
    """Runs workers, one for each slot of the board."""

    def __init__(
        self,
        listeners: Listeners,
        board: WorkerBoard,
        *,
        work: Callable[[int, socket.socket], None],
        signals: Sequence[signal.Signals],
        drain_seconds: int,
    ) -> None:
        """`work` serves in a process of its own, given its slot and its connection to the parent.

        After SIGTERM, workers take `drain_seconds` longer to stop.
        """
        self._listeners = listeners
        self._board = board
        self._pulse = Pulse(board.heartbeats.read)
        self._work = work
        self._signals = signals
        self._drain_seconds = drain_seconds
        self._slots = [_Slot(number) for number in range(board.count)]
        self._selector = selectors.DefaultSelector()
        self._has_served = False
        self._kills_at: float | None = None  # once it has been told to stop
        self._failure: Error | None = None
        self._killed = 0

    def run(self, prepare: Work, on_prepared: Callable[[], None], on_served: Callable[[], None]) -> int:
        """Do `prepare` in a process of its own, then serve until a signal; return how many workers had to be killed.

        `on_prepared` is called before the first worker starts, and `on_served` once all workers serve.

        Raises:
            Error: what `prepare` or `on_prepared` raises, or the first worker that could not start.
        """
        with self._signals_received():
            try:
                self._prepare(prepare)
                if self._kills_at is None:
                    on_prepared()
                while self._kills_at is None or not all(map(self._is_left, self._processes())):
                    self._start_due()
                    self._wait()
                    if not self._has_served and len(self._board.serving) == self._board.count:
                        self._has_served = True
                        on_served()
            finally:
                for process in self._processes():  # after a failure of the parent itself, or one that is left
                    os.kill(process.pid, signal.SIGKILL)
        if self._failure is not None:
            raise self._failure
        return self._killed

    def _prepare(self, prepare: Work) -> None:
        first = self._slots[0]
        first.process = self._begin(prepare)
        while first.process is not None:
            self._wait()

    def _start_due(self) -> None:
        for slot in self._slots:
            if self._kills_at is None and slot.process is None and time.monotonic() >= slot.starts_at:
                try:
                    self._start(slot)
                except (OSError, Error) as error:  # such as for lack of memory: the other workers go on
                    if not self._has_served:
                        raise
                    pause = self._wait_longer(slot)
                    log.error("worker_not_started", slot=slot.number, reason=str(error), tried_again_in=pause)  # noqa: TRY400

    def _start(self, slot: _Slot) -> None:
        self._listeners.take(slot.number)  # while this process still has all of them
        slot.process = self._begin(partial(self._work, slot.number), is_worker=True)
        slot.starts += 1
        self._record_state(slot)

    def _begin(self, work: Work, *, is_worker: bool = False) -> _Process:
        ours, theirs = socket.socketpair()

        def do() -> int:
            ours.close()
            self._selector.close()
            for process in self._processes():
                process.channel.close()
            try:
                work(theirs)
            except Error as error:
                theirs.sendall(f"{FAILED}{describe(error)}\n".encode())
                return 1
            return 0

        try:
            pid = fork(do)
        except OSError:
            ours.close()
            raise
        finally:
            theirs.close()
        process = _Process(pid, Channel(ours), time.monotonic(), is_worker)
        self._selector.register(process.channel, selectors.EVENT_READ, process)
        return process

    def _wait(self) -> None:
        """Handle what happens until the next thing is due."""
        for key, events in self._selector.select(self._pause_seconds()):
            if key.data is None:
                self._take_signals(os.read(key.fd, 256))
            elif not key.data.has_ended and events & selectors.EVENT_WRITE:
                self._send(key.data)
            elif not key.data.has_ended:
                self._hear(key.data)
        self._kill_paused()
        if self._kills_at is not None and time.monotonic() >= self._kills_at:
            self._kill_all()

    def _pause_seconds(self) -> float | None:
        if self._kills_at is not None:
            due = self._kills_at
        else:
            due = min((slot.starts_at for slot in self._slots if slot.process is None), default=math.inf)
        if any(process.is_worker for process in self._processes()):
            due = min(due, time.monotonic() + LOOK_SECONDS)
        return None if due == math.inf else max(0.0, due - time.monotonic())

    def _hear(self, process: _Process) -> None:
        for line in process.channel.read():
            if line == STARTED:
                process.has_started = True
                for slot in self._slots:
                    if slot.process is process:
                        self._record_state(slot)
            elif line.startswith(FAILED):
                process.failure = read_failure(line.removeprefix(FAILED))
            elif line.startswith(TELL):
                self._tell(process, *read_told(line.removeprefix(TELL)))

    def _tell(self, process: _Process, to: int | None, line: str) -> None:
        """Pass on what a worker tells the one in a slot, or all others."""
        for slot in self._slots:
            other = slot.process
            if other is not None and other is not process and to in {None, slot.number}:
                self._send(other, line)

    def _send(self, process: _Process, *lines: str) -> None:
        """Send lines, and what has been waiting, as far as the process takes it."""
        process.channel.send(*lines)
        writing = selectors.EVENT_WRITE if process.channel.is_waiting else 0
        self._selector.modify(process.channel, selectors.EVENT_READ | writing, process)

    def _take_signals(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGCHLD:
                self._reap()
            elif number == signal.SIGINT and self._kills_at is not None:
                self._pass_on(AT_ONCE)
            elif number in self._signals:
                self._stop(drains=number == signal.SIGTERM)

    def _stop(self, *, drains: bool) -> None:
        if self._kills_at is None:
            self._kills_at = time.monotonic() + _STOP_SECONDS + (self._drain_seconds if drains else 0)
            self._listeners.close()
            self._pass_on(signal.SIGTERM if drains else WITHOUT_DRAIN)

    def _kill_all(self) -> None:
        for process in self._processes():
            self._kill(process, "It did not stop in time.")
        self._kills_at = math.inf

    def _kill_paused(self) -> None:
        """Kill workers that do not run, so that connections which wait for them get their successors."""
        workers = {slot.number: slot.process for slot in self._slots if slot.process and slot.process.is_worker}
        for number in self._pulse.look({number: process.pid for number, process in workers.items()}):
            self._kill(workers[number], "Its process did not run for two seconds, probably because it was paused.")

    def _kill(self, process: _Process, reason: str) -> None:
        if process.killed_at is not None:
            return  # it ends as soon as the kernel can end it
        process.killed_at = time.monotonic()
        log.error("worker_killed", pid=process.pid, reason=reason)
        os.kill(process.pid, signal.SIGKILL)
        self._killed += self._kills_at is not None

    def _is_left(self, process: _Process) -> bool:
        """Return whether a stop waits no longer for a process that was killed; the kernel ends it when it can."""
        if process.killed_at is None or time.monotonic() < process.killed_at + _LEFT_SECONDS:
            return False
        if not process.is_left:
            process.is_left = True
            log.error("worker_left", pid=process.pid, reason="It was killed, but is frozen. It ends when it is thawed.")
        return True

    def _pass_on(self, number: signal.Signals) -> None:
        for process in self._processes():
            os.kill(process.pid, number)  # it has not been reaped, so no other process has its id

    def _reap(self) -> None:
        for slot in self._slots:
            if slot.process is not None:
                pid, status = os.waitpid(slot.process.pid, os.WNOHANG)
                if pid:
                    self._record_end(slot, slot.process, os.waitstatus_to_exitcode(status))

    def _record_end(self, slot: _Slot, process: _Process, status: int) -> None:
        self._hear(process)  # what it said last
        process.has_ended = True
        self._selector.unregister(process.channel)
        process.channel.close()
        slot.process = None
        self._record_state(slot)
        self._board.end_lease(slot.number)
        if self._kills_at is not None or (status == 0 and not process.is_worker):
            return
        if not self._has_served:
            self._failure = process.failure or Error(
                Code.UNAVAILABLE, f"A worker ended with status {status} before all of them served. See the log."
            )
            self._stop(drains=False)
            return
        self._tell(process, None, RELOAD)  # it may have made a change that it could not tell
        self._replace_later(slot, process, status)

    def _replace_later(self, slot: _Slot, process: _Process, status: int) -> None:
        if time.monotonic() - process.began >= _STEADY_SECONDS:
            slot.failures = 0
        pause = self._wait_longer(slot)
        if slot.failures >= _MANY_FAILURES:
            self._listeners.leave_to_others(slot.number)
        reason = process.failure.message if process.failure else None
        log.warning("worker_ended", slot=slot.number, pid=process.pid, status=status, reason=reason, replaced_in=pause)

    def _wait_longer(self, slot: _Slot) -> float:
        """Note a failure, and return for how many seconds the slot now stays empty."""
        slot.failures += 1
        pause = min(_FIRST_PAUSE_SECONDS * 2.0 ** min(slot.failures - 1, 10), _LONGEST_PAUSE_SECONDS)
        slot.starts_at = time.monotonic() + pause
        return pause

    def _record_state(self, slot: _Slot) -> None:
        is_serving = slot.process is not None and slot.process.has_started
        self._board.record_state(slot.number, is_serving=is_serving, restarts=max(0, slot.starts - 1))

    def _processes(self) -> list[_Process]:
        return [slot.process for slot in self._slots if slot.process is not None]

    @contextmanager
    def _signals_received(self) -> Iterator[None]:
        """Let `_wait` read the numbers of the signals that arrive."""
        reading, writing = socket.socketpair()
        with reading, writing:
            writing.setblocking(False)
            self._selector.register(reading, selectors.EVENT_READ)
            signal.set_wakeup_fd(writing.fileno(), warn_on_full_buffer=False)
            for number in (*self._signals, signal.SIGCHLD):
                signal.signal(number, lambda *_: None)
            try:
                yield
            finally:
                signal.set_wakeup_fd(-1)
                self._selector.close()
