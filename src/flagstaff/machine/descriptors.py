"""The number of files and connections that this process may have open."""

import resource

RESERVE = 128
"""Descriptors that connections leave free: for the database, the history's spool, mails and logs."""


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
