"""Describing the invalid fields of a request."""

from collections.abc import Collection
from difflib import get_close_matches

# More would not help: each takes time on the event loop, and a body can contain many thousands.
MAX_FIELD_ERRORS = 20
_GUESS_MAX_LENGTH = 64  # a longer name resembles no field, and comparing it is slow


def unknown_field(name: str, known: Collection[str]) -> str:
    """The message for a field that is not one of the known ones. It suggests the one with a similar name."""
    near = get_close_matches(name, known, n=1) if len(name) <= _GUESS_MAX_LENGTH else []
    others = f"known fields are {', '.join(known)}" if known else "this operation has none"
    return f"is not a known field; {f'did you mean {near[0]}?' if near else others}"
