"""The open streams of server-sent events, on which applications and the dashboard learn of changes.

A stream belongs to one topic or several: what is told, and of which environment. Events are written straight to the
connections, some at a time, so that evaluations are answered in between however many streams are open. Nothing is kept
for a client that reads too slowly: its connection is closed, and it gets the present state when it connects again.
"""

import asyncio
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

import structlog

from flagstaff.concurrency.loop_turns import LoopClient, Rank, working_for
from flagstaff.concurrency.pacing import paced
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.evaluation.snapshot import KnownEnvironment, ProjectSnapshot
from flagstaff.history.applications import Client
from flagstaff.history.callers import Caller
from flagstaff.serving.event_stream import COMMENT, Stream, chunk
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Code, Error, unavailable

log = structlog.get_logger(__name__)

KEEP_ALIVE = "stream-keep-alive"
KEEP_ALIVE_SECONDS = 10.0  # Unleash's client for Python gives up after 30 seconds without a byte
TURNS = 10  # in which the streams are kept alive, one after the other within this time
RETRY_SECONDS = 1.0
STREAMS_MAX = 5_000
EVENT_MAX_BYTES = 256 * 1024  # of what is told of a change
_REFUSED_SECONDS = 5


class Topic(NamedTuple):
    """The subject of streams of one kind: an environment."""

    kind: str
    project_id: UUID
    environment_id: UUID


class Reconnect:
    """Tells the clients of a topic to connect again, because an event would be too long."""


class Feed(Protocol):
    """Makes the events of a topic."""

    async def news(self, environment: KnownEnvironment) -> bytes | Reconnect | None:
        """The event that tells of an environment's new state; None if there is nothing to tell.

        Raises:
            Error: UNAVAILABLE; it is asked again shortly.
        """


@dataclass(eq=False, slots=True)
class _OpenTopic:
    """A topic with streams. `told` is the state of which they were told last."""

    feed: Feed
    told: KnownEnvironment
    streams: set[Stream] = field(default_factory=set)


