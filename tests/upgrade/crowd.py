"""Clients of two versions that serve from one database; clients join and leave with the instances."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Self

from tests.faults.clients import Evaluator, Toggler
from tests.faults.histories import Evaluation, History, Outcome, Toggle
from tests.support.api import Json, flag_path

_LONG_SECONDS = 60.0
_TOGGLES = 10
_EVALUATIONS = 60


@dataclass
class Crowd:
    """For each instance, two clients that evaluate, one of them on new connections, and one that toggles its flag."""

    tasks: asyncio.TaskGroup
    token: str
    sdk_key: str
    flags: list[Json]  # one for each instance
    history: History = field(default_factory=History)
    _leaving: dict[int, asyncio.Event] = field(default_factory=dict)
    _clients: dict[int, list[asyncio.Task[None]]] = field(default_factory=dict)
    _joined: int = 0

    def join(self, instance: int, port: int) -> None:
        """Start to send requests to an instance, which must be ready."""
        self._joined += 1
        leaving = self._leaving[instance] = asyncio.Event()
        flag = self.flags[instance]
        toggler = Toggler(self.history, flag["key"], flag_path(flag), self.token, {instance: port}, pause_seconds=0.05)
        evaluators = [
            Evaluator(
                self.history,
                instance,
                port,
                self.sdk_key,
                f"u{self._joined}-{'kept' if keeps_alive else 'new'}",
                pause_seconds=0.02,
                keeps_alive=keeps_alive,
            )
            for keeps_alive in (True, False)
        ]
        clients: list[Toggler | Evaluator] = [toggler, *evaluators]
        self._clients[instance] = [self.tasks.create_task(each.run(leaving.is_set)) for each in clients]

    async def leave(self, instance: int) -> None:
        """Stop sending requests to it, after all of them have been answered."""
        self._leaving[instance].set()
        await asyncio.wait(self._clients.pop(instance))

    async def work(self) -> None:
        """Wait until every instance has answered many more requests of each kind."""
        toggles, evaluations = len(self.history.toggles), len(self.history.evaluations)
        async with asyncio.timeout(_LONG_SECONDS):
            while not all(
                _count(self.history.toggles[toggles:], each) >= _TOGGLES
                and _count(self.history.evaluations[evaluations:], each) >= _EVALUATIONS
                for each in self._clients
            ):
                await asyncio.sleep(0.01)

    @classmethod
    @asynccontextmanager
    async def gather(cls, token: str, sdk_key: str, flags: list[Json]) -> AsyncIterator[Self]:
        """Run a crowd that has left every instance at the end."""
        async with asyncio.TaskGroup() as tasks:
            crowd = cls(tasks, token, sdk_key, flags)
            try:
                yield crowd
            finally:
                for leaving in crowd._leaving.values():
                    leaving.set()

    def failures(self) -> list[Toggle | Evaluation]:
        """Return the requests with a wrong answer."""
        toggles = [each for each in self.history.toggles if each.outcome is not Outcome.MADE or not _is_live(each)]
        return [*toggles, *(each for each in self.history.evaluations if not each.is_normal)]


def _count(answered: list[Toggle] | list[Evaluation], instance: int) -> int:
    return sum(each.instance == instance for each in answered)


def _is_live(toggle: Toggle) -> bool:
    live, _, all_of = (toggle.live_on or "1/1").partition("/")
    return live == all_of
