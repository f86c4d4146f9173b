"""How many files and connections this process may have open at once."""

import resource

RESERVE = 128
"""Descriptors that connections leave free: for the database, the history's spool, mails and logs."""


def raise_limit(wanted: int) -> int:
    """Raise the soft limit to `wanted`, as far as the hard one allows; return how many connections it leaves room for.

    Many systems start a process with 1,024, for the sake of programs that use `select`; none of ours does.
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