class Streams:
    """All open streams of this process."""

    def __init__(
        self,
        supervisor: Supervisor,
        now: Callable[[], datetime],
        *,
        record_told: Callable[[UUID, Client, int], None],
        most: int = STREAMS_MAX,
        keep_alive_seconds: float = KEEP_ALIVE_SECONDS,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        """`record_told` is told which client of an environment has which revision.

        At most `most` streams are open at a time, and half as many with one SDK key, which may be public.
        """
        self.dropped = 0
        """The number of streams that were closed because their clients read too slowly."""
        self.refused = 0
        """The number of streams that were refused because too many were open."""
        self._supervisor = supervisor
        self._now = now
        self._record_told = record_told
        self._keep_alive_seconds = keep_alive_seconds
        self._retry_seconds = retry_seconds
        self._most = most
        self._open: Counter[Stream] = Counter()  # how many topics each has
        self._turns: deque[set[Stream]] = deque(set() for _ in range(TURNS))
        self._of_key: Counter[UUID] = Counter()
        self._topics: dict[Topic, _OpenTopic] = {}
        self._of_project: defaultdict[UUID, set[Topic]] = defaultdict(set)
        self._news: dict[Topic, KnownEnvironment | None] = {}  # what the streams have not been told; None: deleted
        self._telling: set[Topic] = set()
        self._is_ending = False

    def __len__(self) -> int:
        return len(self._open)

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the numbers of streams."""
        metrics.add_gauge("streams", "Open streams of changes.", lambda: len(self))
        metrics.add_counter("streams_dropped", "Streams closed because clients read too slowly.", lambda: self.dropped)
        metrics.add_counter("streams_refused", "Streams refused because too many were open.", lambda: self.refused)

    def has_streams(self, project_id: UUID) -> bool:
        """Return whether streams of a project's environments are open."""
        return project_id in self._of_project

    def open_callers(self) -> set[Caller]:
        """The callers that have streams open."""
        return {each.caller for each in self._open if each.caller is not None}

    def open_keys(self) -> set[UUID]:
        """The SDK keys with which streams are open."""
        return set(self._of_key)

    def start(self) -> None:
        """Start to keep connections alive."""
        self._supervisor.run_every(KEEP_ALIVE, self._keep_alive_seconds / TURNS, self.keep_alive)

    async def stop(self) -> None:
        """End all streams; no others are opened any more."""
        self._is_ending = True
        await self._end(set(self._open))
        await self._supervisor.finish(KEEP_ALIVE, 0)

    def require_open(self) -> None:
        """Raise Error UNAVAILABLE while the process stops."""
        if self._is_ending:
            raise unavailable("The server is stopping. Connect again.")

    def require_room(self, key_id: UUID | None) -> None:
        """Raise Error UNAVAILABLE while the process stops, and LIMITED if too many streams are open.

        Some clients poll after a 429, and after other statuses only when they have tried again several times.
        """
        self.require_open()
        if not self.admit(key_id):
            message = "Too many streams are open. Poll for the flags instead, or try again later."
            raise Error(Code.LIMITED, message, retry_after_seconds=_REFUSED_SECONDS)

    def admit(self, key_id: UUID | None) -> bool:
        """Return whether another stream with a key may be opened; if not, count that one was refused."""
        of_key = self._of_key[key_id] if key_id is not None else 0
        if len(self._open) < self._most and of_key < max(1, self._most // 2):
            return True
        self.refused += 1
        return False

    def is_ahead(self, topic: Topic, revision: int) -> bool:
        """Return whether a topic's streams have been told of a later revision, which a new stream would miss."""
        opened = self._topics.get(topic)
        return opened is not None and opened.told.revision > revision

    def open(
        self,
        topic: Topic,
        stream: Stream,
        environment: KnownEnvironment,
        revision: int,
        make_feed: Callable[[], Feed],
    ) -> Feed:
        """Tell a stream, whose client has this revision, of the states that follow, the present one included.

        Await nothing between finding the present `environment` and this. The topic must not be ahead. `make_feed` is
        called for a topic's first stream; the feed is returned.
        """
        opened = self._topics.get(topic)
        if opened is None:
            opened = self._topics[topic] = _OpenTopic(make_feed(), environment)
            self._of_project[topic.project_id].add(topic)
        if stream not in opened.streams:
            opened.streams.add(stream)
            self._open[stream] += 1
            if self._open[stream] == 1:
                min(self._turns, key=len).add(stream)
                if stream.key_id is not None:
                    self._of_key[stream.key_id] += 1
        stream.sent = revision
        if stream.client is not None:
            self._record_told(topic.environment_id, stream.client, revision)
        if environment.revision > revision:
            self._record_news(topic, environment)
        return opened.feed

    def close(self, topic: Topic, stream: Stream) -> None:
        """Forget a stream, which the client or the server has ended."""
        opened = self._topics.get(topic)
        if opened is None:
            return
        if stream in opened.streams:
            opened.streams.discard(stream)
            self._forget(stream)
        if not opened.streams:
            del self._topics[topic]
            self._of_project[topic.project_id].discard(topic)
            if not self._of_project[topic.project_id]:
                del self._of_project[topic.project_id]
            self._news.pop(topic, None)

    def _forget(self, stream: Stream) -> None:
        self._open[stream] -= 1
        if not self._open[stream]:
            del self._open[stream]
            for turn in self._turns:
                turn.discard(stream)
            if stream.key_id is not None:
                self._of_key[stream.key_id] -= 1
                if not self._of_key[stream.key_id]:
                    del self._of_key[stream.key_id]

    def swap(self, project_id: UUID, project: ProjectSnapshot | None) -> None:
        """Note a project's new snapshot, of which its streams have to be told; None if it was deleted."""
        topics = self._of_project.get(project_id)
        if not topics:
            return
        for topic in topics:
            environment = project.known.get(topic.environment_id) if project else None
            if environment is not self._topics[topic].told or topic in self._news:
                self._record_news(topic, environment)

    def _record_news(self, topic: Topic, environment: KnownEnvironment | None) -> None:
        self._news[topic] = environment
        if topic not in self._telling:  # topics do not wait for each other: one may have to be read from the database
            self._telling.add(topic)
            self._supervisor.start("stream-news", self._tell(topic))

    async def _tell(self, topic: Topic) -> None:
        """Tell a topic's streams of its news until there are no more."""
        try:
            with working_for(LoopClient(Rank.CHANGE, topic.project_id)):
                while topic in self._news and not self._is_ending:
                    if not await self._publish(topic):
                        await asyncio.sleep(self._retry_seconds)
        finally:
            self._telling.discard(topic)
            if topic in self._news and (opened := self._topics.get(topic)):
                # After an unexpected error. The clients connect again, and get the present state.
                for stream in tuple(opened.streams):
                    stream.end(len(opened.streams))

    async def _publish(self, topic: Topic) -> bool:
        """Tell a topic's streams of its news; return whether that was possible."""
        opened, environment = self._topics[topic], self._news[topic]
        if environment is None:
            del self._news[topic]
            await self._end(tuple(opened.streams))
            return True
        keys = {key.key_id: key for key in environment.sdk_keys.values()}
        await self._end([stream for stream in opened.streams if not stream.may_go_on(keys)])
        try:
            event = await opened.feed.news(environment)
        except Error as error:
            log.warning("change_not_told", kind=topic.kind, reason=error.message)
            return False
        opened.told = environment
        # All streams may have left and others come meanwhile, which have to be told by a feed of their own.
        if self._topics.get(topic) is opened and self._news.get(topic) is environment:
            del self._news[topic]
        streams = tuple(opened.streams)
        if isinstance(event, Reconnect):
            await self._end(streams)
            return True
        if event is not None:
            await self._write(streams, event, environment.revision)
        await self._record_streams(streams, topic, environment.revision)
        return True

    async def keep_alive(self) -> None:
        """Show proxies and clients that the connections live whose turn it is, and end those whose time is over."""
        self._turns.rotate()
        streams, now = tuple(self._turns[0]), self._now()
        await self._end([each for each in streams if each.expires_at is not None and each.expires_at <= now])
        await self._write_each(streams)

    async def _write_each(self, streams: Iterable[Stream]) -> None:
        async for stream in paced(streams):
            event = stream.keep_alive()
            self._send(stream, chunk(event), is_news=event is not COMMENT)
            if stream.ends:
                stream.end()

    async def _write(self, streams: Iterable[Stream], event: bytes, revision: int = 0) -> None:
        data = chunk(event)
        async for stream in paced(streams):
            if self._send(stream, data, is_news=True):
                stream.sent = max(stream.sent, revision)

    def _send(self, stream: Stream, data: bytes, *, is_news: bool) -> bool:
        """Return whether it was sent."""
        transport = stream.transport
        if stream.is_beginning:
            stream.has_missed |= is_news
        elif transport.get_write_buffer_size() > stream.unread_max_bytes:
            self.dropped += 1
            transport.abort()
        elif not transport.is_closing():
            transport.write(data)
            return True
        return False

    async def _record_streams(self, streams: Iterable[Stream], topic: Topic, revision: int) -> None:
        async for stream in paced(streams):
            if stream.client is not None:
                self._record_told(topic.environment_id, stream.client, revision)

    @staticmethod
    async def _end(streams: Collection[Stream]) -> None:
        async for stream in paced(streams):
            stream.end(len(streams))
