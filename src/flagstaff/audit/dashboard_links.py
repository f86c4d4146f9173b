"""The pages of the dashboard that links in messages and mails lead to."""

from uuid import UUID

from flagstaff.changes.changes import Scope
from flagstaff.projects.projects import Environment


def project_page(public_url: str, project_id: UUID | None) -> str:
    """The URL of a project's page, or of the dashboard without one."""
    return public_url if project_id is None else f"{public_url}/projects/{project_id}"


def change_page(public_url: str, action: str, scope: Scope, environment: Environment | None) -> str:
    """The URL of the page of what was changed: the flag, the webhooks, the environment if it exists, or the project."""
    link = project_page(public_url, scope.project_id)
    if action.startswith("webhook."):
        return f"{link}/webhooks" if scope.project_id else f"{link}/admin/webhooks"
    if environment is None:
        return link
    link += f"/environments/{environment.id}"
    is_there = scope.flag_id is not None and action != "flag.deleted"
    return f"{link}/flags/{scope.flag_id}" if is_there else link
