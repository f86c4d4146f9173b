"""Tasks that several callers wait for: one for each piece of work, as long as it runs."""

import asyncio
from collections.abc import Coroutine, Hashable
from functools import partial
from typing import Any, Generic, TypeVar

from flagstaff.concurrency.supervisor import Supervisor

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


class SharedTasks(Generic[Key, Result]):
    """Running tasks by what they work on. Callers await them shielded, so that one who leaves ends no other's wait."""

    def __init__(self, supervisor: Supervisor, name: str) -> None:
        """`name` names each task."""
        self._supervisor = supervisor
        self._name = name
        self._running: dict[Key, asyncio.Task[Result]] = {}

    def find(self, key: Key) -> asyncio.Task[Result] | None:
        """The task that runs; None if there is none.

        A task that has ended is never returned, even if its callbacks have not run: to await it returns at once, so a
        caller that does so in a loop would keep them from running.
        """
        task = self._running.get(key)
        return None if task is None or task.done() else task

    def begin(self, key: Key, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Start a task, which `find` returns from now on."""
        task = self._running[key] = self._supervisor.spawn(self._name, work)
        task.add_done_callback(partial(self._forget, key))
        return task

    def _forget(self, key: Key, task: asyncio.Task[Result]) -> None:
        if self._running.get(key) is task:
            del self._running[key]
