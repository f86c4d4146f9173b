"""HTTP of an environment's events, by which the dashboard learns at once of what others have changed."""

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from flagstaff.domain.errors import Code, Error, not_found
from flagstaff.domain.permissions import Permission
from flagstaff.evaluation.snapshot import EnvironmentSnapshot
from flagstaff.runtime.snapshots import Snapshots
from flagstaff.runtime.streams import Stream, Streams, Topic
from flagstaff.web.edge.event_stream import event, serve_stream
from flagstaff.web.edge.problems import problems
from flagstaff.web.management.auth import CurrentActor, needs
from flagstaff.web.management.environments import Service
from flagstaff.web.management.ids import Id

router = APIRouter(prefix="/api/projects/{project_id}/environments/{env_id}", tags=["Environments"])

MOST_STREAMS = 30
"""How many streams of an account may be open at one instance, so that an account cannot take all connections."""
_RETRY_SECONDS = 30
_KIND = "dashboard"
_NAME = "revision"
_OPEN_FOR = timedelta(minutes=5)
"""How long a stream stays open. The next one needs a token that is still valid, and a role that still allows it."""


class _Revisions:
    """Tells a topic's streams which revision the environment has."""

    async def news(self, environment: EnvironmentSnapshot) -> bytes | None:
        """The event."""
        return _revision(environment)


class Events:
    """Opens the streams. `find` finds the snapshot of a project's environment, loaded first if necessary."""

    def __init__(self, snapshots: Snapshots, streams: Streams, now: Callable[[], datetime]) -> None:
        self._open: Counter[UUID] = Counter()  # streams of accounts
        self._snapshots = snapshots
        self._streams = streams
        self._now = now

    async def serve(
        self,
        account_id: UUID,
        project_id: UUID,
        environment_id: UUID,
        scope: Scope,
        receive: Receive,
        send: Send,
    ) -> None:
        """Serve a stream until its client leaves or its time is over."""
        topic = Topic(_KIND, project_id, environment_id)

        async def begin(stream: Stream) -> bytes:
            environment = await self._find(project_id, environment_id)
            self._streams.open(topic, stream, environment, environment.revision, _Revisions)
            return _revision(environment)

        make_stream = partial(Stream, key_id=None, expires_at=self._now() + _OPEN_FOR)
        self._open[account_id] += 1

        def end(stream: Stream) -> None:
            self._open[account_id] -= 1
            self._open += Counter()  # forgets accounts without streams
            self._streams.close(topic, stream)

        await serve_stream(scope, receive, send, make_stream=make_stream, begin=begin, end=end)

    async def require(self, account_id: UUID, project_id: UUID, environment_id: UUID) -> None:
        """Raise Error UNAVAILABLE, NOT_FOUND or LIMITED if no stream can be opened now."""
        self._streams.require_open()
        await self._find(project_id, environment_id)
        if self._open[account_id] >= MOST_STREAMS:
            message = f"This account has {MOST_STREAMS} streams open. Close one, or try again later."
            raise Error(Code.LIMITED, message, retry_after_seconds=_RETRY_SECONDS)

    async def _find(self, project_id: UUID, environment_id: UUID) -> EnvironmentSnapshot:
        project = await self._snapshots.find(project_id)
        environments = project.environments.values() if project is not None else ()
        found = next((each for each in environments if each.environment_id == environment_id), None)
        if found is None:
            raise not_found("environment")
        return found


class _EventStream(Response):
    """A response whose body is a stream of events."""

    media_type = "text/event-stream"

    def __init__(self, serve: ASGIApp) -> None:
        super().__init__()
        self._serve = serve

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it."""
        await self._serve(scope, receive, send)


async def _events(request: Request) -> Events:
    events: Events = request.app.state.events
    return events


@router.get(
    "/events",
    response_class=Response,
    responses={
        **problems(401, 404, 503),
        200: {"description": "The stream.", "content": {"text/event-stream": {"schema": {"type": "string"}}}},
    },
    openapi_extra=needs(Permission.PROJECT_READ),
)
async def follow_environment(
    project_id: Id,
    env_id: Id,
    actor: CurrentActor,
    environments: Service,
    events: Annotated[Events, Depends(_events)],
) -> Response:
    """A stream of server-sent events: `revision`, whose data is the revision of the environment, a number.

    The first event comes at once, and another after each change. `GET …/changes` answers what has changed. The server
    ends a stream after five minutes at most: connect again then.
    """
    await environments.get_environment(actor, project_id, env_id)
    assert actor.account_id is not None
    await events.require(actor.account_id, project_id, env_id)
    return _EventStream(partial(events.serve, actor.account_id, project_id, env_id))


def _revision(environment: EnvironmentSnapshot) -> bytes:
    return event(_NAME, environment.revision, b"%d" % environment.revision)
