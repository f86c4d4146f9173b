"""HTTP of projects."""

from functools import partial
from typing import Annotated, Any, ClassVar

from fastapi import Depends, Query
from pydantic import Field, StrictBool
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.lists import BY_AGE, Listing, ListPart
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Description, Moment, Name, RetentionDays, Update, optional
from flagstaff.concurrency.claims import Priority
from flagstaff.database.preconditions import Precondition
from flagstaff.http.operations import SMALL_BODY, TEXT_BODY, Caller
from flagstaff.http.problems import problems
from flagstaff.http.responses import no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.part_schemas import EnvironmentItem, OwnPermissionsOut, view_item, view_own_permissions
from flagstaff.projects.projects import Project
from flagstaff.projects.projects_service import Projects
from flagstaff.values.moments import format_moment
from flagstaff.values.views import view_of

router = Router(prefix="/api/projects", tags=["Projects"])

_TIMES = ("created_at", "updated_at")
"""They come last in responses."""


class ProjectOut(TaggedOut, of=Project, without=("owner_id", "demands_second_factor", *_TIMES)):
    """A project; its SDK key serves all of its environments."""

    sdk_key: str | None = Field(
        examples=["sdk_Zp3w…"], description="Null if your role does not have the permission `keys:read`."
    )
    shares_contents: bool = Field(
        description="Whether webhooks of the whole instance have the contents of the project's changes."
    )
    history_retention_days: int | None = Field(
        description="For how many days evaluations and events are kept, in environments without days of their own; "
        "null if as long as the server keeps any."
    )
    created_at: Moment
    updated_at: Moment


class ProjectInFullOut(ProjectOut):
    """A project, and what else was asked for."""

    environments: list[EnvironmentItem] | None = Field(
        default=None, description="Its environments, the oldest first. Only with `environments=true`."
    )
    permissions: OwnPermissionsOut | None = Field(
        default=None, description="Your permissions in it. Only with `permissions=true`."
    )


class NewProject(Body):
    """A new project."""

    name: Name
    description: Description | None = None


class ProjectUpdate(Update):
    """The fields to change."""

    read_only: ClassVar[frozenset[str]] = frozenset({"id", "sdk_key", "created_at", "updated_at"})

    name: Name = optional()
    description: Description | None = None
    shares_contents: StrictBool = optional()
    history_retention_days: RetentionDays | None = Field(
        default=None,
        description="Evaluations and events that are older are deleted within minutes. At most the server's days; null "
        "for as many as the server's.",
    )


class SecurityUpdate(Body):
    """The requirement of the project."""

    demands_second_factor: bool


class SecurityOut(TaggedOut):
    """The requirements that a project has for its members."""

    demands_second_factor: bool


_details = view_of(Project, without=("owner_id", "demands_second_factor", *_TIMES))


def _view(project: Project) -> dict[str, Any]:
    return {**_details(project), **{name: format_moment(getattr(project, name)) for name in _TIMES}}


def _view_security(project: Project) -> dict[str, Any]:
    return {"demands_second_factor": project.demands_second_factor}


_listing = Listing(_view, lambda project: (project.created_at, project.id), BY_AGE)


Service = Annotated[Projects, Depends(service(Projects))]
IfMatch = Annotated[Precondition[Project], Depends(if_match("project", _view))]
IfSecurityMatch = Annotated[Precondition[Project], Depends(if_match("security of the project", _view_security))]


@router.post("", status_code=201, response_model=ProjectOut, responses=problems(400, 401, 409, 413, 503))
@writes(
    Caller.TOKEN,
    body_max_bytes=TEXT_BODY,
    reports_revision=True,
    repeatable=True,
    shown_with=(Permission.PROJECT_READ,),
)
async def create_project(body: NewProject, actor: CurrentActor, projects: Service) -> Response:
    """Create a project, with the environments `production` and `staging`."""
    return tagged_response(
        _view(await projects.create_project(actor, name=body.name, description=body.description)), 201
    )


