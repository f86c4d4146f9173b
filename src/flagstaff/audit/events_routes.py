"""HTTP of a project's events."""

from functools import partial
from typing import Annotated

from fastapi import Depends
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.api.auth import CurrentActor, CurrentSession
from flagstaff.api.ids import Id
from flagstaff.api.operations import reads
from flagstaff.api.routers import Router
from flagstaff.audit.event_streams import Events
from flagstaff.audit.followers_service import Follower
from flagstaff.http.problems import problems
from flagstaff.http.services import service
from flagstaff.projects.permissions import Permission
from flagstaff.projects.projects_routes import Service

router = Router(prefix="/api/projects/{project_id}", tags=["Projects"])


class _EventStream(Response):
    """A response whose body is a stream of events."""

    media_type = "text/event-stream"

    def __init__(self, serve: ASGIApp) -> None:
        super().__init__()
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await self._serve(scope, receive, send)


@router.get(
    "/events",
    response_class=Response,
    responses={
        **problems(401, 404, 503),
        200: {"description": "The stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
    },
)
@reads(Permission.PROJECT_READ)
async def follow_project(
    project_id: Id,
    actor: CurrentActor,
    session_id: CurrentSession,
    projects: Service,
    events: Annotated[Events, Depends(service(Events))],
) -> Response:
    """A stream of server-sent events: `revision`, whose data is the revision of the environment that changed, a number.

    The first event comes at once, and another after each change to an environment of the project: two, if a change
    concerns two of them. `GET …/changes` returns the changes. The server ends a stream after five minutes at most, and
    when an environment is deleted: connect again then. It ends the stream within a second after you have left the
    project, or your session or access token has ended. A project without environments has no stream (404).
    """
    await projects.get_project(actor, project_id)
    assert actor.account_id is not None
    await events.require(actor.account_id, project_id)
    follower = Follower(project_id, actor.account_id, session_id, actor.token.id if actor.token else None)
    return _EventStream(partial(events.serve, follower))
