"""Who may do what. Everything asks here, so that members and roles have one place to come to."""

from flagstaff.domain.changes import Actor
from flagstaff.domain.errors import not_found
from flagstaff.domain.projects import Project


def require_access(actor: Actor, project: Project | None) -> Project:
    """The project, if the actor may see it. A project is visible to its creator only.

    Raises:
        Error: NOT_FOUND, the same for a project that does not exist and for somebody else's.
    """
    if project is None or project.owner_id != actor.account_id:
        raise not_found("project")
    return project
