"""Detecting paused processes: real ones, which the kernel describes, with a clock that the test sets."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from flagstaff.cli.pulse import LOOK_SECONDS, SILENT_SECONDS, Pulse

WAITS = "import sys; print(flush=True); sys.stdin.read()"
WORKS = "print(flush=True)\nwhile True: pass"

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has workers")


class Watched:
    """A pulse, with its beats and its clock."""

    def __init__(self) -> None:
        self.now = 100.0
        self.beats = 1
        self.pulse = Pulse(lambda _: self.beats, lambda: self.now)

    def looks(self, pid: int, seconds: float, between: Callable[[], None] = lambda: None) -> list[list[int]]:
        """Return the results of looks that are some seconds apart."""
        found = []
        for _ in range(round(seconds / LOOK_SECONDS)):
            self.now += LOOK_SECONDS
            between()
            found.append(self.pulse.look({7: pid}))
        return found


@contextmanager
def running(program: str) -> Iterator[int]:
    """Run a program that prints when it has begun; yield its process id."""
    with ExitStack() as opened:
        pipe = subprocess.PIPE
        process = opened.enter_context(subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe))
        opened.callback(process.kill)
        assert process.stdout is not None
        assert process.stdout.readline() == b"\n"
        yield process.pid


def until_state(pid: int, state: str) -> None:
    while Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != state:
        pass


@pytest.mark.parametrize("program", [WAITS, WORKS])
def test_a_stopped_process_is_found_once_it_has_been_silent_for_long_enough(program: str) -> None:
    watched = Watched()
    with running(program) as pid:
        os.kill(pid, signal.SIGSTOP)
        until_state(pid, "T")
        found = watched.looks(pid, SILENT_SECONDS + LOOK_SECONDS)
    assert found == [[]] * (len(found) - 1) + [[7]]


def test_a_process_that_waits_for_ever_without_a_beat_is_found() -> None:
    watched = Watched()
    with running(WAITS) as pid:
        until_state(pid, "S")
        assert watched.looks(pid, SILENT_SECONDS + LOOK_SECONDS)[-1] == [7]


def test_a_process_whose_only_thread_works_without_a_beat_is_not_found() -> None:
    watched = Watched()
    with running(WORKS) as pid:
        assert watched.looks(pid, 60) == [[]] * 240


def test_a_process_that_beats_is_not_found_whatever_its_state() -> None:
    watched = Watched()

    def beat() -> None:
        watched.beats += 1

    with running(WAITS) as pid:
        os.kill(pid, signal.SIGSTOP)
        assert watched.looks(pid, 60, beat) == [[]] * 240


def test_a_pause_of_the_watching_process_begins_the_count_again() -> None:
    watched = Watched()
    with running(WAITS) as pid:
        until_state(pid, "S")
        assert watched.looks(pid, SILENT_SECONDS) == [[]] * round(SILENT_SECONDS / LOOK_SECONDS)
        watched.now += 60
        assert watched.looks(pid, SILENT_SECONDS) == [[]] * round(SILENT_SECONDS / LOOK_SECONDS)
        assert watched.looks(pid, LOOK_SECONDS) == [[7]]


def test_a_successor_is_not_taken_for_the_worker_that_was_silent() -> None:
    watched = Watched()
    with running(WAITS) as one, running(WAITS) as other:
        until_state(other, "S")
        watched.looks(one, SILENT_SECONDS)
        assert watched.looks(other, SILENT_SECONDS)[-1] == []
