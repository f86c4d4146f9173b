"""The loops over flags that every evaluation runs: compiled, if the package was built with a C compiler, or in Python.

Both return the same. Callers look the functions up in this module at each call.
"""

from array import array
from collections.abc import Iterable

from flagstaff.evaluation.python_loops import Answers, Fragment, Prefixes

__all__ = [
    "WHY_NOT_COMPILED",
    "Answers",
    "Fragment",
    "Prefixes",
    "apply_rules",
    "find_buckets",
    "find_variants",
    "join",
    "pack",
    "prepare",
    "select_bytes",
]

WHY_NOT_COMPILED: str | None = None
"""The reason why the loops run in Python; None if they are compiled."""

try:
    from flagstaff.evaluation._loops import apply_rules, find_buckets, find_variants, join, prepare, select_bytes
except ImportError as error:
    from flagstaff.evaluation.python_loops import (
        apply_rules,
        find_buckets,
        find_variants,
        join,
        prepare,
        select_bytes,
    )

    WHY_NOT_COMPILED = str(error)


def pack(numbers: Iterable[int]) -> bytes:
    """Numbers from 0 to 2**32 - 1 in four bytes each, as the loops read them."""
    return array("I", numbers).tobytes()
