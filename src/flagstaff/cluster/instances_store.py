"""The instances on one database: which exist, how each learns of the others' changes, and whether all serve them.

A change is notified in its own transaction, so that none is lost even if its instance is killed. Each other instance
loads it, and then acknowledges to the one that made it up to which revision it serves the project (answers_store.py).
Whoever does not is asked (questions_store.py). PostgreSQL delivers notifications in the order of their commits: an
instance that receives a question has received every change before it.

Each instance holds a lease, which it renews in the session that listens. A change waits for each instance whose lease
has not lapsed. One whose own lease has lapsed counts on it again only after it has loaded everything anew.
docs/decisions/0004-leases-and-acknowledgements.md has the proof. The workers on one SQLite database are instances in
the same way (cluster/worker_feed.py).
"""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple, Protocol
from uuid import UUID

import structlog

from flagstaff.cluster.answers_store import Answers
from flagstaff.cluster.instance_reports_store import Reporting
from flagstaff.cluster.instances import LeaseState, ListedInstance
from flagstaff.cluster.lease import HOLD_SECONDS, LEASE_SECONDS, RENEW_SECONDS
from flagstaff.cluster.leases_store import Leases, Member, Reading, Row
from flagstaff.cluster.questions_store import Present, Questions
from flagstaff.concurrency.claims import Priority, claiming
from flagstaff.database import driver_errors, messages
from flagstaff.database.messages import Message
from flagstaff.database.reach import Reach
from flagstaff.database.revisions import LiveOn, Wanted
from flagstaff.database.revisions_store import record_live_on
from flagstaff.telemetry.metrics import Metrics
from flagstaff.values.errors import Error, unavailable, unconfirmed

log = structlog.get_logger(__name__)

CONFIRM_SECONDS = 5.0
_LOAD_AGAIN_SECONDS = 0.5
_LEAVE_SECONDS = 0.5


class Feed(Protocol):
    """Carries the instances' messages and leases. All methods raise Error UNAVAILABLE without a connection."""

    def session(self) -> AbstractAsyncContextManager[None]:
        """Be connected inside this context. Messages are kept until `receive` returns them."""

    async def receive(self, wait_seconds: float) -> str | None:
        """The next message, in the order of the commits, or None if none comes in time."""

    async def send(self, messages: Iterable[Message]) -> None:
        """Send messages, each to all instances or to one."""

    async def renew(self, member: Member, report: str | None) -> Reading:
        """Renew the lease, with a report if one is due, and return the rows of the others.

        However much else is asked for, this waits for one statement at most.
        """

    async def read(self, instance: str) -> Reading:
        """Read the rows of the other instances, and the rows of instances without leases."""

    async def leave(self, instance: str) -> None:
        """Note that this instance is leaving."""

    async def list_instances(self) -> list[ListedInstance]:
        """All instances that hold or held a lease, this one included."""


class Serving(NamedTuple):
    """The state that this instance serves, as its neighbours need to know it.

    `begin_refresh` starts to reload a project or one of its environments, and `refresh_all` reloads everything.
    `is_served` waits for the requested loads of a project, and returns whether this instance serves their state;
    `find_served` returns the revision of that state, or None if it is not served, or there is none.
    `is_stale` returns whether the latest load of any project has failed, and `is_loading` whether any is under way.
    """

    begin_refresh: Callable[[UUID, UUID | None], object]
    refresh_all: Callable[[], Awaitable[None]]
    is_served: Callable[[UUID], Awaitable[bool]]
    find_served: Callable[[UUID], Awaitable[int | None]]
    is_stale: Callable[[], bool]
    is_loading: Callable[[], bool]


