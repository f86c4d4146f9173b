"""Fair bounds of what accounts and their projects take of something that all share."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import TypeVar

Account = TypeVar("Account")
Project = TypeVar("Project")


def fair_bounds(
    sizes: Mapping[tuple[Account, Project], int], *, of_project: int, of_all: int
) -> dict[tuple[Account, Project], int]:
    """How much each project of an account may keep of its size: what is beyond a project's bound goes first.

    If all are too much together, the largest accounts lose as much as brings them to one level, and of an account the
    largest projects. So nobody loses anything who has less than a fair share.
    """
    bounds = {place: min(size, of_project) for place, size in sizes.items()}
    projects: defaultdict[Account, dict[Project, int]] = defaultdict(dict)
    for (account, project), size in bounds.items():
        projects[account][project] = size
    of_account = find_level([sum(each.values()) for each in projects.values()], of_all)
    levels = {account: find_level(each.values(), of_account) for account, each in projects.items()}
    return {(account, project): min(size, levels[account]) for (account, project), size in bounds.items()}


def find_level(sizes: Collection[int], total: int) -> int:
    """The highest bound of each size with which all of them are at most a total together."""
    left = total
    for place, size in enumerate(sorted(sizes)):
        level = left // (len(sizes) - place)
        if size > level:
            return level
        left -= size
    return max(sizes, default=0)
