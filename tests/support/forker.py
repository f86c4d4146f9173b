"""A program that forks `flagstaff` commands: it imports the package once, which takes most of the time of a start.

Everything after the imports belongs to the command: arguments, environment, directory, streams and the interpreter's
exit. Only password hashes cost less. `forks.py` starts this program, sends requests and receives statuses.
"""

import gc
import json
import os
import resource
import selectors
import signal
import socket
import sys
from collections.abc import Iterable
from typing import Any

gc.disable()  # as `python -m flagstaff` does
import flagstaff.cli.commands  # noqa: E402, F401 -- `main` would load them in each process
from flagstaff.assembly.edge import preload_api  # noqa: E402
from flagstaff.cli.main import main  # noqa: E402
from flagstaff.identity.accounts.passwords import Passwords  # noqa: E402

preload_api("")
gc.freeze()
gc.enable()

# Password hashes are as cheap as in the tests of one process: nearly every test creates an account and signs in, and
# both would take a tenth of a second of processor time. The cost of a hash is tested with its process.
Passwords.__init__.__kwdefaults__ = {
    **(Passwords.__init__.__kwdefaults__ or {}),
    "time_cost": 1,
    "memory_cost_kib": 32,  # the minimum of Argon2
}

_MAX_REQUEST_BYTES = 65_536
_DESCRIPTORS = 4  # standard input, output and error, and the socket for the process id and the status


def fork_commands(control: socket.socket) -> None:
    """Fork for each request, and report each status. Returns in the forked processes; ends when `control` is closed.

    The commands that still run then are killed.
    """
    statuses: dict[int, socket.socket] = {}
    woken, waking = socket.socketpair()
    waking.setblocking(False)
    woken.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(waking.fileno(), warn_on_full_buffer=False)
    with selectors.DefaultSelector() as selector:
        selector.register(control, selectors.EVENT_READ)
        selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fileobj is woken:
                    woken.recv(4096)
                    _tell_ends(statuses)
                    continue
                message, descriptors, _, _ = socket.recv_fds(control, _MAX_REQUEST_BYTES, _DESCRIPTORS)
                if not message:
                    _kill(statuses)
                    sys.exit()
                status = socket.socket(fileno=descriptors.pop())
                process_id = os.fork()
                if process_id == 0:
                    _become(json.loads(message), descriptors)
                    return
                for descriptor in descriptors:
                    os.close(descriptor)
                statuses[process_id] = status
                status.send(b"%d\n" % process_id)


def _kill(process_ids: Iterable[int]) -> None:
    """Kill what still runs: the process of the tests has ended, and may have crashed before it could do so."""
    for process_id in process_ids:
        os.kill(process_id, signal.SIGKILL)


def _tell_ends(statuses: dict[int, socket.socket]) -> None:
    while statuses:
        process_id, status = os.waitpid(-1, os.WNOHANG)
        if process_id == 0:
            return
        with statuses.pop(process_id) as told:
            told.send(b"%d\n" % os.waitstatus_to_exitcode(status))


def _become(request: dict[str, Any], descriptors: list[int]) -> None:
    """Put the forked process into the state of a new one."""
    signal.set_wakeup_fd(-1)
    for ignored in (signal.SIGCHLD, signal.SIGHUP):  # `nohup make test` ignores the second
        signal.signal(ignored, signal.SIG_DFL)
    for number, descriptor in enumerate(descriptors):
        os.dup2(descriptor, number)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    os.environ.clear()
    os.environ.update(request["environ"])
    sys.argv = ["flagstaff", *request["arguments"]]
    if request["directory"] is not None:
        os.chdir(request["directory"])
    for kind, limits in request["limits"]:
        resource.setrlimit(kind, limits)


if __name__ == "__main__":
    fork_commands(socket.socket(fileno=int(sys.argv[1])))
    main()
