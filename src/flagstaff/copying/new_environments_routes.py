"""HTTP of creating environments: without flags, or with the flags of another one."""

from typing import Annotated, Self

from fastapi import Depends
from pydantic import Field, model_validator
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import tagged_response
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import writes
from flagstaff.api.routers import Router
from flagstaff.concurrency.claims import Priority
from flagstaff.copying.clones_service import Clones
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.environments_routes import EnvironmentBody, EnvironmentOut, view_environment
from flagstaff.projects.environments_service import Environments

router = Router(prefix="/api/projects/{project_id}/environments", tags=["Environments"])


class NewEnvironment(EnvironmentBody):
    """A new environment. Its key cannot be changed later."""

    copy_from: GivenId | None = Field(
        default=None,
        description="The id of an environment from which flags are copied with their rules, at most 5,000 together. "
        "Archived flags are left out.",
    )
    critical: bool | None = Field(
        default=None, description="Whether the dashboard warns before changes; by default by the key."
    )
    all_off: bool = Field(default=False, description="Whether the copied flags are off.")

    @model_validator(mode="after")
    def _check_all_off(self) -> Self:
        if self.all_off and self.copy_from is None:
            raise ValueError("all_off needs copy_from: a new environment has no flags")
        return self


Service = Annotated[Environments, Depends(service(Environments))]
CloneService = Annotated[Clones, Depends(service(Clones))]


@router.post(
    "",
    status_code=201,
    response_model=EnvironmentOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(
    Permission.ENVIRONMENTS_WRITE,
    body_max_bytes=SMALL_BODY,
    reports_revision=True,
    repeatable=True,
    priority=Priority.LONG,
)
async def create_environment(
    project_id: Id, body: NewEnvironment, actor: CurrentActor, environments: Service, clones: CloneService
) -> Response:
    """Create an environment, without flags or with the flags of another one.

    To copy flags, this also needs `flags:read` in the other environment, and `flags:write` and `rules:write` in the new
    one.
    """
    values = body.model_dump(exclude={"copy_from", "all_off"})
    if body.copy_from is None:
        created = await environments.create_environment(actor, project_id, **values)
    else:
        created = await clones.clone_environment(actor, project_id, body.copy_from, all_off=body.all_off, **values)
    return tagged_response(view_environment(created), 201)
