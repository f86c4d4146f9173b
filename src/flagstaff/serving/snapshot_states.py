"""How the states of projects compare: what is known in an older state than another, and two states as one."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from uuid import UUID

from flagstaff.database.revisions import Revision
from flagstaff.evaluation.snapshot import KnownEnvironment, ProjectSnapshot


def find_older(project: ProjectSnapshot, committed: Mapping[UUID, Revision]) -> set[UUID]:
    """The environments of which something is known in an older state than these revisions, or that do not exist."""
    older = {each for each, at in committed.items() if _revision_of(project, each) < at.environment}
    return older | (project.known.keys() - committed.keys())


def _revision_of(project: ProjectSnapshot, environment_id: UUID) -> int:
    known, loaded = project.known.get(environment_id), project.find_loaded(environment_id)
    if known is None:
        return -1
    return known.revision if loaded is None else min(known.revision, loaded.revision)


def find_outdated(project: ProjectSnapshot | None, *, is_anew: bool) -> Iterable[UUID]:
    """The loaded environments that are older than the list of environments, or all loaded ones."""
    if project is None:
        return ()
    return [
        each.environment_id
        for each in project.environments.values()
        if is_anew or each.revision < project.known[each.environment_id].revision
    ]


def merge(read: ProjectSnapshot, before: ProjectSnapshot | None, *, is_anew: bool) -> ProjectSnapshot:
    """A project whose list of environments was read, with what is loaded of it.

    What is known of an environment stays the same object if it has not changed, and if it was loaded later, unless it
    is read anew because the database may have lost something.
    """
    if before is None:
        return read
    loaded = {key: each for key, each in before.environments.items() if each.environment_id in read.known}
    known = read.known
    if not is_anew:
        known = {each: _newer(before.known.get(each), at) for each, at in read.known.items()}
    return replace(read, environments=loaded, known=known)


def _newer(before: KnownEnvironment | None, read: KnownEnvironment) -> KnownEnvironment:
    return read if before is None or (before.revision <= read.revision and before != read) else before
