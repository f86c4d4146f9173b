"""HTTP of favourites, which belong to the account that calls."""

from typing import Annotated

from fastapi import Depends
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.ids import FlagKeyInPath, Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_response, no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.views.favourites_service import Favourites

router = Router(prefix="/api/projects/{project_id}/favourites", tags=["Flags"])


Service = Annotated[Favourites, Depends(service(Favourites))]


@router.get("", response_model=list[str], responses=problems(401, 404, 503))
@reads(Permission.FLAGS_READ)
async def list_favourites(project_id: Id, actor: CurrentActor, favourites: Service) -> Response:
    """The keys of the flags that are your favourites in the project: at most 200, the same in every environment."""
    return json_response(await favourites.list_favourites(actor, project_id))


@router.put(
    "/{flag_key}",
    status_code=204,
    responses=problems(401, 404, 409, 503),
)
@writes(Permission.FLAGS_READ, reports_revision=True)
async def add_favourite(project_id: Id, flag_key: FlagKeyInPath, actor: CurrentActor, favourites: Service) -> Response:
    """Make a flag one of your favourites. At least one environment must have a flag with this key."""
    await favourites.add_favourite(actor, project_id, flag_key)
    return no_content()


@router.delete("/{flag_key}", status_code=204, responses=problems(401, 404, 503))
@writes(Permission.FLAGS_READ, reports_revision=True)
async def remove_favourite(
    project_id: Id, flag_key: FlagKeyInPath, actor: CurrentActor, favourites: Service
) -> Response:
    """Remove a flag from your favourites. Nothing changes if it is not one of them."""
    await favourites.remove_favourite(actor, project_id, flag_key)
    return no_content()
