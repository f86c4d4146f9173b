"""HTTP of deleted projects whose audit trail is still kept, for administrators."""

from functools import partial
from typing import Annotated, Any

from fastapi import Depends
from pydantic import Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import Id
from flagstaff.api.lists import BY_AGE, Listing, ListPart
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Moment, Text, Uuid
from flagstaff.audit.deleted_projects import DeletedProject
from flagstaff.audit.deleted_projects_service import DeletedProjects
from flagstaff.concurrency.claims import Priority
from flagstaff.http.operations import SMALL_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.response_models import ResponseModel
from flagstaff.http.responses import json_response
from flagstaff.http.services import service
from flagstaff.values.moments import format_moment

router = Router(prefix="/api/admin/deleted-projects", tags=["Administration"])


class DeletedProjectOut(ResponseModel):
    """A deleted project whose audit trail is still kept."""

    id: Uuid
    name: str
    deleted_at: Moment
    trail_deletion_ordered_at: Moment | None = Field(
        description="When an administrator ordered to delete its audit trail at once. It is being deleted until the "
        "project is not listed any more. Null if it is kept for `FLAGSTAFF_DELETED_PROJECT_TRAIL_DAYS`."
    )


class NewTrailDeletion(Body):
    """The confirmation of the order."""

    name: Annotated[Text, Field(description="The name of the deleted project.")]


def _view(project: DeletedProject) -> dict[str, Any]:
    ordered_at = project.ordered_at
    return {
        "id": project.id,
        "name": project.name,
        "deleted_at": format_moment(project.deleted_at),
        "trail_deletion_ordered_at": format_moment(ordered_at) if ordered_at else None,
    }


_listing = Listing(_view, lambda project: (project.deleted_at, project.id), BY_AGE)

Service = Annotated[DeletedProjects, Depends(service(DeletedProjects))]


@router.get("", response_model=list[DeletedProjectOut], responses=problems(400, 401, 403, 503))
@reads(Caller.PERSON)
async def list_deleted_projects(part: ListPart, actor: CurrentActor, projects: Service) -> Response:
    """The deleted projects whose audit trail is still kept, the last deleted first."""
    return await _listing.respond(part, partial(projects.list_deleted, actor))


@router.post(
    "/{deleted_project_id}/trail-deletion",
    status_code=202,
    response_model=DeletedProjectOut,
    responses=problems(400, 401, 403, 404, 413, 503),
)
@writes(Caller.PERSON, body_max_bytes=SMALL_BODY, reports_revision=False, repeatable=False, priority=Priority.LONG)
async def delete_trail(
    deleted_project_id: Id, body: NewTrailDeletion, actor: CurrentActor, projects: Service
) -> Response:
    """Delete the audit trail of a deleted project at once, in the background. It cannot be undone.

    The project's name confirms it. The instance's trail records the order, with the project's id and without its name.
    Another order changes nothing. Messages about the project that webhooks of the instance have not been sent yet are
    not sent any more.
    """
    return json_response(_view(await projects.delete_trail(actor, deleted_project_id, body.name)), 202)