class Instances:
    """This instance among the others."""

    def __init__(  # noqa: PLR0913
        self,
        feed: Feed,
        member: Member,
        serving: Serving,
        *,
        start_task: Callable[[str, Coroutine[Any, Any, None]], None],
        extend_lease: Callable[[float, float], None],
        reporting: Reporting,
        reach: Reach | None = None,
        clock: Callable[[], float] = time.monotonic,
        confirm_seconds: float = CONFIRM_SECONDS,
    ) -> None:
        """`extend_lease` is called with a time of the clock and a number of seconds.

        For so long from then, this instance serves every change that it must serve. `reach` says whether the database
        is reached, if that can be lost.
        """
        self._feed = feed
        self._member = member
        self._serving = serving
        self._start_task = start_task
        self._extend_lease = extend_lease
        self._clock = clock
        self._confirm_seconds = confirm_seconds
        self._leases = Leases(clock, member.address)
        self._reporting = reporting
        self._reach = reach
        self._held_until = -inf
        self._is_sure = False  # no load has failed since the lease lapsed last: it is extended when it is renewed
        self._is_leaving = False
        self._catch_ups = 0
        self._connected = asyncio.Event()
        self._caught_up = asyncio.Event()  # everything was loaded once in this session: questions are answered
        self._questions = Questions(member.id, read=self._read, send=feed.send, start_task=start_task, clock=clock)
        self._acknowledging: Collection[str] = ()  # other instances
        self._answers = Answers(
            member.id,
            is_served=serving.is_served,
            find_served=serving.find_served,
            find_session=lambda: self._catch_ups if self._caught_up.is_set() else None,
            find_acknowledging=lambda: self._acknowledging,
            send=feed.send,
            start_task=start_task,
        )

    async def follow(self) -> None:
        """Apply the others' changes, answer their questions and renew the lease until the connection is lost.

        Raises:
            Error: UNAVAILABLE when the others cannot be reached or the connection is lost.
        """
        if self._is_leaving:
            return
        async with self._feed.session():
            if self._reach:
                self._reach.record_session(is_late=self._has_lapsed())
            try:
                await self._renew()
                self._connected.set()
                self._begin_catch_up()
                while True:
                    await self._receive_until(self._clock() + RENEW_SECONDS)
                    if not self._is_leaving and await self._renew():
                        self._begin_catch_up()
            finally:
                self._catch_ups += 1  # ends the one that is running
                self._questions.forget_served()
                self._connected.clear()
                self._caught_up.clear()

    async def leave(self) -> None:
        """Tell the others not to wait for this instance any more. It must not evaluate afterwards."""
        self._is_leaving, self._is_sure = True, False
        self._catch_ups += 1  # ends the one that is running, which would count on the lease
        if self._reach:
            self._reach.stop()
        with suppress(*driver_errors.raw_errors(Error)):
            async with asyncio.timeout(_LEAVE_SECONDS):
                await self._feed.leave(self._member.id)

    def is_connected(self) -> bool:
        """Return whether this instance receives the others' changes, and has made up for those that it missed."""
        return self._caught_up.is_set()

    async def wait_until_connected(self) -> None:
        """Wait until it does; raises Error UNAVAILABLE after some seconds."""
        try:
            async with asyncio.timeout(self._confirm_seconds):
                await self._caught_up.wait()
        except TimeoutError as error:
            raise unavailable() from error

    async def list_instances(self) -> list[ListedInstance]:
        """All instances that hold a lease, this one included, or held one; raises Error UNAVAILABLE."""
        try:
            async with asyncio.timeout(LEASE_SECONDS):
                listed = await self._feed.list_instances()
        except driver_errors.raw_errors() as error:
            raise unavailable() from error
        lapsed = self._leases.lapsed()
        return [replace(each, lease=LeaseState.LAPSED) if each.id in lapsed else each for each in listed]

    def export_metrics(self, metrics: Metrics) -> None:
        """Export the numbers of instances."""
        metrics.add_labelled_gauge(
            "instances", "Instances by the state of their lease.", "lease", self.count_instances, max
        )

    def count_instances(self) -> dict[str, int]:
        """Count the instances with a live lease, this one included, and those with a lapsed one."""
        lapsed = len(self._leases.lapsed())
        return {"live": 1 + len(self._leases.live()), "lapsed": lapsed}

    @property
    def period(self) -> int:
        """Rises when messages may have been missed, and when an instance appears or its lease counts again.

        What all instances were seen to serve is still served by all of them within the period.
        """
        return self._catch_ups + self._leases.arrivals

    def record_live_on(self) -> None:
        """Note for the response where the state of this instance is served, by what the leases say."""
        lapsed = sorted(self._leases.lapsed().values())
        live = 1 + len(self._leases.live())
        record_live_on(LiveOn(live, live + len(lapsed), lapsed))

    async def tell(self, places: Iterable[tuple[UUID, UUID | None]]) -> None:
        """Tell the others of changes to projects or environments, if the database does not when it commits them."""
        await self._feed.send([Message(messages.change(self._member.id, *place)) for place in places])

    async def confirm(self, wanted: Mapping[UUID, Wanted]) -> None:
        """Return when every other instance serves what is wanted of these projects, which was committed before.

        Instances whose lease has lapsed are not waited for. They know it, and are noted for the response.

        Raises:
            Error: UNAVAILABLE when that does not happen within some seconds. The change is stored and effective here,
                so the error has no time to retry after.
        """
        unanswered: set[str] = set()
        self._reporting.record_change()
        try:
            async with self._answered_in_time():
                await self._connected.wait()
                await self._questions.ask(wanted, unanswered)
        except driver_errors.raw_errors(Error) as error:
            missing = sorted({*unanswered, *self._leases.lapsed().values()} - {""})
            log.warning("change_not_confirmed", error=type(error).__name__, missing=missing)
            raise unconfirmed(
                "The change is stored and this instance serves it, but not every other instance has confirmed that it "
                "does. Each will serve it as soon as it can.",
                {"missing": missing} if missing else None,
            ) from error
        self.record_live_on()

    async def _receive_until(self, due: float) -> None:
        """Interpret messages until this time of the clock."""
        while (wait_seconds := due - self._clock()) > 0:
            message = await self._feed.receive(wait_seconds)
            if message is not None:
                self._receive(message)

    async def _renew(self) -> bool:
        """Renew the lease, and return whether it had lapsed, so that changes may not have waited for this instance."""
        if self._reach and self._has_lapsed():  # from the renewal on, changes wait until this instance has loaded them
            await self._reach.check()
        async with asyncio.timeout(LEASE_SECONDS):
            rows, began_at = await self._feed.renew(self._member, self._reporting.report_due())
        self._record_rows(rows, began_at)
        if self._reach and not self._is_leaving:
            self._reach.record_answer(began_at)
        has_lapsed = self._has_lapsed()
        self._held_until = began_at + HOLD_SECONDS
        if has_lapsed:
            self._is_sure = False
        elif self._is_sure:
            self._extend_lease(began_at, HOLD_SECONDS)
        if self._reporting.record_renewal(is_serving_all=self._is_serving_all()):
            # Beside the renewals: a database that is slow to answer must not cost the lease.
            self._start_task("newest-change", self._reporting.find_newest())
        return has_lapsed

    def _has_lapsed(self) -> bool:
        return self._clock() >= self._held_until

    @asynccontextmanager
    async def _answered_in_time(self) -> AsyncIterator[None]:
        """Raise TimeoutError when a change is not confirmed in time, and at once when the database is lost."""
        async with asyncio.timeout(self._confirm_seconds) as timeout:
            with self._reach.ending(timeout) if self._reach else nullcontext():
                yield

    def _is_serving_all(self) -> bool:
        """Return whether everything has been loaded of which this instance has heard, and it has missed nothing."""
        is_loading = self._serving.is_stale() or self._serving.is_loading()
        return self._is_sure and self._caught_up.is_set() and not is_loading

    def _begin_catch_up(self) -> None:
        """Load everything again, because changes may have been missed. Until then no question is answered."""
        self._catch_ups += 1
        self._caught_up.clear()
        self._start_task("catch-up", self._catch_up(self._catch_ups))

    async def _catch_up(self, number: int) -> None:
        while not await self._has_loaded_everything():
            await asyncio.sleep(_LOAD_AGAIN_SECONDS)
            if number != self._catch_ups:
                return
        if number == self._catch_ups:
            self._caught_up.set()
        while not self._is_sure and number == self._catch_ups:
            if not self._serving.is_stale():
                self._be_sure()
                return
            await asyncio.sleep(_LOAD_AGAIN_SECONDS)  # until the projects that could not be loaded have been

    async def _has_loaded_everything(self) -> bool:
        try:
            await self._serving.refresh_all()
        except Error as error:
            log.warning("not_caught_up", reason=error.message)
            return False
        except Exception:
            log.exception("not_caught_up")  # tried again: without it the instance would stay cut off for ever
            return False
        return True

    def _be_sure(self) -> None:
        """Count on the lease, which has been renewed all the while."""
        self._is_sure = True
        self._extend_lease(self._held_until - HOLD_SECONDS, HOLD_SECONDS)

    async def _read(self) -> Present:
        rows, began_at = await self._feed.read(self._member.id)
        self._record_rows(rows, began_at)
        addresses = {**self._leases.live(), **{row.id: "" for row in rows if not row.holds_lease}}
        return Present(addresses, self._acknowledging)

    def _record_rows(self, rows: Sequence[Row], began_at: float) -> None:
        self._leases.record((row for row in rows if row.holds_lease), began_at)
        self._acknowledging = {row.id for row in rows if row.acknowledges}

    def _receive(self, message: str) -> None:
        try:
            self._interpret(message.split())
        except ValueError:
            log.warning("notification_ignored", message=message[:200])

    def _interpret(self, words: list[str]) -> None:
        """Start what a message requests without waiting, so that no project delays another."""
        own = self._member.id
        match words:
            case ["change" | "served" | "question" | "answer", instance, *_] if instance == own:
                return
            case ["reload"]:
                self._begin_catch_up()
            case ["change", asker, project_id, environment_id]:
                self._reporting.record_change()
                place = messages.read_place(project_id, environment_id)
                with claiming(place[0], Priority.KILL):  # the other instance's request waits for it
                    self._serving.begin_refresh(*place)
                self._answers.begin_to_acknowledge(asker, place[0])
            case ["served", instance, asker, *acknowledged]:
                for project, revision in messages.read_acknowledged(acknowledged) if asker == own else ():
                    self._questions.record_served(instance, project, revision)
            case ["question", asker, numbers, *project_ids]:
                for asked, project in messages.read_question(asker, numbers, project_ids):
                    self._answers.begin_to_answer(asked, project)
            case ["answer", instance, asker, numbers]:
                for number in numbers.split(",") if asker == own else ():
                    self._questions.record_answer(instance, number)
            case _:
                raise ValueError(words)
