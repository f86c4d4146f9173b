"""Runs work that is split into steps."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def finish(steps: Generator[object, None, T]) -> T:
    """Run a generator to its end; return its value."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value
