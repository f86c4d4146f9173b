"""Fetched rows that are converted when they are read, which may be in the worker thread."""

import gc
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

# The collector counts allocations less what is freed. Rows that are freed while objects are made of them would leave
# all of these to one pass, of tens of milliseconds, in which no other thread gets the interpreter.
_ROWS_AT_ONCE = 500
_YOUNG = 1


def collected_in_between(rows: Iterable[T]) -> Iterator[T]:
    """The rows; after some of them, the collector looks at what was made of these."""
    for number, row in enumerate(rows, 1):
        yield row
        if number % _ROWS_AT_ONCE == 0 and gc.isenabled():
            gc.collect(_YOUNG)
