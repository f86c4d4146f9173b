"""Translates snapshots to the dialects of other protocols when they are first asked for, and keeps them with those."""

import asyncio

from flagstaff.concurrency.loop_turns import loop_turns
from flagstaff.concurrency.shared_tasks import SharedTasks
from flagstaff.concurrency.supervisor import Supervisor
from flagstaff.concurrency.worker import in_change_worker
from flagstaff.evaluation.dialects import translate
from flagstaff.evaluation.snapshot import Dialect, EnvironmentSnapshot, Translation


class Translations:
    """Makes each translation once; requests that need the same one share the work."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._running: SharedTasks[tuple[EnvironmentSnapshot, Dialect], None] = SharedTasks(supervisor, "translate")

    async def find(self, environment: EnvironmentSnapshot, dialect: Dialect) -> Translation:
        """A snapshot in a dialect. It awaits nothing once that has been made.

        A newer snapshot may have replaced the given one meanwhile. The answer is as of the moment when the snapshot was
        found, which is after the request had begun.
        """
        place = (environment, dialect)
        if dialect not in environment.translations:
            running = self._running.find(place)
            await asyncio.shield(running or self._running.begin(place, _add(environment, dialect)))
            await loop_turns().wait()  # all who have asked since a change have it at once
        return environment.translations[dialect]


async def _add(environment: EnvironmentSnapshot, dialect: Dialect) -> None:
    environment.translations[dialect] = await in_change_worker(translate, environment, dialect)
