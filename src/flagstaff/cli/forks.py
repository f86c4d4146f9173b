"""Forks processes that end with their parent, however it ends. The parent must have no thread and no event loop."""

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable

PARENT_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
"""The signals that the parent handles. It passes on what the others shall obey."""

_IGNORED = (signal.SIGINT, signal.SIGHUP)  # a terminal sends them to every process of its group
_PR_SET_PDEATHSIG = 1


def fork(work: Callable[[], int]) -> int:
    """Call `work` in a new process, which ends with the status that it returns. Return the process's id."""
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, PARENT_SIGNALS)  # until the new process has its own handlers
    try:
        pid = os.fork()
    except OSError:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        raise
    if pid == 0:
        _become(work, parent, mask)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return pid


def _become(work: Callable[[], int], parent: int, mask: set[int | signal.Signals]) -> None:
    """Never returns: nothing of the parent that is further up the stack may run in this process."""
    status = 1
    try:
        _end_with(parent)
        signal.set_wakeup_fd(-1)
        for number in PARENT_SIGNALS:
            signal.signal(number, signal.SIG_IGN if number in _IGNORED else signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        status = work()
    except BaseException:  # noqa: BLE001 - the edge of the process
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def _end_with(parent: int) -> None:
    """Let the kernel kill this process when its parent ends, also by SIGKILL and while this process is paused."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:  # it ended before the call
        os._exit(1)