@router.get("", response_model=list[ProjectOut], responses=problems(400, 401, 503))
@reads(Caller.TOKEN)
async def list_projects(part: ListPart, actor: CurrentActor, projects: Service) -> Response:
    """Your projects, newest first."""
    return await _listing.respond(part, partial(projects.list_projects, actor))


@router.get(
    "/{project_id}",
    response_model=ProjectInFullOut,
    responses=problems(400, 401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def get_project(
    project_id: Id,
    actor: CurrentActor,
    projects: Service,
    *,
    environments: Annotated[bool, Query(description="Whether to return its environments, too.")] = False,
    permissions: Annotated[bool, Query(description="Whether to return your permissions in it, too.")] = False,
) -> Response:
    """One project, and with it what a client needs first: its environments, and what you may do.

    The ETag covers the project alone.
    """
    if not (environments or permissions):
        return tagged_response(_view(await projects.get_project(actor, project_id)))
    found = await projects.get_project_in_full(actor, project_id)
    more: dict[str, Any] = {}
    if environments:
        more["environments"] = [view_item(each) for each in found.environments]
    if permissions:
        more["permissions"] = view_own_permissions(found.permissions)
    return tagged_response(_view(found.project), more=more)


@router.put(
    "/{project_id}",
    response_model=ProjectOut,
    responses=problems(400, 401, 404, 413, 503),
)
@writes(Permission.PROJECT_WRITE, body_max_bytes=TEXT_BODY, reports_revision=True)
async def update_project(
    project_id: Id, body: ProjectUpdate, actor: CurrentActor, projects: Service, precondition: IfMatch
) -> Response:
    """Update a project. Only the given fields change."""
    return tagged_response(_view(await projects.update_project(actor, project_id, precondition, **body.given())))


@router.get(
    "/{project_id}/security",
    response_model=SecurityOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def get_project_security(project_id: Id, actor: CurrentActor, projects: Service) -> Response:
    """Return the requirements that a project has for its members."""
    project = await projects.get_project(actor, project_id)
    return tagged_response(_view_security(project))


@router.put(
    "/{project_id}/security",
    response_model=SecurityOut,
    responses=problems(400, 401, 404, 413, 503),
)
@writes(Permission.PROJECT_WRITE, body_max_bytes=SMALL_BODY, reports_revision=True)
async def update_project_security(
    project_id: Id, body: SecurityUpdate, actor: CurrentActor, projects: Service, precondition: IfSecurityMatch
) -> Response:
    """Require a second factor of every member, or stop requiring it. You need one yourself.

    Members without one get a 403 of the type `urn:flagstaff:error:mfa_enrolment_required` for everything in the
    project until they enrol one.
    """
    is_demanded = body.demands_second_factor
    project = await projects.demand_second_factor(actor, project_id, precondition, is_demanded=is_demanded)
    return tagged_response(_view_security(project))


@router.post(
    "/{project_id}/regenerate-key",
    response_model=ProjectOut,
    responses=problems(401, 404, 503),
)
@writes(
    Permission.KEYS_ROTATE,
    reports_revision=True,
    repeatable=True,
    shown_with=(Permission.PROJECT_READ,),
    priority=Priority.KILL,
)
async def regenerate_key(project_id: Id, actor: CurrentActor, projects: Service, precondition: IfMatch) -> Response:
    """Replace the SDK key. Once this returns, the old key is refused."""
    return tagged_response(_view(await projects.regenerate_key(actor, project_id, precondition)))


@router.delete("/{project_id}", status_code=204, responses=problems(401, 404, 503))
@writes(Permission.PROJECT_DELETE, reports_revision=True, priority=Priority.LONG)
async def delete_project(project_id: Id, actor: CurrentActor, projects: Service, precondition: IfMatch) -> Response:
    """Delete a project with its environments, flags, rules and evaluation history."""
    await projects.delete_project(actor, project_id, precondition)
    return no_content()
