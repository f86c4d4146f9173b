"""The processor time of another process, which unlike elapsed time does not depend on how busy the machine is."""

import time

from flagstaff.identity.accounts.passwords import Passwords


def cpu_seconds(passwords: Passwords) -> float:
    """The processor time that the process of these passwords has used; hash once before, so that there is one."""
    process = passwords._worker._process
    assert process is not None
    return time.clock_gettime(~process.pid << 3 | 2)  # the clock of a process: see clock_getcpuclockid(3)
