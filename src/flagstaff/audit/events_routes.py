"""HTTP of the events of projects."""

from collections.abc import Sequence
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Query
from pydantic import Field
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.api.auth import CurrentActor, CurrentSession
from flagstaff.api.ids import GivenId, Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.api.schemas import at_most, distinct
from flagstaff.audit.event_streams import MOST_PROJECTS, OF_ONE, OF_SEVERAL, Events, Form
from flagstaff.audit.followers_service import Follower
from flagstaff.changes.changes import Actor
from flagstaff.http.operations import Caller
from flagstaff.http.problems import problems
from flagstaff.http.services import service
from flagstaff.permissions.permissions import Permission
from flagstaff.projects.projects_routes import Service
from flagstaff.projects.projects_service import Projects

router = Router(prefix="/api", tags=["Projects"])
Streams = Annotated[Events, Depends(service(Events))]
_STREAM = {"description": "The stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}}


class _EventStream(Response):
    """A response whose body is a stream of events."""

    media_type = "text/event-stream"

    def __init__(self, serve: ASGIApp) -> None:
        super().__init__()
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await self._serve(scope, receive, send)


ProjectIds = Annotated[
    list[GivenId],
    at_most(MOST_PROJECTS),
    distinct("a project"),
    Field(json_schema_extra={"minItems": 1, "maxItems": MOST_PROJECTS, "uniqueItems": True}),
    Query(description="The projects to follow: repeat it for each."),
]


@router.get(
    "/projects/{project_id}/events",
    response_class=Response,
    responses={**problems(401, 404, 503), 200: _STREAM},
)
@reads(Permission.PROJECT_READ)
async def follow_project(
    project_id: Id, actor: CurrentActor, session_id: CurrentSession, projects: Service, events: Streams
) -> Response:
    """A stream of server-sent events: `revision`, whose data is the revision of the environment that changed, a number.

    The first event comes at once, and another after each change to an environment of the project: two, if a change
    concerns two of them. `GET …/changes` returns the changes. The server ends a stream after five minutes at most, and
    when an environment is deleted: connect again then. It ends the stream within a second after you have left the
    project, or your session or access token has ended. A project without environments has no stream (404).
    """
    return await _follow([project_id], OF_ONE, actor, session_id, projects, events)


@router.get("/events", response_class=Response, responses={**problems(400, 401, 404, 503), 200: _STREAM})
@reads(Caller.TOKEN)
async def follow_projects(
    project_id: ProjectIds, actor: CurrentActor, session_id: CurrentSession, projects: Service, events: Streams
) -> Response:
    """The same as the stream of each project, over one connection.

    The data of an event is an object with the `project_id` and the `revision`. It needs the permission `project:read`
    in all of the projects. The stream also ends when you have left one of them; connect again without it.
    """
    return await _follow(project_id, OF_SEVERAL, actor, session_id, projects, events)


async def _follow(
    project_ids: Sequence[UUID], form: Form, actor: Actor, session_id: UUID | None, projects: Projects, events: Events
) -> Response:
    for each in project_ids:
        await projects.get_project(actor, each)
    assert actor.account_id is not None
    await events.require(actor.account_id, project_ids)
    token_id = actor.token.id if actor.token else None
    followers = [Follower(each, actor.account_id, session_id, token_id) for each in project_ids]
    return _EventStream(partial(events.serve, followers, form))
