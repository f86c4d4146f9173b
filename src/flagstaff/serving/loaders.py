"""Functions that read what is committed, for the snapshots of projects."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from flagstaff.database.revisions import Revision
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot


@dataclass(frozen=True, slots=True)
class Loaders:
    """The loaders of projects. Each sees everything that was committed before its call.

    `load_revisions` returns the revisions of a project's environments, by id, and `load_environment` also does so.
    """

    load_project: Callable[[UUID], Awaitable[ProjectSnapshot | None]]
    load_environment: Callable[[UUID, UUID], Awaitable[tuple[EnvironmentSnapshot | None, Mapping[UUID, Revision]]]]
    load_key_hashes: Callable[[UUID], Awaitable[frozenset[bytes] | None]]
    load_revisions: Callable[[UUID], Awaitable[Mapping[UUID, Revision]]]


def revision_of(committed: Mapping[UUID, Revision]) -> int | None:
    """The project's revision; None if there are no environments to read it with."""
    return max((each.project for each in committed.values()), default=None)
