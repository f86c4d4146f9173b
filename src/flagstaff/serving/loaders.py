"""Functions that read what is committed, for the snapshots of projects."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from uuid import UUID

from flagstaff.database.revisions import Revision
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot


@dataclass(frozen=True, slots=True)
class Loaders:
    """The loaders of projects. Each sees everything that was committed before its call.

    `load_project` returns a project none of whose environments is loaded, and `load_first` an environment that is not
    in memory. `load_environment` loads one again, from its present snapshot or, without one, anew; it also returns the
    revisions of all environments of the project, by id, as `load_revisions` does. `forget` is called with the id of an
    environment, or of a whole project, of which nothing needs to be kept to load it faster.
    """

    load_project: Callable[[UUID], Awaitable[ProjectSnapshot | None]]
    load_first: Callable[[UUID, UUID], Awaitable[EnvironmentSnapshot | None]]
    load_environment: Callable[
        [UUID, UUID, EnvironmentSnapshot | None], Awaitable[tuple[EnvironmentSnapshot | None, Mapping[UUID, Revision]]]
    ]
    load_revisions: Callable[[UUID], Awaitable[Mapping[UUID, Revision]]]
    forget: Callable[[UUID], None]


def revision_of(committed: Mapping[UUID, Revision]) -> int | None:
    """The project's revision; None if there are no environments to read it with."""
    return max((each.project for each in committed.values()), default=None)
