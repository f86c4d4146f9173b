"""The loops over flags that every evaluation runs: compiled, if the package was built with a C compiler, or in Python.

Both return the same. Callers look the functions up in this module at each call.
"""

__all__ = ["WHY_NOT_COMPILED", "find_buckets", "find_variants", "join"]

WHY_NOT_COMPILED: str | None = None
"""Why the loops run in Python; None if they are compiled."""

try:
    from flagstaff.evaluation._loops import find_buckets, find_variants, join
except ImportError as error:
    from flagstaff.evaluation.python_loops import find_buckets, find_variants, join

    WHY_NOT_COMPILED = str(error)
