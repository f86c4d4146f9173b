"""The pace of attempts: so many a second in all, and so many of each project.

Projects take turns, and in each its webhooks, however much waits for one of them: a webhook that waits for one message,
such as about a guard's act, gets its turn after at most one turn of each other webhook of its project.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from time import monotonic
from uuid import UUID

from flagstaff.settings import RateLimit

TURN = 5
"""The number of messages that are attempted in a turn at most."""
_SAVED_SECONDS = 1.0  # what was not used in this time can be used at once
_REMEMBERED = 256
_NOBODY: OrderedDict[UUID, asyncio.Future[None]] = OrderedDict()


class Pace:
    """Grants turns. For one event loop: it takes no lock."""

    def __init__(
        self, of_all: RateLimit | None, of_project: RateLimit | None, clock: Callable[[], float] = monotonic
    ) -> None:
        """The limits on the attempts of all projects, and of each; None stands for no limit."""
        self._clock = clock
        self._seconds_of_all, self._seconds_of_project = _seconds_each(of_all), _seconds_each(of_project)
        # The times until which the attempts that were granted last at the pace.
        self._all_until = 0.0
        self._until: dict[UUID | None, float] = {}
        # The project, and in it the webhook, whose turn is next is first.
        self._waiting: OrderedDict[UUID | None, OrderedDict[UUID, asyncio.Future[None]]] = OrderedDict()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def waiting(self) -> int:
        """The number of webhooks that wait for a turn."""
        return sum(map(len, self._waiting.values()))

    async def take(self, project_id: UUID | None, webhook_id: UUID) -> None:
        """Wait for a turn of a webhook, which waits for no other. None stands for the whole instance."""
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(project_id, OrderedDict())[webhook_id] = turn
        self.grant()
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it has just been granted
                self.give_back(project_id, TURN)
            elif turn in self._waiting.get(project_id, _NOBODY).values():
                self._remove(project_id, webhook_id)
            raise

    def give_back(self, project_id: UUID | None, attempts: int) -> None:
        """Give back attempts of a turn that were not made."""
        self._charge(project_id, -attempts)
        self.grant()

    def grant(self) -> None:
        """Grant the turns that can be taken now, and come back when the next one can be."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        while self._waiting:
            now = self._clock()
            waits = {each: self._until.get(each, 0.0) - now - _SAVED_SECONDS for each in self._waiting}
            wait_seconds = max(min(waits.values()), self._all_until - now - _SAVED_SECONDS)
            if wait_seconds > 0:
                self._timer = asyncio.get_running_loop().call_later(wait_seconds, self.grant)
                return
            self._grant_one(next(each for each, seconds in waits.items() if seconds <= 0))

    def open(self) -> None:
        """Grant every turn from now on at once: a stop waits for whoever has one."""
        self._seconds_of_all = self._seconds_of_project = self._all_until = 0.0
        self._until.clear()
        self.grant()

    def _grant_one(self, project_id: UUID | None) -> None:
        webhooks = self._waiting[project_id]
        webhook_id, turn = next(iter(webhooks.items()))
        self._remove(project_id, webhook_id)
        if project_id in self._waiting:
            self._waiting.move_to_end(project_id)
        if not turn.done():  # its task may have been cancelled, and not have run since
            self._charge(project_id, TURN)
            turn.set_result(None)

    def _charge(self, project_id: UUID | None, attempts: int) -> None:
        now = self._clock()
        self._all_until = max(self._all_until, now) + attempts * self._seconds_of_all
        if len(self._until) >= _REMEMBERED:
            self._until = {each: until for each, until in self._until.items() if until > now}
        self._until[project_id] = max(self._until.get(project_id, 0.0), now) + attempts * self._seconds_of_project

    def _remove(self, project_id: UUID | None, webhook_id: UUID) -> None:
        webhooks = self._waiting[project_id]
        del webhooks[webhook_id]
        if not webhooks:
            del self._waiting[project_id]


def _seconds_each(limit: RateLimit | None) -> float:
    return limit.window_seconds / limit.count if limit else 0.0
