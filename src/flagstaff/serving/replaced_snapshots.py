"""Frees large environments that have been replaced piece by piece, once nobody uses them."""

from itertools import chain

from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot, pieces_of
from flagstaff.values.lists import empty

_FLAGS_AT_ONCE = 200  # so many of an environment are freed at once: a task costs more


def find_replaced(before: ProjectSnapshot, now: ProjectSnapshot | None) -> list[EnvironmentSnapshot]:
    """The large environments that only the earlier snapshot has."""
    kept = set(map(id, now.environments.values())) if now is not None else ()
    present = before.environments.values()
    return [each for each in present if id(each) not in kept and len(each.places) > _FLAGS_AT_ONCE]


def free(snapshots: list[EnvironmentSnapshot]) -> None:
    """Free environments piece by piece."""
    pieces: list[object] = [*chain.from_iterable(map(pieces_of, snapshots))]
    empty(snapshots, pieces)
