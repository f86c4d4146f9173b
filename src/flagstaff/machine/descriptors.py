"""The number of files and connections that this process may have open."""

import resource

from flagstaff.values.errors import Code, Error

_MINIMUM = 64  # an idle server has about 40 open: modules while they are imported, files of the database, and sockets
RESERVE = 128
"""Descriptors that connections leave free: for the database, the history's spool, mails and logs."""


def require_enough() -> None:
    """Raise Error CONFLICT if this process may not open as many files as a server without connections does."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < _MINIMUM:
        raise Error(
            Code.CONFLICT,
            f"The system lets this process open {hard} files. Flagstaff needs at least {_MINIMUM}: raise ulimit -Hn, "
            "or LimitNOFILE= in the unit of systemd.",
        )


def raise_limit(wanted: int) -> int:
    """Raise the soft limit to `wanted`, as far as the hard limit allows; return how many connections fit.

    Many systems start a process with 1,024 for programs that use `select`; Flagstaff does not use it.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    infinity = resource.RLIM_INFINITY
    enough = wanted + RESERVE
    if soft != infinity and soft < enough:
        soft = enough if hard == infinity else min(enough, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == infinity:
        return wanted
    return max(soft - RESERVE, soft // 2)
