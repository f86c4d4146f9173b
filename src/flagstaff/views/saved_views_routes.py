"""HTTP of saved views: filters of the flag list with a name."""

from typing import Annotated, Literal

from fastapi import Depends
from pydantic import AfterValidator, Field
from starlette.responses import Response

from flagstaff.api.auth import CurrentActor
from flagstaff.api.entity_tags import TaggedOut, if_match, tagged_response
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads, writes
from flagstaff.api.routers import Router
from flagstaff.api.schemas import Body, Name, Update, optional
from flagstaff.database.preconditions import Precondition
from flagstaff.flags.field_schemas import Tag
from flagstaff.http.operations import SMALL_BODY
from flagstaff.http.problems import problems
from flagstaff.http.responses import json_array_response, no_content
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.values.text import NAME_MAX_LENGTH
from flagstaff.values.views import view_of
from flagstaff.views.saved_views import Audience, Order, SavedView, State, Use, check_searched
from flagstaff.views.saved_views_service import SavedViews

router = Router(prefix="/api/projects/{project_id}/views", tags=["Flags"])

Searched = Annotated[
    str,
    AfterValidator(check_searched),
    Field(json_schema_extra={"minLength": 1, "maxLength": NAME_MAX_LENGTH, "pattern": r"\S"}),
]


class FlagSearch(Body):
    """A filter of the flag list. A field that is left out filters nothing.

    `q` are words that the name, the key, the description or a tag must contain; `seen` is whether the flag was
    evaluated in the last 24 hours. `favourites` are the favourites of the account that reads the list.
    """

    q: Searched = optional()
    state: State = optional()
    audience: Audience = optional()
    seen: Use = optional()
    tag: Tag = optional()
    owner: Name = optional()
    favourites: Literal[True] = optional()
    sort: Order = optional()


class ViewOut(TaggedOut, of=SavedView):
    """A saved view."""

    search: FlagSearch


class NewView(Body, of=SavedView, without=("id", "project_id", "created_at")):
    """A view to save."""

    search: FlagSearch


class ViewUpdate(Update, of=SavedView, like=NewView):
    """The fields to change. `search` replaces the whole filter."""


_view = view_of(SavedView)
Service = Annotated[SavedViews, Depends(service(SavedViews))]
IfMatch = Annotated[Precondition[SavedView], Depends(if_match("view", _view))]


@router.post(
    "",
    status_code=201,
    response_model=ViewOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(
    Permission.FLAGS_WRITE,
    place="any environment",
    body_max_bytes=SMALL_BODY,
    reports_revision=True,
    repeatable=True,
    shown_with=(Permission.PROJECT_READ,),
)
async def create_view(project_id: Id, body: NewView, actor: CurrentActor, saved_views: Service) -> Response:
    """Save a filter of the flag list as a view, which all members see, in every environment.

    Needs `flags:write` in at least one environment.
    """
    given = body.model_dump(exclude_unset=True)
    return tagged_response(_view(await saved_views.create_view(actor, project_id, **given)), 201)


@router.get(
    "",
    response_model=list[ViewOut],
    responses=problems(401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def list_views(project_id: Id, actor: CurrentActor, saved_views: Service) -> Response:
    """The saved views of the project, by name."""
    return await json_array_response(map(_view, await saved_views.list_views(actor, project_id)))


@router.get(
    "/{view_id}",
    response_model=ViewOut,
    responses=problems(401, 404, 503),
)
@reads(Permission.PROJECT_READ)
async def get_view(project_id: Id, view_id: Id, actor: CurrentActor, saved_views: Service) -> Response:
    """One saved view."""
    return tagged_response(_view(await saved_views.get_view(actor, project_id, view_id)))


@router.put(
    "/{view_id}",
    response_model=ViewOut,
    responses=problems(400, 401, 404, 409, 413, 503),
)
@writes(
    Permission.FLAGS_WRITE,
    place="any environment",
    body_max_bytes=SMALL_BODY,
    reports_revision=True,
    shown_with=(Permission.PROJECT_READ,),
)
async def update_view(
    project_id: Id, view_id: Id, body: ViewUpdate, actor: CurrentActor, saved_views: Service, precondition: IfMatch
) -> Response:
    """Update a view. Only the given fields change. Needs `flags:write` in at least one environment."""
    return tagged_response(
        _view(await saved_views.update_view(actor, project_id, view_id, precondition, **body.given()))
    )


@router.delete(
    "/{view_id}",
    status_code=204,
    responses=problems(401, 404, 503),
)
@writes(Permission.FLAGS_WRITE, place="any environment", reports_revision=True)
async def delete_view(
    project_id: Id, view_id: Id, actor: CurrentActor, saved_views: Service, precondition: IfMatch
) -> Response:
    """Delete a view. Needs `flags:write` in at least one environment."""
    await saved_views.delete_view(actor, project_id, view_id, precondition)
    return no_content()
