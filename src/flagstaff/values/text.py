"""Checks for all texts. They return the value to store, or raise a ValueError that says what is accepted."""

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")

NAME_MAX_LENGTH = 255
DESCRIPTION_MAX_LENGTH = 10_000


def check_text(value: str) -> str:
    """Refuse NUL, which PostgreSQL cannot store, and lone surrogates, which UTF-8 cannot encode."""
    if "\x00" in value:
        raise ValueError("must not contain the NUL character")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("must be valid Unicode, without lone surrogates") from None
    return value


def check_length(value: str, minimum: int, maximum: int) -> str:
    """Refuse fewer than `minimum` or more than `maximum` characters."""
    if len(value) < minimum:
        raise ValueError("must not be empty" if minimum == 1 else f"must be at least {minimum} characters long")
    if len(value) > maximum:
        raise ValueError(f"must be at most {maximum:,} characters long")
    return value


def check_name(value: str) -> str:
    """A name of a project, environment or flag: trimmed, 1 to 255 characters."""
    return check_length(check_text(value).strip(), 1, NAME_MAX_LENGTH)


def check_description(value: str) -> str:
    """A description: up to 10,000 characters."""
    return check_length(check_text(value), 0, DESCRIPTION_MAX_LENGTH)


def one_line(value: str, max_length: int) -> str:
    """A text that a client sent about itself, on one line, without what a terminal or a reader would act upon.

    Whitespace, control characters, marks of direction and lone surrogates each end a word.
    """
    if not (value.isascii() and value.isprintable()):
        value = "".join(character if character.isprintable() else " " for character in value)
    return " ".join(value.split())[:max_length].strip()


def name_some(items: Sequence[T], most: int, name: Callable[[T], str] = str) -> str:
    """The names of the first items, and how many more there are: `a, b and 3 more`."""
    named = ", ".join(map(name, items[:most]))
    return f"{named} and {len(items) - most} more" if len(items) > most else named
