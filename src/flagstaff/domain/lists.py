"""Lists, whole or in parts."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a list after a position, which is the values that the list is ordered by; None means no bound."""

    limit: int | None = None
    after: tuple[Any, ...] | None = None


WHOLE = Window()
