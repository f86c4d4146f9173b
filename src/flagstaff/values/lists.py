"""Lists, whole or in parts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a list after a position, which is the values that the list is ordered by; None means no bound."""

    limit: int | None = None
    after: tuple[Any, ...] | None = None

    def of(self, items: Sequence[T], position: Callable[[T], tuple[Any, ...]], *, descending: bool) -> list[T]:
        """This part of a whole list in the order of its positions."""
        after = self.after
        if after is not None:
            items = [each for each in items if (position(each) < after if descending else position(each) > after)]
        return list(items[: self.limit])


WHOLE = Window()


def parts_of(items: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """A list in parts of this size; the last one may be shorter."""
    return (items[start : start + size] for start in range(0, len(items), size))


def empty(*collections: list[Any] | dict[Any, Any]) -> None:
    """Empty collections that nobody needs any more, item by item.

    To free thousands of objects at once takes milliseconds, in which no other thread gets the interpreter.
    """
    for each in collections:
        remove = each.popitem if isinstance(each, dict) else each.pop
        while each:
            remove()


def dismantle(value: object) -> None:
    """Empty decoded JSON that nobody needs any more, and all lists and dicts in it, one by one."""
    left = [value]
    while left:
        each = left.pop()
        if isinstance(each, dict):
            left += each.values()
            each.clear()
        elif isinstance(each, list):
            left += each
            each.clear()
