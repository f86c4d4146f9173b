"""Prerequisites: results of other flags of the environment that a flag needs to be on."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

MAX_PREREQUISITES = 20

Flag = TypeVar("Flag", bound=Hashable)
"""The name of a flag."""


@dataclass(frozen=True, slots=True)
class Prerequisite:
    """It holds if the flag is on, or if it is off with `enabled` False; with `variants`, only for these variants."""

    flag_key: str
    enabled: bool = True
    variants: tuple[str, ...] = ()


def check_prerequisite(prerequisite: Prerequisite) -> Prerequisite:
    """Refuse variants of a flag that must be off."""
    if prerequisite.variants and not prerequisite.enabled:
        raise ValueError("must not have variants: a flag that is off has none")
    return prerequisite


def check_prerequisites(prerequisites: Sequence[Prerequisite]) -> tuple[Prerequisite, ...]:
    """A flag's prerequisites: at most 20, each about another flag."""
    if len(prerequisites) > MAX_PREREQUISITES:
        raise ValueError(f"must have at most {MAX_PREREQUISITES} items")
    keys = [prerequisite.flag_key for prerequisite in prerequisites]
    twice = next((key for place, key in enumerate(keys) if key in keys[:place]), None)
    if twice is not None:
        raise ValueError(f"must have different flags; {twice} occurs twice")
    return tuple(prerequisites)


def find_cycle(needs: Mapping[str, Sequence[str]], start: str) -> list[str] | None:
    """The shortest chain of flags that need each other from `start` back to it, if there is one.

    `needs` are the flags that each flag needs, by key.
    """
    came_from: dict[str, str] = {}
    waiting = [start]
    for key in waiting:  # grows meanwhile
        for other in needs.get(key, ()):
            if other == start:
                return [start, *reversed(list(_way_back(came_from, key, start))), start]
            if other not in came_from:
                came_from[other] = key
                waiting.append(other)
    return None


def find_cyclic(needs: Mapping[str, Sequence[str]]) -> set[str]:
    """The flags that need each other in a cycle, and those that need them, directly or not.

    `needs` are the flags that each flag needs, by key.
    """
    ordered = _sort(needs)
    return needs.keys() - ordered


def _way_back(came_from: Mapping[str, str], key: str, start: str) -> Iterator[str]:
    while key != start:
        yield key
        key = came_from[key]


def with_needed(needs: Mapping[Flag, Iterable[Flag]], flags: Iterable[Flag]) -> list[Flag]:
    """These flags and all flags that they need, directly or not.

    `needs` are those that each flag needs directly.
    """
    found = dict.fromkeys(flags)
    waiting = list(found)
    for flag in waiting:  # grows meanwhile
        for other in needs.get(flag, ()):
            if other not in found:
                found[other] = None
                waiting.append(other)
    return waiting


def users_of(needs: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """The flags that need each flag directly, by its key. `needs` are those that each flag needs."""
    users: defaultdict[str, list[str]] = defaultdict(list)
    for key, needed in needs.items():
        for other in needed:
            users[other].append(key)
    return dict(users)


def in_order(needs: Mapping[str, Sequence[str]]) -> list[str]:
    """The keys of the flags with prerequisites, each after those that it needs.

    Those that `find_cyclic` finds come last. None are stored: prerequisites in a cycle are refused.
    """
    ordered = _sort(needs)
    return [*ordered, *sorted(needs.keys() - ordered)]


def _sort(needs: Mapping[str, Sequence[str]]) -> list[str]:
    users = users_of(needs)
    missing = {key: len(needed) for key, needed in needs.items()}
    free = [key for key in {**users, **needs} if not missing.get(key)]
    for key in free:  # grows meanwhile
        for user in users.get(key, ()):
            missing[user] -= 1
            if not missing[user]:
                free.append(user)
    return [key for key in free if key in needs]
