"""Runs work that is done in steps."""

from collections.abc import Generator
from typing import TypeVar

T = TypeVar("T")


def finish(steps: Generator[object, None, T]) -> T:
    """The value of a generator."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            value: T = end.value
            return value
