"""Tells other instances the hits of keys. Each technology that can do it has a module beside this one."""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

SLOTS = 240
"""A window has this many slots. All hits in a slot share one time."""


class UnreachableError(Exception):
    """The message may or may not have arrived. The error's text says why."""


class FromNow:
    """The position of an instance that leaves out what the others have told so far."""


FROM_NOW = FromNow()


class Told(NamedTuple):
    """A message of an instance about a key, which is named by a digest that others make in the same way."""

    digest: bytes
    window_seconds: int
    hits: int
    """Since the last time; negative if more were forgiven."""
    position: object
    """Up to where the instance knows the hits of others, as `Heard` said. None: it knows nothing about the key."""


class Heard(NamedTuple):
    """The answer: the others' hits since the position."""

    hits: Sequence[tuple[float, int]]
    """Ages in seconds and numbers of hits, oldest first. Negative numbers take back the latest hits before them."""
    position: object


class Exchange(Protocol):
    """A channel through which instances tell each other hits. One caller at a time."""

    @property
    def participants(self) -> int:
        """The number of instances that take part, this one included."""

    @property
    def advice(self) -> str:
        """Return advice for an operator when the others cannot be reached."""

    async def join(self) -> None:
        """Begin to take part, or say that this instance still does; raises UnreachableError."""

    async def tell(self, told: Sequence[Told]) -> Sequence[Heard]:
        """Tell the others, and return what they have told about the same keys; raises UnreachableError."""

    async def close(self) -> None:
        """Leave the others, and close what is open."""
