"""How a setting is declared: a field of a dataclass that says how its text is read, and what it means."""

from collections.abc import Callable
from dataclasses import field
from typing import Any

from flagstaff.settings.values import whole_number_parser
from flagstaff.values.quotas import CharactersQuota, Quota

count = whole_number_parser(1, 1_000_000)
amount = whole_number_parser(1, 100_000_000)


def setting(
    parse: Callable[[str], object],
    default: str | None,
    meaning: str,
    *,
    variable: str = "",
    alias: str = "",
    is_secret: bool = False,
    make: Callable[[Any, str], object] | None = None,
) -> Any:
    """A setting: `parse` reads its variable, or `default`, which may refer to earlier settings.

    `make` makes the value of what `parse` returns and the variable's name. A secret is never shown, and can also be
    read from a file.
    """
    facts = {"parse": parse, "default": default, "meaning": meaning, "variable": variable, "alias": alias, "make": make}
    return field(repr=not is_secret, metadata=facts)


def quota(resources: str, place: str, default: str, meaning: str = "", *, remedy: str = "Delete") -> Any:
    """A quota: how many resources a place may have, and what is to be done with those that are no longer used."""
    return setting(
        count,
        default,
        meaning or f"The maximum number of {resources} per {place}.",
        make=lambda maximum, variable: Quota(maximum, place, resources, variable, remedy),
    )


def quota_of_characters(parts: str, default: str, meaning: str) -> Any:
    """A quota of the characters of parts of resources."""
    return setting(amount, default, meaning, make=lambda maximum, variable: CharactersQuota(maximum, parts, variable))
