"""The processor time of another process, which, unlike elapsed time, does not depend on the load of the machine."""

import time

from flagstaff.identity.accounts.passwords import Passwords


def cpu_seconds(passwords: Passwords) -> float:
    """Return the processor time of the process that hashes these passwords. Hash once before, so that it exists."""
    process = passwords._worker._process
    assert process is not None
    return time.clock_gettime(~process.pid << 3 | 2)  # the clock of a process: see clock_getcpuclockid(3)
