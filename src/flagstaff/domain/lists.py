"""Lists: whole, or in part."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a list that follows a position, the values by which the list is ordered; None stands for no bound."""

    limit: int | None = None
    after: tuple[Any, ...] | None = None


WHOLE = Window()
