"""Permissions. All checks are made here, so that members and roles can be added in one place."""

from flagstaff.domain.changes import Actor
from flagstaff.domain.errors import not_found
from flagstaff.domain.projects import Project


def require_access(actor: Actor, project: Project | None) -> Project:
    """Return the project if the actor may see it. A project is visible only to its creator.

    Raises:
        Error: NOT_FOUND, both for a project that does not exist and for one that belongs to someone else.
    """
    if project is None or project.owner_id != actor.account_id:
        raise not_found("project")
    return project
