"""Streams of the events of projects, by which the dashboard learns at once of what others have changed."""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain
from typing import NamedTuple
from uuid import UUID

from starlette.types import Receive, Scope, Send

from flagstaff.audit.followers_service import Follower, Followers
from flagstaff.evaluation.snapshot import KnownEnvironment, ProjectSnapshot
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.event_stream import Stream, event, serve_stream
from flagstaff.serving.streams import Streams, Topic
from flagstaff.values.errors import Code, Error, not_found

MOST_STREAMS = 30
"""The streams that an account may have open at one instance, so that it cannot take all connections."""
MOST_PROJECTS = 20
"""The projects that a stream may follow: each is loaded and checked before it is opened."""
_RETRY_SECONDS = 30
_NAME = "revision"
_OPEN_FOR = timedelta(minutes=5)
"""The time after which a stream is closed. The client opens the next one, which checks its role again."""
CHECKED_SECONDS = 0.5
"""The pause between two looks for removed members and ended sessions or tokens, on any instance."""


class Form(NamedTuple):
    """The form of a stream's events: what tells its topics from others, and the data about a project's revision."""

    kind: str
    data: Callable[[UUID, int], bytes]

    def event(self, project_id: UUID, revision: int) -> bytes:
        """The event of a project's revision."""
        return event(_NAME, revision, self.data(project_id, revision))


OF_ONE = Form("project", lambda _, revision: b"%d" % revision)
"""The events of one project."""
OF_SEVERAL = Form(
    "projects",
    lambda project_id, revision: b'{"project_id":"%b","revision":%d}' % (str(project_id).encode(), revision),
)
"""The events of several projects, which name the project."""


class _Revisions:
    """Tells a topic's streams which revision the environment has."""

    def __init__(self, form: Form) -> None:
        self._form = form

    async def news(self, environment: KnownEnvironment) -> bytes | None:
        """The event."""
        return self._form.event(environment.project_id, environment.revision)


class _Part(NamedTuple):
    """A project's part of a stream: the topics to which the stream belongs."""

    form: Form
    topics: set[Topic]


class Events:
    """Opens the streams, each of which belongs to the topics of all environments of its projects, and of later ones."""

    def __init__(
        self, snapshots: Snapshots, streams: Streams, followers: Followers, now: Callable[[], datetime]
    ) -> None:
        self._open: Counter[UUID] = Counter()  # streams of accounts
        self._parts: defaultdict[UUID, dict[Stream, _Part]] = defaultdict(dict)  # of each project's streams
        snapshots.observe(self._swap)
        self._following: dict[Stream, Sequence[Follower]] = {}
        self._followers = followers
        self._snapshots = snapshots
        self._streams = streams
        self._now = now

    async def serve(
        self, followers: Sequence[Follower], form: Form, scope: Scope, receive: Receive, send: Send
    ) -> None:
        """Serve a stream until its client leaves, its time is over, or a follower may not be told any more.

        The followers are of one account, and each of another project.
        """
        account_id = followers[0].account_id

        async def begin(stream: Stream) -> bytes:
            self._following[stream] = followers
            return b"".join([await self._begin(stream, each.project_id, form) for each in followers])

        make_stream = partial(Stream, key_id=None, expires_at=self._now() + _OPEN_FOR)
        self._open[account_id] += 1

        def end(stream: Stream) -> None:
            self._following.pop(stream, None)
            self._open[account_id] -= 1
            self._open += Counter()  # forgets accounts without streams
            for project_id in [each.project_id for each in followers]:
                part = self._parts[project_id].pop(stream, None)
                for topic in part.topics if part is not None else ():
                    self._streams.close(topic, stream)
                if not self._parts[project_id]:
                    del self._parts[project_id]

        await serve_stream(scope, receive, send, make_stream=make_stream, begin=begin, end=end)

    def _swap(self, project_id: UUID, project: ProjectSnapshot | None) -> None:
        """Tell the streams of a project of environments that were made after they were opened."""
        if project is None or project_id not in self._parts:
            return
        for stream, part in self._parts[project_id].items():
            for environment in project.known.values():
                self._join(part, stream, environment, 0)

    async def _begin(self, stream: Stream, project_id: UUID, form: Form) -> bytes:
        """Let a stream follow a project; return the first event about it."""
        project = await self._find(project_id)
        part = self._parts[project_id][stream] = _Part(form, set())
        for environment in project.known.values():
            self._join(part, stream, environment, environment.revision)
        return form.event(project_id, max(each.revision for each in project.known.values()))

    def _join(self, part: _Part, stream: Stream, environment: KnownEnvironment, revision: int) -> None:
        """Let a stream, whose client has this revision, follow an environment unless it does."""
        topic = Topic(part.form.kind, environment.project_id, environment.environment_id)
        if topic not in part.topics:
            part.topics.add(topic)
            self._streams.open(topic, stream, environment, revision, partial(_Revisions, part.form))

    async def end_others(self) -> None:
        """End the streams whose followers may not be told any more. While the database is away, they stay."""
        if not self._following:
            return
        try:
            ended = set(await self._followers.find_ended(set(chain.from_iterable(self._following.values()))))
        except Error:
            return
        for stream, followers in tuple(self._following.items()):
            if not ended.isdisjoint(followers):
                stream.end()

    async def require(self, account_id: UUID, project_ids: Collection[UUID]) -> None:
        """Raise Error UNAVAILABLE, NOT_FOUND or LIMITED if no stream can be opened now."""
        self._streams.require_room(None)
        for project_id in project_ids:
            await self._find(project_id)
        if self._open[account_id] >= MOST_STREAMS:
            message = f"This account has {MOST_STREAMS} streams open. Close one, or try again later."
            raise Error(Code.LIMITED, message, retry_after_seconds=_RETRY_SECONDS)

    async def _find(self, project_id: UUID) -> ProjectSnapshot:
        project = await self._snapshots.find(project_id)
        if project is None or not project.known:
            raise not_found("environment")
        return project
