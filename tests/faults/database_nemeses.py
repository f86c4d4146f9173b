"""Faults of PostgreSQL."""

import asyncio
from contextlib import ExitStack
from random import Random

from tests.faults.fleet import Fleet
from tests.faults.nemesis import EVERY_INSTANCE, Nemesis
from tests.faults.replica import Replica
from tests.support.stores import execute

_TERMINATE = """
    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()
"""
_TERMINATE_AGAIN_SECONDS = 0.4


class Restarted(Nemesis):
    """A fast shutdown, and a start."""

    victims = EVERY_INSTANCE

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(0, 6)

    def __str__(self) -> str:
        return "PostgreSQL restarted"

    async def start(self, fleet: Fleet) -> None:
        await asyncio.to_thread(fleet.postgres.stop)

    async def heal(self, fleet: Fleet) -> None:
        await asyncio.to_thread(fleet.postgres.start)


class Crashed(Restarted):
    """SIGKILL of PostgreSQL, and a start with recovery."""

    def __str__(self) -> str:
        return "PostgreSQL killed (SIGKILL)"

    async def start(self, fleet: Fleet) -> None:
        await asyncio.to_thread(fleet.postgres.kill)


class Stalled(Nemesis):
    """Stops all processes of PostgreSQL (SIGSTOP) and lets them continue, as when its disk hangs."""

    victims = EVERY_INSTANCE

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(1, 8)
        self._stall = ExitStack()

    def __str__(self) -> str:
        return f"PostgreSQL stopped for {self.seconds:.0f} s"

    async def start(self, fleet: Fleet) -> None:
        self._stall.enter_context(fleet.postgres.hanging())

    async def heal(self, fleet: Fleet) -> None:  # noqa: ARG002
        self._stall.close()


class FailedOver(Nemesis):
    """SIGKILL of PostgreSQL, after which a synchronous replica takes its place."""

    victims = EVERY_INSTANCE

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(0, 5)
        self._replica: Replica | None = None

    def __str__(self) -> str:
        return "PostgreSQL killed, replica promoted"

    async def prepare(self, fleet: Fleet) -> None:
        self._replica = await asyncio.to_thread(Replica.of, fleet.postgres)
        # A commit returns when the replica has applied it, so the replica has every confirmed change.
        for setting in ("synchronous_standby_names = '*'", "synchronous_commit = remote_apply"):
            await execute(fleet.postgres, f"ALTER SYSTEM SET {setting}")
        await execute(fleet.postgres, "SELECT pg_reload_conf()")

    async def start(self, fleet: Fleet) -> None:
        await asyncio.to_thread(fleet.postgres.kill)

    async def heal(self, fleet: Fleet) -> None:
        assert self._replica is not None
        await execute(self._replica, "SELECT pg_promote()")
        before, fleet.postgres = fleet.postgres, self._replica
        await fleet.proxy.aim(fleet.postgres.port, EVERY_INSTANCE)
        await asyncio.to_thread(before.delete)


class SessionsTerminated(Nemesis):
    """Calls pg_terminate_backend for all sessions of the instances, several times."""

    victims = EVERY_INSTANCE

    def __init__(self, random: Random) -> None:
        self.seconds = random.uniform(1, 5)
        self._task: asyncio.Task[None] | None = None

    def __str__(self) -> str:
        return "sessions terminated"

    async def start(self, fleet: Fleet) -> None:
        self._task = asyncio.create_task(self._terminate(fleet))

    async def heal(self, fleet: Fleet) -> None:  # noqa: ARG002
        assert self._task is not None
        self._task.cancel()
        await asyncio.wait([self._task])

    async def _terminate(self, fleet: Fleet) -> None:
        while True:
            await fleet.fetch(_TERMINATE)
            await asyncio.sleep(_TERMINATE_AGAIN_SECONDS)
