"""HTTP of the links of a project."""

from typing import Annotated

from fastapi import APIRouter, Depends
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.schemas import Body, Moment, Name, Uuid
from flagstaff.api.views import view_of
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service
from flagstaff.links.links import Link
from flagstaff.links.links_service import Links
from flagstaff.projects.permissions import Permission

router = APIRouter(prefix="/api/projects/{project_id}/links", tags=["Projects"])


class LinkOut(TaggedOut):
    """A link to a page elsewhere."""

    id: Uuid
    project_id: Uuid
    name: str
    address: str
    created_at: Moment


class NewLink(Body):
    """A link to add."""

    name: Name
    address: Name


_view = view_of(Link)
Service = Annotated[Links, Depends(service(Links))]


@router.get("", response_model=list[LinkOut], responses=problems(401, 404, 503))
@reads(Permission.PROJECT_READ)
async def list_links(project_id: Id, actor: CurrentActor, links: Service) -> Response:
    """Return the links of the project, oldest first."""
    return await json_array_response(map(_view, await links.list_links(actor, project_id)))


@router.post("", status_code=201, response_model=LinkOut, responses=problems(400, 401, 404, 409, 413, 503))
@writes(Permission.PROJECT_WRITE, body_max_bytes=SMALL_BODY, reports_revision=True, repeatable=True)
async def create_link(project_id: Id, body: NewLink, actor: CurrentActor, links: Service) -> Response:
    """Add a link, which all members see."""
    return tagged_response(_view(await links.create_link(actor, project_id, **body.model_dump())), 201)


@router.delete("/{link_id}", status_code=204, responses=problems(401, 404, 503))
@writes(Permission.PROJECT_WRITE, reports_revision=True)
async def delete_link(project_id: Id, link_id: Id, actor: CurrentActor, links: Service) -> Response:
    """Delete a link."""
    await links.delete_link(actor, project_id, link_id)
    return no_content()
