"""Streams of a project's events, by which the dashboard learns at once of what others have changed."""

from collections import Counter, defaultdict
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from starlette.types import Receive, Scope, Send

from flagstaff.audit.followers_service import Follower, Followers
from flagstaff.evaluation.snapshot import EnvironmentSnapshot, ProjectSnapshot
from flagstaff.serving.current_snapshots import Snapshots
from flagstaff.serving.event_stream import event, serve_stream
from flagstaff.serving.streams import Stream, Streams, Topic
from flagstaff.values.errors import Code, Error, not_found

MOST_STREAMS = 30
"""The streams that an account may have open at one instance, so that it cannot take all connections."""
_RETRY_SECONDS = 30
_KIND = "dashboard"
_NAME = "revision"
_OPEN_FOR = timedelta(minutes=5)
"""The time after which a stream is closed. The client opens the next one, which checks its role again."""
CHECKED_SECONDS = 0.5
"""The pause between two looks for removed members and ended sessions or tokens, on any instance."""


class _Revisions:
    """Tells a topic's streams which revision the environment has."""

    async def news(self, environment: EnvironmentSnapshot) -> bytes | None:
        """The event."""
        return _event(environment.revision)


class Events:
    """Opens the streams, each of which belongs to the topics of all environments of a project, also of later ones."""

    def __init__(
        self, snapshots: Snapshots, streams: Streams, followers: Followers, now: Callable[[], datetime]
    ) -> None:
        self._open: Counter[UUID] = Counter()  # streams of accounts
        self._topics: defaultdict[UUID, dict[Stream, set[Topic]]] = defaultdict(dict)  # of each project's streams
        snapshots.observe(self._swap)
        self._following: dict[Stream, Follower] = {}
        self._followers = followers
        self._snapshots = snapshots
        self._streams = streams
        self._now = now

    async def serve(self, follower: Follower, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a stream until its client leaves, its time is over, or its follower may not be told any more."""
        account_id, project_id = follower.account_id, follower.project_id

        async def begin(stream: Stream) -> bytes:
            self._following[stream] = follower
            project = await self._find(project_id)
            topics = self._topics[project_id][stream] = set()
            for environment in project.environments.values():
                self._join(topics, stream, project_id, environment, environment.revision)
            return _event(max(each.revision for each in project.environments.values()))

        make_stream = partial(Stream, key_id=None, expires_at=self._now() + _OPEN_FOR)
        self._open[account_id] += 1

        def end(stream: Stream) -> None:
            self._following.pop(stream, None)
            self._open[account_id] -= 1
            self._open += Counter()  # forgets accounts without streams
            for topic in self._topics[project_id].pop(stream, set()):
                self._streams.close(topic, stream)
            if not self._topics[project_id]:
                del self._topics[project_id]

        await serve_stream(scope, receive, send, make_stream=make_stream, begin=begin, end=end)

    def _swap(self, project_id: UUID, project: ProjectSnapshot | None) -> None:
        """Tell the streams of a project of environments that were made after they were opened."""
        if project is None or project_id not in self._topics:
            return
        for stream, topics in self._topics[project_id].items():
            for environment in project.environments.values():
                self._join(topics, stream, project_id, environment, 0)

    def _join(
        self, topics: set[Topic], stream: Stream, project_id: UUID, environment: EnvironmentSnapshot, revision: int
    ) -> None:
        """Let a stream, whose client has this revision, follow an environment unless it does."""
        topic = Topic(_KIND, project_id, environment.environment_id)
        if topic not in topics:
            topics.add(topic)
            self._streams.open(topic, stream, environment, revision, _Revisions)

    async def end_others(self) -> None:
        """End the streams whose followers may not be told any more. While the database is away, they stay."""
        if not self._following:
            return
        try:
            ended = set(await self._followers.find_ended(set(self._following.values())))
        except Error:
            return
        for stream, follower in tuple(self._following.items()):
            if follower in ended:
                stream.end()

    async def require(self, account_id: UUID, project_id: UUID) -> None:
        """Raise Error UNAVAILABLE, NOT_FOUND or LIMITED if no stream can be opened now."""
        self._streams.require_room(None)
        await self._find(project_id)
        if self._open[account_id] >= MOST_STREAMS:
            message = f"This account has {MOST_STREAMS} streams open. Close one, or try again later."
            raise Error(Code.LIMITED, message, retry_after_seconds=_RETRY_SECONDS)

    async def _find(self, project_id: UUID) -> ProjectSnapshot:
        project = await self._snapshots.find(project_id)
        if project is None or not project.environments:
            raise not_found("environment")
        return project


def _event(revision: int) -> bytes:
    return event(_NAME, revision, b"%d" % revision)
