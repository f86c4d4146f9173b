"""Frees large environments that have been replaced in small steps, once nobody uses them."""

from collections.abc import Generator
from itertools import chain

from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot, pieces_of
from flagstaff.values.lists import emptying

_FLAGS_AT_ONCE = 200  # so many of an environment are freed at once: a task costs more


def replaced_pieces(before: ProjectSnapshot, now: ProjectSnapshot | None) -> Generator[None, None, None] | None:
    """Free the large environments that only the earlier snapshot has, step by step; None if there are none."""
    kept = set(map(id, now.environments.values())) if now is not None else ()
    present = before.environments.values()
    replaced = [each for each in present if id(each) not in kept and len(each.places) > _FLAGS_AT_ONCE]
    return _freeing(replaced) if replaced else None


def _freeing(snapshots: list[EnvironmentSnapshot]) -> Generator[None, None, None]:
    pieces: list[object] = []
    for each in chain.from_iterable(map(pieces_of, snapshots)):
        pieces.append(each)
        yield
    yield from emptying(snapshots, pieces)
